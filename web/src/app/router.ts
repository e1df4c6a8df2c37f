import { signal } from "@preact/signals";

/** A place in the lab: `#/lessons/bufferbloat?n=7`. */
export interface Route {
  /** `lessons`; empty at the start. */
  page: string;
  /** `["bufferbloat"]` */
  rest: string[];
  query: URLSearchParams;
}

/** Reads a fragment. What is no route at all is the start. */
export function parseRoute(fragment: string): Route {
  const [path = "", query = ""] = fragment.replace(/^#\/?/, "").split("?", 2);
  const [page = "", ...rest] = path.split("/").map(decoded);
  return { page, rest: rest.filter((part) => part !== ""), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = signal<Route>(parseRoute(globalThis.location?.hash ?? ""));

globalThis.addEventListener?.("hashchange", () => {
  route.value = parseRoute(location.hash);
});

/** Goes to another place: `go("lessons/red?n=7")`. */
export function go(place: string): void {
  location.hash = `#/${place}`;
}

/** Begins at a place, in the place of the start: there is no way back to that. */
export function beginAt(place: string): void {
  history.replaceState(null, "", `#/${place}`);
  route.value = parseRoute(location.hash);
}
