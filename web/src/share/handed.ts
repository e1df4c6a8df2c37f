import { computed, signal } from "@preact/signals";
import { beginAt, route } from "../app/router";
import type { Parts } from "../engine/parts";
import { type Handed, type Kind, NoProject, read } from "../engine/project";
import { unpack } from "./fragment";

/** What is handed to a page from outside: by `spillgate lab FILE`, a saved page or a link. */

const current = signal<{ handed: Handed | null; times: number }>({ handed: null, times: 0 });

/** Why a link or a saved page gives no project; `null` while there is nothing to complain of. */
export const handedProblem = signal<string | null>(null);

/** Changes when another project is handed over: the frame mounts its page anew. */
export const handedTimes = computed(() => current.value.times);

/** What a page begins with, if it is of a kind that the page shows. */
export function handed(...kinds: Handed["kind"][]): Handed | null {
  const { handed } = current.peek();
  return handed && kinds.includes(handed.kind) ? handed : null;
}

/** Gives a page something to begin with; go to that page afterwards. */
export function hand(next: Handed): void {
  current.value = { handed: next, times: current.peek().times + 1 };
}

/** The page that begins with a kind. */
const PAGES: Record<Kind, string> = { scenario: "scenario", config: "router", show: "router" };

/** Takes what the page was made or opened with; later links are followed as they come. */
export async function beginHanded(parts: Parts): Promise<void> {
  try {
    const own = read(parts.project);
    if (own) {
      hand(own);
      // A saved page is opened without a route.
      if (route.peek().page === "") beginAt(PAGES[own.kind]);
    }
  } catch (error) {
    handedProblem.value = sentence(error);
  }
  await follow();
  route.subscribe(() => void follow());
}

let followed: string | null = null;

async function follow(): Promise<void> {
  const packed = route.peek().query.get("s");
  if (packed === null || packed === followed) return;
  followed = packed;
  try {
    const found = await unpack(packed);
    // Another link may have come while this one was unpacked.
    if (followed !== packed) return;
    handedProblem.value = null;
    hand(found);
  } catch (error) {
    if (followed === packed) handedProblem.value = sentence(error);
  }
}

function sentence(error: unknown): string {
  return error instanceof NoProject ? error.message : String(error);
}
