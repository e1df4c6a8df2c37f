import { describe, expect, test } from "vitest";
import {
  blocksOf,
  changedLines,
  type Knob,
  knobsOf,
  linesOf,
  withNumbers,
} from "../../src/pages/router/ios";
import { changedCommands, ratesOf } from "../../src/pages/router/tc";
import { random } from "../recordings";

const CONFIG = `hostname R1
policy-map CHILD
 class VOICE
  priority percent 33
 class VIDEO
  bandwidth percent 25
  queue-limit 40 ms
 class BULK
  bandwidth remaining ratio 3
  police cir 256000 bc 8000
   conform-action transmit
   exceed-action drop
 class class-default
  fair-queue
policy-map PARENT
 class class-default
  shape average 4000000
  service-policy CHILD
policy-map OTHER
 class VOICE
  priority 512 10000
interface GigabitEthernet0/1
 bandwidth 10000
 service-policy output PARENT
`;

const of = (knobs: Knob[]) =>
  knobs.map((k) => `${k.policy}/${k.cls}/${k.command}=${k.value} ${k.unit}`);

describe("numbers of policy-maps", () => {
  test("are found in the policy and those below it, with units", () => {
    expect(of(knobsOf(CONFIG, "PARENT"))).toEqual([
      "CHILD/VOICE/priority percent=33 %",
      "CHILD/VIDEO/bandwidth percent=25 %",
      "CHILD/VIDEO/queue-limit=0.04 s",
      "CHILD/BULK/bandwidth remaining ratio=3 ratio",
      "CHILD/BULK/police cir=256000 b/s",
      "PARENT/class-default/shape average=4000000 b/s",
    ]);
    expect(of(knobsOf(CONFIG, "OTHER"))).toEqual(["OTHER/VOICE/priority=512000 b/s"]);
  });

  test("have the units of IOS XR", () => {
    const text =
      "policy-map P\n class A\n  police rate 20 mbps\n  !\n  priority level 1\n !\n class B\n  shape average 3 gbps\n  queue-limit 250 kbytes\n end-policy-map\n";
    expect(of(knobsOf(text, "P"))).toEqual([
      "P/A/police rate=20000000 b/s",
      "P/B/shape average=3000000000 b/s",
      "P/B/queue-limit=250000 B",
    ]);
  });

  test("that are entered again are the last ones", () => {
    const text =
      "policy-map P\n class A\n  bandwidth 100\npolicy-map P\n class A\n  bandwidth 200\n";
    expect(knobsOf(text, "P").map((k) => [k.line, k.value])).toEqual([[6, 200_000]]);
  });

  test("are not looked for in other commands, nor where there is no policy", () => {
    expect(knobsOf("interface S0\n bandwidth 64\n! policy-map X\n", "X")).toEqual([]);
    expect(
      knobsOf("policy-map P\n class A\n  priority level 1\n  queue-limit dscp ef 9\n", "P"),
    ).toEqual([]);
    expect(blocksOf("").policies).toEqual([]);
  });

  test("change and nothing else does, line ends included", () => {
    const text = CONFIG.replaceAll("\n", "\r\n");
    const knobs = knobsOf(text, "PARENT");
    const changed = withNumbers(
      text,
      knobs.map((k) => [k, k.value * 2]),
    );
    expect(knobsOf(changed, "PARENT").map((k) => k.value)).toEqual(knobs.map((k) => k.value * 2));
    expect(changed.replace(/\d+/g, "#")).toBe(text.replace(/\d+/g, "#"));
    expect(withNumbers(text, [])).toBe(text);
  });
});

describe("changed lines", () => {
  test("stand in their policy-map and class; what falls comes first", () => {
    const [voice, video] = knobsOf(CONFIG, "PARENT");
    if (!voice || !video) throw new Error("no numbers");
    const changed = withNumbers(CONFIG, [
      [voice, 40],
      [video, 15],
    ]);
    expect(changedLines(CONFIG, changed)).toEqual([
      "policy-map CHILD",
      " class VIDEO",
      "  bandwidth percent 15",
      " class VOICE",
      "  priority percent 40",
    ]);
  });

  test("of a policer have its actions", () => {
    const police = knobsOf(CONFIG, "PARENT").find((k) => k.command === "police cir");
    if (!police) throw new Error("no policer");
    expect(changedLines(CONFIG, withNumbers(CONFIG, [[police, 512_000]]))).toEqual([
      "policy-map CHILD",
      " class BULK",
      "  police cir 512000 bc 8000",
      "   conform-action transmit",
      "   exceed-action drop",
    ]);
  });

  test("are none where nothing changed", () => {
    expect(changedLines(CONFIG, CONFIG)).toEqual([]);
  });

  test("are those that differ, over random changes", () => {
    const draw = random(1);
    const knobs = knobsOf(CONFIG, "PARENT");
    for (let i = 0; i < 300; i++) {
      const some = knobs.filter(() => draw() < 0.5);
      const changed = withNumbers(
        CONFIG,
        some.map((k) => [k, k.value * (0.3 + draw())]),
      );
      const before = linesOf(CONFIG);
      const differ = linesOf(changed).filter((l, at) => l !== before[at]);
      const told = changedLines(CONFIG, changed).filter((l) => /^ {2}\w/.test(l));
      expect(told.map((l) => l.trim()).sort()).toEqual(differ.map((l) => l.trim()).sort());
      // Pasted behind the configuration they say what the changed text says.
      const pasted = `${CONFIG}${changedLines(CONFIG, changed).join("\n")}\n`;
      const numbers = (text: string) =>
        knobsOf(text, "PARENT")
          .map((k) => `${k.policy}/${k.cls}/${k.command}=${k.value}`)
          .sort();
      expect(numbers(pasted)).toEqual(numbers(changed));
    }
  });
});

describe("rates of tc", () => {
  const SCRIPT = `tc qdisc add dev eth0 root handle 1: htb default 30
# tc class add dev eth0 parent 1: classid 1:9 htb rate 1mbit
tc class add dev eth0 parent 1: classid 1:10 htb rate 9500kbit ceil 10mbit burst 15k
tc class add dev eth1 parent 1: classid 1:10 htb rate 1mbit
tc qdisc add dev "$DEV" root cake bandwidth 4.5mbit
tc class add dev eth0 parent 1: classid 1:11 htb rate 100kbps
`;

  test("are those of the device in bits", () => {
    const found = ratesOf(SCRIPT, "eth0").map((k) => [k.cls, k.command, k.value]);
    expect(found).toEqual([
      ["1:10", "rate", 9.5e6],
      ["1:10", "ceil", 10e6],
      ["root", "bandwidth", 4.5e6],
    ]);
  });

  test("are changed by the commands that differ", () => {
    const [rate, ceil] = ratesOf(SCRIPT, "eth0");
    if (!rate || !ceil) throw new Error("no rates");
    const changed = withNumbers(SCRIPT, [
      [rate, 8e6],
      [ceil, 9_250_000],
    ]);
    expect(changedCommands(SCRIPT, changed)).toEqual([
      "tc class change dev eth0 parent 1: classid 1:10 htb rate 8000kbit ceil 9250kbit burst 15k",
    ]);
    expect(changedCommands(SCRIPT, SCRIPT)).toEqual([]);
  });
});
