/**
 * Conditions on packets as the reader words them, such as
 * `dscp ef and (protocol udp and port 16384-32767 or precedence 5)`: read, evaluated, and met by a
 * packet. What the words leave out (`3 more`) is unknown, never guessed.
 */

/** The fields of a header that decide. */
export interface Header {
  dscp: number;
  protocol: string;
  sport: number;
  dport: number;
  /** IPv4 addresses as numbers. */
  src: number;
  dst: number;
}

type Field = keyof Header;

export type Condition =
  | { is: "all" | "any"; of: Condition[] }
  | { is: "not"; of: Condition }
  | { is: "list"; entries: { permit: boolean; when: Condition }[] }
  /** Members of a field: ranges of numbers, or names of protocols. `rest`: more that are not named. */
  | { is: "field"; field: Field; ranges: [number, number][]; names: string[]; rest: boolean }
  /** A field that packets of a scenario made here do not have: an EXP, a CoS, a QoS group. */
  | { is: "absent"; what: string }
  | { is: "unknown" };

const DSCPS: Record<string, number> = { default: 0, le: 1, ef: 46, "voice-admit": 44 };
for (let c = 1; c < 8; c++) DSCPS[`cs${c}`] = c * 8;
for (let c = 1; c < 5; c++) for (let d = 1; d < 4; d++) DSCPS[`af${c}${d}`] = c * 8 + d * 2;

/** The number of a code point by its name or number, or none. */
export function dscpOf(word: string): number | undefined {
  const plain = word.trim().toLowerCase();
  const value = DSCPS[plain] ?? (/^\d{1,2}$/.test(plain) ? Number(plain) : undefined);
  return value !== undefined && value < 64 ? value : undefined;
}

/** The name of a code point, or its number. */
export function dscpName(value: number): string {
  return Object.entries(DSCPS).find(([, v]) => v === value)?.[0] ?? String(value);
}

/** `10.0.0.1` as a number, or none. */
export function addressOf(text: string): number | undefined {
  const parts = text.split(".").map((p) => (/^\d{1,3}$/.test(p) ? Number(p) : 256));
  if (parts.length !== 4 || parts.some((p) => p > 255)) return undefined;
  return parts.reduce((sum, p) => sum * 256 + p, 0);
}

export function addressText(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");
}

const FIELDS: [string, Field | undefined][] = [
  ["dscp ", "dscp"],
  ["precedence ", "dscp"],
  ["exp ", undefined],
  ["cos ", undefined],
  ["qos-group ", undefined],
  ["in by ", undefined],
  ["from ", "src"],
  ["to ", "dst"],
  ["protocol ", "protocol"],
  ["source port ", "sport"],
  ["port ", "dport"],
];

/** What a list of values ends at. */
const END =
  / and (?=dscp |precedence |exp |cos |qos-group |in by |from |to |protocol |source port |port |not \(|\(|access list \[)| or |[)\];]|$/g;

class Words {
  private at = 0;
  constructor(private readonly text: string) {}

  take(word: string): boolean {
    const here = this.text.startsWith(word, this.at);
    if (here) this.at += word.length;
    return here;
  }

  get atEnd(): boolean {
    return this.at >= this.text.length;
  }

  until(): string {
    END.lastIndex = this.at;
    const end = END.exec(this.text)?.index ?? this.text.length;
    const found = this.text.slice(this.at, end);
    this.at = end;
    return found;
  }
}

/** Reads a condition; what is not understood is `unknown`. */
export function parse(text: string): Condition {
  const plain = text.replace(/, and everything else$/, "").trim();
  if (plain === "" || plain === "everything" || plain === "everything else")
    return { is: "all", of: [] };
  const words = new Words(plain);
  const found = alternatives(words);
  return words.atEnd ? found : { is: "unknown" };
}

function alternatives(words: Words): Condition {
  const of = [together(words)];
  while (words.take(" or ")) of.push(together(words));
  return of.length === 1 && of[0] !== undefined ? of[0] : { is: "any", of };
}

function together(words: Words): Condition {
  const of = [term(words)];
  while (words.take(" and ")) of.push(term(words));
  return of.length === 1 && of[0] !== undefined ? of[0] : { is: "all", of };
}

function term(words: Words): Condition {
  if (words.take("everything")) return { is: "all", of: [] };
  if (words.take("nothing")) return { is: "any", of: [] };
  if (words.take("...")) return { is: "unknown" };
  if (words.take("not (")) {
    const of = alternatives(words);
    return words.take(")") ? { is: "not", of } : { is: "unknown" };
  }
  if (words.take("access list [")) return entries(words);
  if (words.take("(")) {
    const of = alternatives(words);
    return words.take(")") ? of : { is: "unknown" };
  }
  for (const [word, field] of FIELDS)
    if (words.take(word)) {
      const values = words.until().split(", ");
      return field === undefined
        ? { is: "absent", what: word.trim() }
        : valuesOf(field, values, word === "precedence ");
    }
  words.until();
  return { is: "unknown" };
}

function entries(words: Words): Condition {
  const list: { permit: boolean; when: Condition }[] = [];
  let open = false;
  while (!words.take("]")) {
    const permit = words.take("permit ");
    if (!permit && !words.take("deny ")) {
      // `3 more`: what follows the entries that are shown decides nothing that is known.
      words.until();
      open = true;
      if (words.atEnd) break;
    } else list.push({ permit, when: alternatives(words) });
    words.take("; ");
    if (words.atEnd) break;
  }
  if (open) list.push({ permit: true, when: { is: "unknown" } });
  return { is: "list", entries: list };
}

function valuesOf(field: Field, values: string[], precedence: boolean): Condition {
  const found: Extract<Condition, { is: "field" }> = {
    is: "field",
    field,
    ranges: [],
    names: [],
    rest: false,
  };
  for (const value of values) {
    if (/^\d+ more$/.test(value)) found.rest = true;
    else if (field === "protocol") found.names.push(value.toLowerCase());
    else if (field === "dscp") {
      const number = precedence ? Number(value) * 8 : dscpOf(value);
      if (number === undefined || Number.isNaN(number)) found.rest = true;
      else found.ranges.push([number, number + (precedence ? 7 : 0)]);
    } else if (field === "src" || field === "dst") {
      const [net = "", bits = "32"] = value.split("/");
      const first = addressOf(net);
      const size = 2 ** (32 - Number(bits));
      if (first === undefined || !(size >= 1)) found.rest = true;
      else found.ranges.push([first - (first % size), first - (first % size) + size - 1]);
    } else {
      const [low, high = low] = value.split("-").map(Number);
      if (low === undefined || high === undefined || Number.isNaN(low + high)) found.rest = true;
      else found.ranges.push([low, high]);
    }
  }
  return found;
}

/** Whether a packet meets a condition; `undefined` where the words do not tell. */
export function holds(c: Condition, packet: Header): boolean | undefined {
  switch (c.is) {
    case "unknown":
      return undefined;
    case "absent":
      return false;
    case "not": {
      const inner = holds(c.of, packet);
      return inner === undefined ? undefined : !inner;
    }
    case "list":
      for (const entry of c.entries) {
        const here = holds(entry.when, packet);
        if (here === undefined) return undefined;
        if (here) return entry.permit;
      }
      return false;
    case "field": {
      const value = packet[c.field];
      const named =
        typeof value === "string"
          ? c.names.includes(value)
          : c.ranges.some(([a, b]) => a <= value && value <= b);
      return named || (c.rest ? undefined : false);
    }
    default: {
      // One member decides `any` by holding and `all` by failing.
      const decides = c.is === "any";
      let open = false;
      for (const member of c.of) {
        const here = holds(member, packet);
        if (here === decides) return decides;
        if (here === undefined) open = true;
      }
      return open ? undefined : !decides;
    }
  }
}

/** A packet that has nothing special about it. */
export const PLAIN: Header = {
  dscp: 0,
  protocol: "udp",
  sport: 49152,
  dport: 5001,
  src: 0x0a000001,
  dst: 0x0aff0001,
};

/** Ways to meet a condition are tried up to this many. */
const WAYS = 256;

/** Parts of headers with which a condition may hold, negations aside. */
function ways(c: Condition): Partial<Header>[] {
  switch (c.is) {
    case "field":
      return c.field === "protocol"
        ? c.names.map((protocol) => ({ protocol }))
        : c.ranges.flatMap(([a, b]) =>
            a === b ? [{ [c.field]: a }] : [{ [c.field]: a }, { [c.field]: b }],
          );
    case "list":
      return c.entries
        .filter((e) => e.permit)
        .flatMap((e) => ways(e.when))
        .slice(0, WAYS);
    case "any":
      return c.of.flatMap(ways).slice(0, WAYS);
    case "all":
      return c.of.reduce<Partial<Header>[]>((sofar, member) => joined(sofar, ways(member)), [{}]);
    case "not":
      return [{}];
    default:
      return [];
  }
}

/** Every pair of parts that do not contradict each other. */
function joined(left: Partial<Header>[], right: Partial<Header>[]): Partial<Header>[] {
  const out: Partial<Header>[] = [];
  for (const a of left)
    for (const b of right) {
      const agree = (Object.keys(b) as Field[]).every((k) => a[k] === undefined || a[k] === b[k]);
      if (agree && out.length < WAYS) out.push({ ...a, ...b });
    }
  return out;
}

/** Code points in the order in which they are tried where any will do: the usual ones first. */
const CODES = [
  0,
  46,
  34,
  26,
  18,
  10,
  8,
  16,
  24,
  32,
  40,
  48,
  ...Array.from({ length: 64 }, (_, i) => i),
];

/**
 * A packet that meets `wanted` and none of `not`, or nothing if none is found. `fixed` are fields
 * that the traffic decides, such as the protocol of TCP. Where words leave something out, a packet
 * that may meet them stands in for one that does.
 */
export function witness(
  wanted: readonly Condition[],
  not: readonly Condition[],
  fixed: Partial<Header> = {},
): Header | undefined {
  const parts = wanted.reduce<Partial<Header>[]>(
    (sofar, c) => joined(sofar, ways(c)),
    [{ ...fixed }],
  );
  for (const sure of [true, false]) {
    const fits = (h: Header) =>
      wanted.every((c) => (sure ? holds(c, h) === true : holds(c, h) !== false)) &&
      not.every((c) => (sure ? holds(c, h) === false : holds(c, h) !== true));
    const found = search(parts, fits);
    if (found !== undefined) return found;
  }
  return undefined;
}

function search(parts: Partial<Header>[], fits: (h: Header) => boolean): Header | undefined {
  for (const part of parts) if (fits({ ...PLAIN, ...part })) return { ...PLAIN, ...part };
  for (const part of parts.slice(0, 32))
    for (const protocol of part.protocol === undefined ? ["udp", "tcp"] : [part.protocol])
      for (const dscp of part.dscp === undefined ? CODES : [part.dscp]) {
        const found = { ...PLAIN, ...part, protocol, dscp };
        if (fits(found)) return found;
      }
  return undefined;
}
