/** What the core understands of a configuration, for one interface or policy of it. */

import type { Engine, Finding, Outline, Understood } from "../../engine/api";
import { type Leaf, leavesOf } from "./classes";
import { configFile } from "./scenario";

/** Whose policy is tried: an interface's, or one that no interface has. */
export interface Target {
  iface?: string;
  policy?: string;
}

export const sameTarget = (a: Target | null, b: Target | null) =>
  a?.iface === b?.iface && a?.policy === b?.policy;

/** What was understood of the text. */
export interface Analysis {
  text: string;
  tc: boolean;
  platform: string;
  found: Understood;
  targets: Target[];
  target: Target | null;
  /** The interface of the target in full; none of a policy without an interface. */
  iface: Understood["interfaces"][number] | undefined;
  policy: Outline | null;
  leaves: Leaf[];
  findings: Finding[];
  /** How long the core took, s. */
  seconds: number;
}

/** Everything to try: interfaces with a policy first, those without last. */
function targetsOf(found: Understood): Target[] {
  return [
    ...found.interfaces.filter((i) => i.policy !== null).map((i) => ({ iface: i.name })),
    ...found.unattached.map((p) => ({ policy: p.policy ?? p.name })),
    ...found.interfaces.filter((i) => i.policy === null).map((i) => ({ iface: i.name })),
  ];
}

/**
 * Reads a configuration for the target that is wanted, or the first that there is.
 *
 * @throws InputProblem
 */
export async function analyze(
  engine: Engine,
  text: string,
  platform: string,
  wanted: Target | null,
): Promise<Analysis> {
  const began = performance.now();
  const file = configFile(false);
  const [found, findings] = await Promise.all([
    engine.understand(file, text, platform),
    engine.lintConfig(file, text, platform),
  ]);
  const targets = targetsOf(found);
  const target = targets.find((t) => sameTarget(t, wanted)) ?? targets[0] ?? null;
  const { iface, policy } = await inFull(engine, found, target, text, platform);
  return {
    text,
    tc: found.platform.name === "tc",
    platform,
    found,
    targets,
    target,
    iface,
    policy,
    leaves: target === null ? [] : leavesOf(policy),
    findings,
    seconds: (performance.now() - began) / 1000,
  };
}

/** The target with all its classes, which the list of all interfaces does not have. */
async function inFull(
  engine: Engine,
  found: Understood,
  target: Target | null,
  text: string,
  platform: string,
) {
  if (target?.iface === undefined) {
    const policy = found.unattached.find((p) => (p.policy ?? p.name) === target?.policy) ?? null;
    return { iface: undefined, policy };
  }
  const whole = await engine.understand(configFile(false), text, platform, target.iface);
  const iface = whole.interfaces.find((i) => i.name === target.iface) ?? whole.interfaces[0];
  return { iface, policy: iface?.policy ?? null };
}
