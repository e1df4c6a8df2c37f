import type { PaperName } from "./figure";
import found from "./found.json";

/** What the reproductions found: `build/papers.mjs` takes it from their pages. */

export interface Claim {
  says: string;
  /** What the paper states and what the reproduction measured, with units; “–” is nothing. */
  paper: string;
  ours: string;
  verdict: string;
}

export const papers: Readonly<
  Record<PaperName, { citation: string; claims: Readonly<Record<string, Claim>> }>
> = found.papers;

/** Values of the papers' tables. */
export const stated: {
  /** s, by mechanism: the mean and half of its interval */
  waits: Readonly<Record<string, number[]>>;
  /** packets */
  peaks: Readonly<Record<string, number>>;
} = found.stated;

export function claimsOf(name: PaperName): Readonly<Record<string, Claim>> {
  return papers[name].claims;
}

/** The share that a paper states in percent. */
export function share(claim: Claim | undefined): number {
  const [, digits] = /^([\d.]+) %$/.exec(claim?.paper ?? "") ?? [];
  if (digits === undefined) throw new Error(`${claim?.paper} is no share`);
  return Number(digits) / 100;
}
