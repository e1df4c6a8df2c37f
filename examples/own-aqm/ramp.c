/* An AQM in C: cc -O2 -shared -fPIC -I INCLUDE -o libramp.so ramp.c, INCLUDE being spillgate.own.INCLUDE */
#include <stdlib.h>
#include <string.h>

#include "spillgate_aqm.h"

/* Drops with the probability (w - target) / target, w being how long the first packet waits. */
struct ramp {
  double target;
};

uint32_t spillgate_aqm_version(void) { return SPILLGATE_AQM_VERSION; }

void *spillgate_aqm_new(const char *settings, const spillgate_queue *queue) {
  (void)queue;
  struct ramp *ramp = malloc(sizeof *ramp);
  const char *target = strstr(settings, "\"target\":");
  ramp->target = target ? atof(target + strlen("\"target\":")) : 0.02;
  return ramp;
}

int32_t spillgate_aqm_enqueue(void *aqm, const spillgate_packet *packet,
                              const spillgate_queue *queue) {
  (void)packet;
  const struct ramp *ramp = aqm;
  if (queue->head_ps == SPILLGATE_NEVER) return SPILLGATE_PASS;
  double waited = (double)(queue->now_ps - queue->head_ps) / 1e12;
  double odds = (waited - ramp->target) / ramp->target;
  if (odds > 1) odds = 1;
  return odds > 0 && queue->random(queue) < odds ? SPILLGATE_DROP : SPILLGATE_PASS;
}

int32_t spillgate_aqm_dequeue(void *aqm, const spillgate_packet *packet,
                              const spillgate_queue *queue) {
  (void)aqm, (void)packet, (void)queue;
  return SPILLGATE_PASS;
}

void spillgate_aqm_free(void *aqm) { free(aqm); }
