/** The picture in words, for those who do not see it and for those who want it exactly. */

import type { Texts } from "../../texts";
import { fixed, value } from "../../ui/format";
import { ARRIVES, DROPPED, LEAVES, NONE, type Replay } from "./model";

type Said = Texts["watch"]["said"];

/** How many classes are named; the rest is in the sum. */
const MOST_NAMED = 4;

/** What waits at the present event, and what is being sent at `time`. */
export function stateInWords(replay: Replay, time: number, said: Said): string {
  const { recording } = replay;
  const waiting = replay.waitingByClass().map((count, cls) => ({ count, cls }));
  const parts = waiting
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count)
    .slice(0, MOST_NAMED)
    .map(({ count, cls }) => said.part(count, recording.classes[cls] ?? ""));
  const sending = replay.transmission(time);
  const { left, dropped, marked } = replay.totals();
  const sentences = [
    said.state(replay.waitingAll, parts.join(", ")),
    sending
      ? said.sends(
          recording.classes[recording.cls[sending.event] ?? 0] ?? "",
          `${Math.round(sending.fraction * 100)} %`,
        )
      : said.idle,
    said.counts(left, dropped, marked),
  ];
  recording.queues.forEach((queue, at) => {
    const average = replay.average(at);
    if (!Number.isNaN(average) && replay.packets > 0 && at < MOST_NAMED) {
      sentences.push(said.average(queue, fixed(average, 1)));
    }
  });
  return sentences.join(" ");
}

/** What happens with an event. */
export function eventInWords(replay: Replay, event: number, said: Said): string {
  if (event === NONE) {
    return "";
  }
  const { recording } = replay;
  const flow = recording.flows[recording.flow[event] ?? 0] ?? "";
  const number = recording.packet[event] ?? 0;
  switch (recording.kind[event]) {
    case ARRIVES:
      return said.arrives(flow, number);
    case LEAVES:
      return said.leaves(flow, number, value(recording.wait[event], "s"));
    case DROPPED:
      return said.drops(flow, number, recording.reasons[recording.reason[event] ?? 255] ?? "");
    default:
      return said.marks(flow, number);
  }
}

/** A time of the recording with a resolution of microseconds: `1.234567 s`. */
export function timeInWords(time: number): string {
  return `${fixed(time, 6)} s`;
}

/** A speed as a factor: `1/50`, `2`. */
export function speedInWords(speed: number): string {
  return speed >= 1 ? fixed(speed, speed < 3 ? 1 : 0) : `1/${Math.round(1 / speed)}`;
}
