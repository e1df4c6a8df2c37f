import type { Route } from "../../app/router";
import { NOBODY, readNumber } from "./number";
import { recallNumber } from "./work";

/** The address of a page of the lessons for a student: `#/lessons/red?n=7`. */
export function placeOf(page: string, number: string): string {
  const path = page === "" ? "#/lessons" : `#/lessons/${page}`;
  return number === NOBODY ? path : `${path}?n=${number}`;
}

/** The student's number of an address; the one used last where it says none. */
export function numberOf(route: Route): string {
  const said = route.query.get("n");
  return (said === null ? undefined : readNumber(said)) ?? recallNumber();
}
