/** The repository's examples that the page offers. */

import ceNodePolicies from "../../../../examples/ce-node/policies.cfg?raw";
import ceNode from "../../../../examples/ce-node/scenario.yaml?raw";
import ceNodeTraffic from "../../../../examples/ce-node/traffic.csv?raw";
import dsl from "../../../../examples/dsl/scenario.yaml?raw";
import first from "../../../../examples/first/scenario.yaml?raw";
import homeLine from "../../../../examples/home-line/scenario.yaml?raw";
import l4s from "../../../../examples/l4s/scenario.yaml?raw";
import tcp from "../../../../examples/tcp/scenario.yaml?raw";
import voiceEdgeConfig from "../../../../examples/voice-edge/edge.cfg?raw";
import voiceEdge from "../../../../examples/voice-edge/scenario.yaml?raw";
import type { Project } from "../../engine/api";

function project(scenario: string, files: Record<string, string> = {}): Project {
  return { path: "scenario.yaml", files: { "scenario.yaml": scenario, ...files } };
}

/** By the name of their directory, the shortest first. */
export const examples = {
  first: project(first),
  "home-line": project(homeLine),
  "voice-edge": project(voiceEdge, { "edge.cfg": voiceEdgeConfig }),
  tcp: project(tcp),
  dsl: project(dsl),
  l4s: project(l4s),
  "ce-node": project(ceNode, { "policies.cfg": ceNodePolicies, "traffic.csv": ceNodeTraffic }),
} satisfies Record<string, Project>;

export type ExampleName = keyof typeof examples;

export function isExample(name: string): name is ExampleName {
  return Object.hasOwn(examples, name);
}
