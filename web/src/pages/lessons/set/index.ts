import type { Lesson } from "../lesson";
import { bufferbloat } from "./bufferbloat";
import { l4s } from "./l4s";
import { policer } from "./policer";
import { queues } from "./queues";
import { red } from "./red";
import { sawtooth } from "./sawtooth";
import { scheduling } from "./scheduling";
import { starvation } from "./starvation";

/** In the order in which they are read. */
export const lessons = [
  queues,
  scheduling,
  starvation,
  sawtooth,
  bufferbloat,
  red,
  policer,
  l4s,
] as const satisfies readonly Lesson[];

export function lessonOf(name: string): Lesson | undefined {
  return lessons.find((l) => l.name === name);
}
