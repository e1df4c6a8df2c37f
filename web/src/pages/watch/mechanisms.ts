/** What can stand at a port in place of what a scenario has there. */

import { parse } from "yaml";
import type { Options, Project } from "../../engine/api";
import { quoted } from "../../ui/numbers";

/** What a picture shows other than the first: another variant, policy or mechanism, or values. */
export type Alternative =
  | { variant: string }
  | { policy: string }
  | { mechanism: string }
  | { set: string[] };

/**
 * Policies as a scenario writes them, by what people call them, for a line of `rate` b/s. What is not
 * stated is the default of the core.
 */
const MECHANISMS: Readonly<Record<string, (rate: number) => Record<string, unknown>>> = {
  FIFO: () => ({ fifo: { limit: "100 packets" } }),
  RED: () => ({ fifo: { limit: "100 packets", aqm: { red: { min_th: 10, max_th: 30 } } } }),
  CoDel: () => ({ fifo: { limit: "1000 packets", aqm: { codel: {} } } }),
  PIE: () => ({ fifo: { limit: "1000 packets", aqm: { pie: {} } } }),
  PI2: () => ({ fifo: { limit: "1000 packets", aqm: { pi2: {} } } }),
  BLUE: () => ({ fifo: { limit: "100 packets", aqm: { blue: {} } } }),
  "FQ-CoDel": () => ({ "fq-codel": {} }),
  "FQ-PIE": () => ({ "fq-pie": {} }),
  // CAKE shapes: a little below the line, so that the queue is its own.
  CAKE: (rate) => ({ cake: { bandwidth: `${Math.round(rate * 0.99)} b/s` } }),
  DualPI2: () => ({ dualpi2: {} }),
  SFQ: () => ({ sfq: {} }),
  DRR: () => ({ drr: {} }),
  WFQ: () => ({ wfq: {} }),
  "Priority for EF": () => ({
    "class-based": {
      classes: [
        { name: "priority", match: { dscp: "ef" }, priority: { rate: "50 %" } },
        { name: "class-default", queue_limit: "100 packets" },
      ],
    },
  }),
};

export const mechanismNames: readonly string[] = Object.keys(MECHANISMS);

/** The policy that holds a mechanism; no scenario of people is likely to have one of this name. */
const STANDS_IN = "STANDS-IN";

/** `--set` texts that put an alternative at a port of `rate` b/s. */
export function setsFor(link: string, rate: number, alternative: Alternative): string[] {
  if ("set" in alternative) {
    return alternative.set;
  }
  const at = (policy: string) => `topology.links.${quoted(link)}.policy=${JSON.stringify(policy)}`;
  if ("policy" in alternative) {
    return [at(alternative.policy)];
  }
  if (!("mechanism" in alternative) || !Object.hasOwn(MECHANISMS, alternative.mechanism)) {
    return [];
  }
  const policy = MECHANISMS[alternative.mechanism]?.(rate);
  return [`policies.${STANDS_IN}=${JSON.stringify(policy)}`, at(STANDS_IN)];
}

/** The options of a run with an alternative. */
export function withAlternative(
  project: Project,
  options: Options,
  link: string,
  rate: number,
  other: Alternative,
): Options {
  const freed = "policy" in other || "mechanism" in other;
  const own = freed ? withoutPolicy(project, options.variant, link) : [];
  const set = [...(options.set ?? []), ...own, ...setsFor(link, rate, other)];
  return "variant" in other ? { ...options, variant: other.variant, set } : { ...options, set };
}

/** An alternative as a word of a link: `variant:FQ-CoDel`; empty if there is none. */
export function writtenAlternative(alternative: Alternative | null): string {
  const [kind, name] = Object.entries(alternative ?? {})[0] ?? [];
  return typeof name === "string" ? `${kind}:${name}` : "";
}

/** The alternative that a word means, which anybody may have written; `null` of none. */
export function readAlternative(word: string): Alternative | null {
  const [kind, ...rest] = word.split(":");
  const name = rest.join(":");
  switch (kind) {
    case "variant":
      return { variant: name };
    case "policy":
      return { policy: name };
    case "mechanism":
      return { mechanism: name };
    default:
      return null;
  }
}

/** What people call an alternative; `asItIs` if there is none. */
export function nameOf(alternative: Alternative | null, asItIs: string): string {
  if (!alternative) {
    return asItIs;
  }
  return "set" in alternative ? alternative.set.join(", ") : (Object.values(alternative)[0] ?? "");
}

/** What a scenario's own text has in its part `key`; nothing if it is no YAML. */
function partOf(project: Project, key: string): unknown {
  const text = project.files[project.path];
  try {
    return typeof text === "string" ? parse(text)?.[key] : undefined;
  } catch {
    return undefined;
  }
}

/** Values of a variant count more than what is set: takes the policy of a port from them. */
function withoutPolicy(project: Project, variant: string | undefined, link: string): string[] {
  const variants = partOf(project, "variants");
  const all: { name?: unknown; set?: Record<string, unknown> }[] = Array.isArray(variants)
    ? variants
    : [];
  const found = variant === undefined ? all[0] : all.find(({ name }) => name === variant);
  const at = [link, quoted(link)].map((name) => `topology.links.${name}.policy`);
  const entries = Object.entries(found?.set ?? {});
  const kept = entries.filter(([path]) => !at.includes(path));
  return kept.length < entries.length
    ? [`variants.${quoted(String(found?.name))}.set=${JSON.stringify(Object.fromEntries(kept))}`]
    : [];
}

/** Names of the policies that a scenario's own text has. */
export function policiesOf(project: Project): string[] {
  const policies = partOf(project, "policies");
  return policies && typeof policies === "object" ? Object.keys(policies) : [];
}
