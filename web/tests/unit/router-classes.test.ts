import { describe, expect, test } from "vitest";
import type { Offered, Profile, Understood } from "../../src/engine/api";
import { leavesOf, roleOf } from "../../src/pages/router/classes";
import {
  addressOf,
  addressText,
  type Condition,
  dscpName,
  dscpOf,
  holds,
  PLAIN,
  parse,
  witness,
} from "../../src/pages/router/conditions";
import {
  rowsByRule,
  shownFor,
  uniqueNames,
  withProfile,
  withShown,
} from "../../src/pages/router/loads";
import branch from "../fixtures/router/branch.json";
import edge from "../fixtures/router/edge.json";
import show from "../fixtures/router/show.json";

const policy = (u: unknown) => (u as Understood).interfaces[0]?.policy ?? null;

describe("conditions", () => {
  const meets = (words: string, header: Partial<typeof PLAIN>) =>
    holds(parse(words), { ...PLAIN, ...header });

  test("are read and hold as their words say", () => {
    expect(meets("dscp ef", { dscp: 46 })).toBe(true);
    expect(meets("dscp ef", {})).toBe(false);
    expect(meets("precedence 5", { dscp: 46 })).toBe(true);
    expect(meets("dscp ef, af41 and not (precedence 3)", { dscp: 34 })).toBe(true);
    const list =
      "(protocol udp and port 16384-32767 or access list [deny from 10.0.0.0/8; permit everything])";
    expect(meets(list, { dport: 20000 })).toBe(true);
    expect(meets(list, { dport: 80 })).toBe(false);
    expect(meets(list, { dport: 80, src: 0x0b000001 })).toBe(true);
    expect(meets("everything", {})).toBe(true);
    expect(meets("nothing", {})).toBe(false);
    expect(meets("qos-group 3", {})).toBe(false);
  });

  test("whose words leave something out are not known", () => {
    expect(meets("dscp 2, 3, 8 more", { dscp: 3 })).toBe(true);
    expect(meets("dscp 2, 3, 8 more", { dscp: 40 })).toBeUndefined();
    expect(meets("no such words", {})).toBeUndefined();
    expect(meets("access list [permit protocol tcp; 3 more]", { protocol: "tcp" })).toBe(true);
    expect(meets("access list [permit protocol tcp; 3 more]", {})).toBeUndefined();
  });

  test("have a packet that meets them, where there is one", () => {
    const not = [parse("dscp ef"), parse("protocol udp and port 5001")];
    const found = witness([parse("everything")], not);
    expect(found).toBeDefined();
    for (const c of not) expect(holds(c, found ?? PLAIN)).toBe(false);
    expect(witness([parse("dscp ef")], [parse("dscp ef")])).toBeUndefined();
    expect(witness([parse("protocol udp")], [], { protocol: "tcp" })).toBeUndefined();
    expect(witness([parse("qos-group 4")], [])).toBeUndefined();
    const deep: Condition[] = [
      parse("access list [deny protocol tcp and port 22; permit protocol tcp]"),
    ];
    expect(witness(deep, [])?.protocol).toBe("tcp");
  });

  test("name code points and addresses", () => {
    for (let d = 0; d < 64; d++) expect(dscpOf(dscpName(d))).toBe(d);
    expect(dscpOf("64")).toBeUndefined();
    expect(addressText(addressOf("192.0.2.7") ?? 0)).toBe("192.0.2.7");
    expect(addressOf("1.2.3")).toBeUndefined();
    expect(addressOf("1.2.3.256")).toBeUndefined();
  });
});

describe("classes that packets can be sent into", () => {
  test("are the queues of a nested policy, each with a packet of its own", () => {
    const leaves = leavesOf(policy(branch));
    expect(leaves.map((l) => [l.path.join("/"), l.header !== undefined])).toEqual([
      ["class-default/VOICE", true],
      ["class-default/VOICE-SIGNALING", true],
      ["class-default/INTERACTIVE", true],
      ["class-default/SCAVENGER", false],
      ["class-default/MGMT-TAGGED", false],
      ["class-default/class-default", true],
    ]);
    for (const { header, wanted, not } of leaves)
      if (header) {
        expect(wanted.map((c) => holds(c, header))).toEqual(wanted.map(() => true));
        expect(not.map((c) => holds(c, header))).toEqual(not.map(() => false));
      }
    expect(leaves.map(roleOf)).toEqual([
      "voice",
      "control",
      "business",
      "scavenger",
      "control",
      "rest",
    ]);
  });

  test("are one where the interface has no policy", () => {
    expect(leavesOf(null).map((l) => [l.path, l.header !== undefined])).toEqual([[[], true]]);
  });
});

describe("loads", () => {
  const leaves = leavesOf(policy(edge));
  const rows = rowsByRule(leaves, 2.048e6);

  test("by rule of thumb fit in what is guaranteed", () => {
    expect(rows.map((r) => [r.name, r.kind, r.origin])).toEqual([
      ["VOICE", "calls", "rule"],
      ["VIDEO", "poisson", "rule"],
      ["BUSINESS", "poisson", "rule"],
      ["class-default", "tcp", "rule"],
    ]);
    rows.forEach((r, i) => {
      expect(r.rate).toBeLessThanOrEqual(leaves[i]?.outline.guaranteed ?? 0);
    });
  });

  test("are those that the router shows, its framing taken off", () => {
    const shown = shownFor(show as unknown as Offered, "Serial0/1/0", "WAN");
    if (!shown) throw new Error("nothing is shown");
    const measured = withShown(rows, shown, leaves);
    // 64 B with 4 B of framing are the 60 B of G.729; 310 kb/s of them are twelve calls.
    expect(measured[0]).toMatchObject({ kind: "calls", codec: "g729a", count: 12, origin: "show" });
    expect(measured[2]).toMatchObject({
      kind: "poisson",
      packet: 340,
      rate: Math.round((252000 * 340) / 344),
    });
    expect(measured[3]).toMatchObject({ kind: "poisson", packet: 590, origin: "show" });
    expect(measured[1]?.header.dscp).toBe(34);
  });

  test("are those of a capture, by class or by code point; nothing goes where nothing can", () => {
    const shape = { rate: 80_000, packets: 100, bytes: 20_000, size: 200, peak_to_mean: 1 };
    const fit = { count: 3, source: { cbr: { rate: "80 kb/s" } }, why: "", check: null };
    const groups = [
      { name: "VOICE", dscp: "ef", flows: 3, shape, fit },
      { name: "VIDEO", dscp: "af41", flows: 1, shape, fit: null },
    ];
    const profile = (by: string) => ({ by, groups }) as unknown as Profile;
    for (const by of ["class", "dscp"]) {
      const [voice, video, business] = withProfile(rows, profile(by));
      expect(voice).toMatchObject({ kind: "captured", count: 3, rate: 80_000, origin: "capture" });
      expect(video).toMatchObject({ kind: "poisson", rate: 80_000, packet: 200 });
      expect(business).toEqual(rows[2]);
    }
    const none = rows.map((r) => ({ ...r, kind: "none" as const }));
    expect(withProfile(none, profile("class"))).toEqual(none);
  });

  test("have names that are unlike each other", () => {
    expect(uniqueNames(["A", "A", "B", "A"])).toEqual(["A", "A 2", "B", "A 3"]);
  });
});
