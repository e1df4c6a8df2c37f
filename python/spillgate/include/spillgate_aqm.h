/*
 * An AQM of one's own in a shared library: the five functions that Spillgate calls.
 *
 * A library has all five, with C linkage. Numbers are those of the machine. No function is called
 * for one queue by two threads at once; different queues may be served by different threads.
 */
#ifndef SPILLGATE_AQM_H
#define SPILLGATE_AQM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define SPILLGATE_AQM_VERSION 1

/* What spillgate_aqm_enqueue and spillgate_aqm_dequeue return. */
enum {
  SPILLGATE_PASS = 0,   /* the packet goes on */
  SPILLGATE_MARK = 1,   /* with congestion experienced; dropped if it is not capable of ECN */
  SPILLGATE_DROP = 2,   /* dropped, and counted as an early drop */
  SPILLGATE_FORCED = 3  /* dropped, and counted as a forced drop */
};

/* No time. */
#define SPILLGATE_NEVER UINT64_MAX

typedef struct {
  uint64_t arrived_ps; /* when it came to the queue, in picoseconds since the start of the run */
  uint32_t flow;       /* the number of its flow */
  uint32_t number;     /* its number in its flow, from 0 */
  uint32_t bytes;      /* its length as the link counts it */
  uint16_t ip_bytes;   /* the length of the IP packet */
  uint8_t dscp;        /* its code point, 0 to 63 */
  uint8_t ecn;         /* 0 not capable, 1 ECT(1), 2 ECT(0), 3 CE */
} spillgate_packet;

typedef struct spillgate_queue {
  uint64_t now_ps;        /* the time */
  uint64_t head_ps;       /* when the packet at the head came; SPILLGATE_NEVER if none waits */
  uint64_t idle_since_ps; /* since when the queue is idle, perhaps in the future (its last packet
                             is still being sent); SPILLGATE_NEVER if it was never busy */
  uint64_t bytes;         /* bytes that wait, without the packet that is asked about */
  double rate;            /* the rate that the queue is guaranteed, in b/s */
  double drain_rate;      /* bytes a second at which it drains; 0 while unknown */
  uint32_t packets;       /* packets that wait, without the one that is asked about */
  uint32_t limit;         /* the most packets that it holds; 0 if its limit is no number of packets */
  /* The next number of the run's random stream, from 0 to below 1, while the function that was
     given this queue runs: queue->random(queue). */
  double (*random)(const struct spillgate_queue *queue);
  void *stream;           /* for random */
} spillgate_queue;

/* SPILLGATE_AQM_VERSION, of the header that the library was built with. */
uint32_t spillgate_aqm_version(void);

/*
 * The state of a queue that was empty always. settings: what the scenario writes, as an object of
 * JSON, ended by a zero. NULL if there is no AQM with these settings.
 */
void *spillgate_aqm_new(const char *settings, const spillgate_queue *queue);

/* What becomes of a packet that arrives. The limit of the queue is looked at afterwards. */
int32_t spillgate_aqm_enqueue(void *aqm, const spillgate_packet *packet,
                              const spillgate_queue *queue);

/* What becomes of a packet that is about to leave. */
int32_t spillgate_aqm_dequeue(void *aqm, const spillgate_packet *packet,
                              const spillgate_queue *queue);

/* Ends the state of a queue. */
void spillgate_aqm_free(void *aqm);

#ifdef __cplusplus
}
#endif

#endif
