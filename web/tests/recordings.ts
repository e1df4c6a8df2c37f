/** Recordings of a small port of our own, for tests that need no engine. */

import type { Curve, Recording } from "../src/engine/api";

/** Who sends, in the form of packets at random times. */
export interface Sender {
  name: string;
  /** Index of its class, which is its queue, too, where there are several. */
  cls: number;
  bytes: number;
  /** Mean time between two packets, s. */
  gap: number;
}

export interface Port {
  seed?: number;
  /** b/s */
  rate?: number;
  /** s */
  end?: number;
  senders?: Sender[];
  classes?: string[];
  /** One queue for all, a queue a class by priority, or a queue a class in turns. */
  order?: "fifo" | "priority" | "turns";
  /** Packets that each queue holds. */
  limit?: number;
  /** Share of packets that are dropped at the head or marked, with an average that is told. */
  early?: number;
}

interface Waits {
  packet: number;
  arrived: number;
  sender: number;
}

const REASONS = ["queue full", "early", "at the head"];

/** Random numbers in [0, 1) that depend on the seed only (mulberry32). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const SENDERS: Sender[] = [
  { name: "call", cls: 0, bytes: 200, gap: 0.02 },
  { name: "web", cls: 1, bytes: 1000, gap: 0.006 },
  { name: "upload", cls: 2, bytes: 1500, gap: 0.009 },
];

class Simulation {
  private readonly rows: number[][] = [];
  private readonly queues: Waits[][];
  private readonly averages: number[];
  private packets = 0;
  private turn = 0;
  private free = 0;

  constructor(
    private readonly port: Required<Port>,
    private readonly draw: () => number,
  ) {
    const queues = port.order === "fifo" ? 1 : port.classes.length;
    this.queues = Array.from({ length: queues }, () => []);
    this.averages = this.queues.map(() => 0);
  }

  run(): number[][] {
    const due = this.port.senders.map(({ gap }) => this.gap(gap));
    for (;;) {
      const soonest = Math.min(...due);
      const sender = due.indexOf(soonest);
      while (this.free < soonest && this.free <= this.port.end && this.send()) {}
      if (soonest > this.port.end) {
        return this.rows;
      }
      this.arrive(soonest, sender);
      due[sender] = soonest + this.gap(this.port.senders[sender]?.gap ?? 1);
      this.free = Math.max(this.free, soonest);
    }
  }

  private gap(mean: number): number {
    return -mean * Math.log(1 - this.draw());
  }

  private arrive(now: number, sender: number): void {
    const { senders, order, limit, early } = this.port;
    const queue = order === "fifo" ? 0 : (senders[sender]?.cls ?? 0);
    const waits = this.queues[queue] as Waits[];
    const packet = this.packets++;
    this.averages[queue] = (this.averages[queue] ?? 0) * 0.9 + waits.length * 0.1;
    this.tell(now, 0, packet, sender, queue);
    if (waits.length >= limit) {
      this.tell(now, 2, packet, sender, queue, 0);
    } else if (this.draw() < early / 3) {
      this.tell(now, 2, packet, sender, queue, 1);
    } else {
      if (this.draw() < early / 3) {
        this.tell(now, 3, packet, sender, queue);
      }
      waits.push({ packet, arrived: now, sender });
    }
  }

  private send(): boolean {
    const queue = this.choose();
    const waits = this.queues[queue]?.shift();
    if (!waits) {
      return false;
    }
    const now = this.free;
    if (this.draw() < this.port.early / 3) {
      this.tell(now, 2, waits.packet, waits.sender, queue, 2);
      return true;
    }
    const bytes = this.port.senders[waits.sender]?.bytes ?? 0;
    this.free = now + (bytes * 8) / this.port.rate;
    const row = this.tell(now, 1, waits.packet, waits.sender, queue);
    row[6] = this.free;
    row[7] = now - waits.arrived;
    return true;
  }

  private choose(): number {
    const count = this.queues.length;
    for (let step = 0; step < count; step++) {
      const queue = this.port.order === "turns" ? (this.turn + step) % count : step;
      if (this.queues[queue]?.length) {
        this.turn = queue + 1;
        return queue;
      }
    }
    return 0;
  }

  private tell(
    now: number,
    kind: number,
    packet: number,
    sender: number,
    queue: number,
    reason = 255,
  ) {
    const average = this.port.early > 0 ? (this.averages[queue] ?? 0) : Number.NaN;
    const probability = this.port.early > 0 ? this.port.early / 3 : Number.NaN;
    const row = [
      now,
      kind,
      packet,
      sender,
      queue,
      reason,
      Number.NaN,
      Number.NaN,
      average,
      probability,
    ];
    this.rows.push(row);
    return row;
  }
}

/** A recording of a port with random arrivals, the same for the same values. */
export function recordingOf(port: Port = {}): Recording {
  const full: Required<Port> = {
    seed: 1,
    rate: 2e6,
    end: 2,
    senders: SENDERS,
    classes: ["voice", "web", "bulk"],
    order: "priority",
    limit: 30,
    early: 0,
    ...port,
  };
  const rows = new Simulation(full, random(full.seed)).run();
  const column = (at: number) => rows.map((row) => row[at] ?? Number.NaN);
  const senderOf = (row: number[]) => full.senders[row[3] ?? 0] as Sender;
  return {
    link: "wan",
    rate: full.rate,
    variant: "",
    end: full.end,
    digest: "",
    classes: full.classes,
    queues: full.order === "fifo" ? ["fifo"] : full.classes,
    flows: full.senders.map(({ name }) => name),
    reasons: REASONS,
    count: rows.length,
    leftOut: 0,
    time: Float64Array.from(column(0)),
    kind: Uint8Array.from(column(1)),
    packet: Uint32Array.from(column(2)),
    flow: Uint32Array.from(column(3)),
    cls: Uint16Array.from(rows.map((row) => senderOf(row).cls)),
    queue: Uint16Array.from(column(4)),
    bytes: Uint32Array.from(rows.map((row) => senderOf(row).bytes)),
    until: Float64Array.from(column(6)),
    wait: Float64Array.from(column(7)),
    reason: Uint8Array.from(column(5)),
    average: Float64Array.from(column(8)),
    probability: Float64Array.from(column(9)),
    series: [windows(full)],
    summary: [],
    verdicts: [],
  };
}

/** A sawtooth, as a congestion window is one. */
function windows({ end }: Required<Port>): Curve {
  const values = Float64Array.from(
    { length: Math.round(end / 0.02) },
    (_, at) => 15000 + (at % 50) * 1000,
  );
  return {
    variant: "",
    run: 0,
    place: "upload",
    metric: "cwnd",
    unit: "B",
    start: 0,
    step: 0.02,
    values,
  };
}
