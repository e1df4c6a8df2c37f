import "./lessons.css";
import type { Route } from "../../app/router";
import { Answers } from "./Answers";
import { LessonPage } from "./LessonPage";
import { Overview } from "./Overview";
import { numberOf } from "./place";
import { Sheet } from "./Sheet";
import { lessonOf } from "./set";

/** `#/lessons`, a lesson, the sheet, or the expected answers. */
export function Page({ route }: { route: Route }) {
  const [name = ""] = route.rest;
  const number = numberOf(route);
  const lesson = lessonOf(name);
  if (lesson) return <LessonPage key={`${name}/${number}`} lesson={lesson} number={number} />;
  if (name === "sheet") return <Sheet key={number} number={number} />;
  if (name === "answers") return <Answers />;
  return <Overview key={number} number={number} />;
}
