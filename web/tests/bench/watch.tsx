/** The page with recordings of the tests' own port in place of the module's: for its pictures and speed. */

import { render } from "preact";
import { parseRoute } from "../../src/app/router";
import "../../src/app/style.css";
import type { Engine, Options } from "../../src/engine/api";
import { EngineProvider } from "../../src/engine/context";
import { Page } from "../../src/pages/watch";
import { type Port, recordingOf } from "../recordings";

const asked = new URLSearchParams(location.search);

/** As many packets wait as are asked for, after a while. */
const CROWDED: Port = {
  rate: 8e6,
  end: 4,
  order: "fifo",
  limit: Number(asked.get("packets") ?? 0),
  senders: [
    { name: "call", cls: 0, bytes: 200, gap: 0.004 },
    { name: "web", cls: 1, bytes: 1000, gap: 0.001 },
    { name: "upload", cls: 2, bytes: 1500, gap: 0.001 },
  ],
};

function portOf({ set = [], variant }: Options): Port {
  if (asked.has("packets")) {
    return CROWDED;
  }
  const limit = set.find((each) => each.includes("limit="))?.split("=")[1];
  const port: Port = { end: 10, limit: limit ? Number.parseInt(limit, 10) : 40, order: "fifo" };
  return variant || set.some((each) => each.includes("STANDS-IN"))
    ? { ...port, order: "turns", early: 0.1 }
    : port;
}

const outline = { kind: "fifo", limit: "40 packets", limit_packets: 40, classes: [] };
const description = {
  variants: ["FIFO", "FQ-CoDel"],
  set: [0, 1],
  links: [{ name: "wan", from: "a", to: "b", rate: 2e6, policy: "FIFO" }],
  settings: [{ outlines: [outline] }, { outlines: [null] }],
};

const engine = {
  check: async () => ({ description, findings: [], memoryBytes: 0 }),
  watch: async (_: unknown, options: Options) => recordingOf(portOf(options)),
  schema: async () => ({}),
  bounds: async () => [],
} as unknown as Engine;

const root = document.getElementById("app");
if (root) {
  render(
    <EngineProvider engine={engine}>
      <Page route={parseRoute(location.hash)} />
    </EngineProvider>,
    root,
  );
}
