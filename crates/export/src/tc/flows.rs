//! Queues by flow as queueing disciplines of Linux: `sfq`, `fq_codel` and `fq_pie`; `dualpi2` and
//! `cake`.

use spillgate_core::{Cells, Dur, Limit, Overhead, Rate};
use spillgate_queueing::Line;
use spillgate_queueing::spec::{
    AqmSpec, CakeSpec, CakeTins, CdtPolicy, Decide, DrrSpec, DualPi2Spec, DualPi2Variant,
    FairQueueSpec, FairSpec, FanScheduler, FanSpec, FlowScheduler, FlowWeights, FqCodelSpec,
    FqPieSpec, FqSpec, Guard, PieVariant, SfqSpec, SfqVariant, WfqSpec, WfqWeights,
};

use super::queue::{delays, red_of_sfq};
use crate::Here;
use crate::limits::{in_packets, in_whole};
use crate::settings::{changed_after, no_admission, no_aqm_of, shown};

/// Packets that a flow of `sfq` holds at most (`SFQ_MAX_DEPTH` of Linux).
const DEPTH: u64 = 127;
/// Queues into which flows are hashed where each of them had its own: the default of `sfq`.
const QUEUES: u32 = 1024;
/// The most queues of `sfq` (`SFQ_MAX_FLOWS` of Linux).
const MOST_FLOWS: u32 = 65_408;
/// The least limit of `sfq`: `tc` refuses less.
const LEAST: u64 = 2;
/// The most bytes that `memory_limit` can be.
const MEMORY: u64 = u32::MAX as u64;

/// `sfq`, with all that it can be told.
struct Sfq {
    /// Packets in all.
    limit: u64,
    /// Bytes of a turn; none: a packet of the device.
    quantum: Option<u64>,
    /// Packets that a flow may hold.
    depth: u64,
    /// A power of two.
    queues: u32,
    /// What is pushed out is the first packet of the longest flow, not its last.
    from_head: bool,
}

impl Sfq {
    /// For a queue that turns by deficit and pushes out from the longest flow.
    fn by_turns(limit: u64, quantum: u64, queues: u32) -> Self {
        Self {
            limit,
            quantum: Some(quantum),
            depth: DEPTH,
            queues,
            from_head: true,
        }
    }

    fn text(&self, notes: &mut Here<'_>) -> String {
        if self.limit < LEAST {
            notes.add(format!(
                "sfq holds {LEAST} packets at least, not {}",
                self.limit
            ));
        }
        if self.depth > DEPTH {
            notes.add(format!(
                "a flow of sfq holds {DEPTH} packets at most, not {}",
                self.depth
            ));
        }
        let quantum = self
            .quantum
            .map_or_else(String::new, |q| format!(" quantum {q}"));
        // As many flows as queues: by default no more than 127 would wait at once.
        let from_head = if self.from_head { " headdrop" } else { "" };
        format!(
            "sfq limit {}{quantum} depth {} flows {} divisor {}{from_head}",
            self.limit.max(LEAST),
            self.depth.min(DEPTH),
            self.queues,
            self.queues
        )
    }
}

fn by_precedence(weights: WfqWeights) -> &'static str {
    match weights {
        WfqWeights::Equal => "",
        WfqWeights::Precedence => ", not by precedence",
    }
}

/// `sfq` for Cisco's flow-based WFQ, which the limit of its class may bound, too.
pub(super) fn fair(
    fair: &FairQueueSpec,
    limit: Option<Limit>,
    rate: Rate,
    notes: &mut Here<'_>,
) -> String {
    let weights = match fair.weights {
        FlowWeights::Equal => "",
        FlowWeights::Precedence => ", not by precedence",
    };
    let policy = match fair.cdt_policy {
        CdtPolicy::WorstSn => "the packet of all that would leave last (`cdt_policy: worst-sn`)",
        CdtPolicy::BlockQuarter => {
            "all until it holds a quarter of that (`cdt_policy: block-quarter`)"
        }
        CdtPolicy::TailDrop => "",
    };
    let arrivals = match policy {
        "" => String::new(),
        other => format!(", not {other}"),
    };
    notes.add(format!(
            "sfq stands for the fair queue: flows take turns with equal weights{weights}, a flow that holds its depth loses what arrives{arrivals}, and the longest gives when it is full"
        ));
    let bound = limit.and_then(|l| in_packets(l, Some(rate), "sfq", notes));
    let sfq = Sfq {
        limit: bound.map_or(u64::MAX, |b| b).min(fair.hold_queue.into()),
        quantum: None,
        depth: fair.threshold.into(),
        queues: fair.queues.into(),
        from_head: false,
    };
    sfq.text(notes)
}

/// `sfq` for weighted fair queueing as PGPS.
pub(super) fn wfq(w: &WfqSpec, rate: Rate, notes: &mut Here<'_>) -> String {
    let weights = by_precedence(w.weights);
    notes.add(format!(
            "sfq stands for WFQ as PGPS: flows take turns of a packet with equal weights{weights}, they are hashed into {QUEUES} queues, and the longest gives when it is full, not what arrives"
        ));
    let mut packets = |limit| in_packets(limit, Some(rate), "sfq", notes);
    let (depth, limit) = (packets(w.limit), packets(w.hold_queue));
    let sfq = Sfq {
        limit: limit.unwrap_or(1000),
        quantum: None,
        depth: depth.unwrap_or(DEPTH),
        queues: QUEUES,
        from_head: false,
    };
    sfq.text(notes)
}

/// `sfq` for DRR: Linux's `drr` has classes, not flows, and `sfq` turns by deficit.
pub(super) fn drr(d: &DrrSpec, line: Line, notes: &mut Here<'_>) -> String {
    let rate = line.rate;
    if let Some(aqm) = &d.aqm {
        notes.add(no_aqm_of("sfq", aqm));
    }
    let queues = d.queues.unwrap_or(QUEUES).next_power_of_two();
    let hashed = match d.queues {
        None => format!(", and flows are hashed into {queues} queues"),
        Some(n) if n != queues => format!(", and of {n} queues there are {queues}"),
        Some(_) => String::new(),
    };
    notes.add(format!(
            "sfq stands for DRR by flow (the classes of Linux's drr would each need a filter): flows have equal weights{}, a flow holds {DEPTH} packets at most, the longest in packets, not in bytes, gives when it is full{hashed}",
            by_precedence(d.weights)
        ));
    let limit = in_packets(d.limit, Some(rate), "sfq", notes).unwrap_or(1000);
    Sfq::by_turns(limit, d.turn(line.longest).0, queues).text(notes)
}

/// `sfq` for packet fair queueing: Linux's `qfq` and `drr` have classes, not flows.
pub(super) fn packet_fair(f: &FairSpec, line: Line, notes: &mut Here<'_>) -> String {
    if let Some(aqm) = &f.aqm {
        notes.add(no_aqm_of("sfq", aqm));
    }
    let queues = f.queues.unwrap_or(QUEUES).next_power_of_two();
    let hashed = match f.queues {
        None => format!(", and flows are hashed into {queues} queues"),
        Some(n) if n != queues => format!(", and of {n} queues there are {queues}"),
        Some(_) => String::new(),
    };
    let classes = match f.scheduler {
        FlowScheduler::Qfq => " (the classes of Linux's qfq would each need a filter)",
        _ => "",
    };
    let sum = changed_after(
        "; left out: ",
        f,
        &["scheduler", "weights", "limit", "queues", "aqm"],
    );
    notes.add(format!(
        "sfq stands for `fair` ({}){classes}: flows take turns of a packet's bytes with equal weights{}, a flow holds {DEPTH} packets at most, the longest in packets, not in bytes, gives when it is full{hashed}{sum}",
        f.scheduler.name(),
        by_precedence(f.weights)
    ));
    let limit = in_packets(f.limit, Some(line.rate), "sfq", notes).unwrap_or(1000);
    let turn = DrrSpec::default().turn(line.longest);
    Sfq::by_turns(limit, turn.0, queues).text(notes)
}

/// `sfq` (tc-sfq(8)).
pub(super) fn sfq(s: &SfqSpec, line: Line, notes: &mut Here<'_>) -> String {
    let limit = in_packets(s.limit, Some(line.rate), "sfq", notes).unwrap_or(DEPTH);
    let perturb = s.perturb.map_or_else(String::new, |every| {
        let seconds = in_whole(Dur::from_secs(1), "s", "perturb", every, notes);
        format!(" perturb {}", seconds.max(1))
    });
    if u64::from(s.depth) > DEPTH {
        notes.add(format!(
            "a flow of sfq holds {DEPTH} packets at most, not {}",
            s.depth
        ));
    }
    let red = match &s.aqm {
        Some(AqmSpec::Red(red)) => red_of_sfq(red, notes),
        _ => String::new(),
    };
    let (flows, divisor) = match s.variant {
        None => (s.flows, s.divisor),
        Some(SfqVariant::Ns2) => {
            notes.add("queues of sfq take turns of a packet's bytes, not of a packet, and the longest gives when it is full (`as: ns2`)");
            let divisor = s.divisor.next_power_of_two();
            if divisor != s.divisor {
                notes.add(format!("of {} queues there are {divisor}", s.divisor));
            }
            (divisor.min(MOST_FLOWS), divisor)
        }
    };
    format!(
        "sfq limit {} quantum {} depth {} flows {flows} divisor {divisor}{perturb}{}{red}",
        limit.max(LEAST),
        s.turn(line.longest).0,
        u64::from(s.depth).min(DEPTH),
        if s.headdrop { " headdrop" } else { "" }
    )
}

/// What PIE loses that follows ns-3.
pub(super) const NOT_NS3: &str = "bursts are those of Linux, not of ns-3 (`as: ns3`)";

/// `fq_pie` (tc-fq_pie(8)).
pub(super) fn fq_pie(f: &FqPieSpec, line: Line, notes: &mut Here<'_>) -> String {
    let packets = in_packets(f.limit, Some(line.rate), "fq_pie", notes).unwrap_or(10_240);
    let mut micros = |what: &str, time| in_whole(Dur::from_us(1), "us", what, time, notes);
    let (target, update) = (micros("target", f.target), micros("update", f.update));
    let mut whole = |what: &str, value: f64, unit: f64, most: f64| {
        // Rounded twice, as 0.29 times 100 is not 29.
        let exact = (value * unit * 1e6).round() / 1e6;
        let rounded = exact.round().clamp(0.0, most);
        if rounded.to_bits() != exact.to_bits() {
            notes.add(format!(
                "`{what}` is a whole number of 1/{unit} up to {most} of them: {value} is written as {rounded}"
            ));
        }
        rounded
    };
    let (alpha, beta) = (
        whole("alpha", f.alpha, 16.0, 32.0),
        whole("beta", f.beta, 16.0, 32.0),
    );
    let marks = whole("ecn_threshold", f.ecn_threshold, 100.0, 100.0);
    if f.variant != Some(PieVariant::Linux) {
        notes.add("fq_pie takes the delay of the packet that left last, lets the probability of an empty queue fall by 1/64, and drops what arrives at its limit");
    }
    if f.variant == Some(PieVariant::Ns3) {
        notes.add(NOT_NS3);
    }
    let fixed = ["max_burst", "mean_packet", "derandomize"];
    let told = [
        "as",
        "limit",
        "flows",
        "quantum",
        "target",
        "update",
        "alpha",
        "beta",
        "ecn",
        "ecn_threshold",
        "dq_rate_estimator",
    ];
    let rest = changed_after("", f, &told);
    if !rest.is_empty() {
        notes.add(format!(
            "fq_pie has no {}; left out: {rest}",
            fixed.join(", ")
        ));
    }
    let ecn = if f.ecn { "ecn" } else { "noecn" };
    let estimates = match f.dq_rate_estimator {
        true => "dq_rate_estimator",
        false => "no_dq_rate_estimator",
    };
    format!(
        "fq_pie limit {packets} flows {} target {target}us tupdate {update}us alpha {alpha} beta {beta} quantum {} ecn_prob {marks} {ecn} {estimates}",
        f.flows,
        f.parts().turn(line.longest).0
    )
}

/// `sfq` for the fair queue of a cross-protect router.
pub(super) fn fan(f: &FanSpec, line: Line, notes: &mut Here<'_>) -> String {
    let (rate, unit) = (line.rate, f.unit(line.longest));
    notes.add(format!("tc has {}", no_admission(f)));
    notes.add(format!(
            "sfq stands for the fair queue behind the admission, scheduler {}: flows below the fair rate wait for their turn as all others, without priority for `mtu` {} each, flows are hashed into {QUEUES} queues, a flow holds {DEPTH} packets at most, and the longest in packets, not in bytes, gives when it is full",
            shown(&f.scheduler),
            unit
        ));
    let quantum = match &f.scheduler {
        FanScheduler::Pfq(_) => unit,
        FanScheduler::Pdrr(p) => p.quantum.unwrap_or(unit),
    };
    let limit = in_packets(f.limit, Some(rate), "sfq", notes).unwrap_or(1000);
    Sfq::by_turns(limit, quantum.0, QUEUES).text(notes)
}

/// `fq_codel` where it is that, else `sfq`.
pub(super) fn fq(f: &FqSpec, line: Line, notes: &mut Here<'_>) -> String {
    let rate = line.rate;
    let hashed = |queues: u32, notes: &mut Here<'_>| match f.queues {
        None => notes.add(format!(
            "flows are hashed into {queues} queues, where each had its own (`queues`)"
        )),
        Some(n) if n != queues => {
            notes.add(format!("of {n} queues there are {queues}"));
        }
        Some(_) => {}
    };
    if let Some(AqmSpec::Codel(codel)) = &f.aqm {
        let queues = f.queues.unwrap_or(QUEUES);
        hashed(queues, notes);
        let whole = FqCodelSpec {
            limit: f.limit,
            memory_limit: f.memory_limit,
            flows: queues,
            quantum: f.quantum,
            drop_batch: f.drop_batch,
            guard: f.guard,
            ..FqCodelSpec::under(codel)
        };
        return fq_codel(&whole, line, notes);
    }
    let queues = f.queues.unwrap_or(QUEUES).next_power_of_two();
    hashed(queues, notes);
    let rest = changed_after("; left out: ", f, &["aqm", "limit", "quantum", "queues"]);
    notes.add(format!(
            "sfq stands for the fair queue: new flows do not go first, a flow holds {DEPTH} packets at most, the longest in packets, not in bytes, gives when it is full{rest}"
        ));
    if let Some(aqm) = &f.aqm {
        notes.add(no_aqm_of("sfq", aqm));
    }
    let limit = in_packets(f.limit, Some(rate), "sfq", notes).unwrap_or(10_240);
    Sfq::by_turns(limit, f.turn(line.longest).0, queues).text(notes)
}

/// `fq_codel`.
pub(super) fn fq_codel(f: &FqCodelSpec, line: Line, notes: &mut Here<'_>) -> String {
    let rate = line.rate;
    let packets = in_packets(f.limit, Some(rate), "fq_codel", notes).unwrap_or(10_240);
    if f.guard == Guard::Flow {
        notes.add("CoDel of fq_codel looks at the backlog of all flows, not of the packet's own");
    }
    if f.memory_limit.0 > MEMORY {
        notes.add(format!(
            "`memory_limit` is {MEMORY} B at most, not {}",
            f.memory_limit
        ));
    }
    let delays = delays(&f.codel(), notes);
    let ecn = if f.ecn { "ecn" } else { "noecn" };
    format!(
        "fq_codel limit {packets} flows {} quantum {}{delays} memory_limit {}b drop_batch {} {ecn}",
        f.flows,
        f.parts().turn(line.longest).0,
        f.memory_limit.0.min(MEMORY),
        f.drop_batch
    )
}

/// `dualpi2` (tc-dualpi2(8)).
pub(super) fn dualpi2(d: &DualPi2Spec, line: Line, notes: &mut Here<'_>) -> String {
    let packets = in_packets(d.waiting_limit(), Some(line.rate), "dualpi2", notes);
    unlike_linux(d, notes);
    let (threshold, range) = d.ramp();
    let step = Dur::from_ps(threshold.as_ps() + range.as_ps() / 2);
    let mut micros = |what: &str, time| in_whole(Dur::from_us(1), "us", what, time, notes);
    let step = micros("threshold", step);
    let (target, update) = (micros("target", d.target), micros("update", d.update));
    let mut whole = |what: &str, value: f64, most: f64| {
        let rounded = value.round().clamp(1.0, most);
        if rounded.to_bits() != value.to_bits() {
            notes.add(format!(
                "`{what}` is a whole number from 1 to {most}: {value} is written as {rounded}"
            ));
        }
        rounded
    };
    let coupling = whole("coupling", d.coupling, 255.0);
    // Rounded, as 0.29 times 100 is not 29.
    let percent = (d.protected_share() * 1e6).round() / 1e4;
    let protection = whole("classic_protection", percent, 99.0);
    let overload = match d.drop_on_overload {
        true => "drop_on_overload",
        false => "overflow",
    };
    format!(
        "dualpi2 limit {} coupling_factor {coupling} step_thresh {step}us min_qlen_step {} {overload} classic_protection {protection} target {target}us tupdate {update}us alpha {} beta {}",
        packets.unwrap_or(10_000),
        d.least_packets(),
        d.alpha,
        d.beta
    )
}

/// What Linux does otherwise.
fn unlike_linux(d: &DualPi2Spec, notes: &mut Here<'_>) {
    let (threshold, range) = d.ramp();
    if !range.is_zero() {
        notes.add(format!(
            "dualpi2 marks the queue L by a step: the middle of the ramp from {threshold} over {range} is taken"
        ));
    }
    if let Some(shift) = d.time_shift {
        notes.add(format!(
            "dualpi2 serves its queues by weighted round robin, not as a FIFO with a time shift of {shift}"
        ));
    }
    if d.decides() == Decide::Recur {
        notes.add("dualpi2 drops and marks by random numbers (`decide: recur`)");
    }
    if d.variant != Some(DualPi2Variant::Linux) {
        notes.add("dualpi2 couples nothing while less than two packets wait, and looks at `min_packets` when a packet arrives");
    }
    if d.mtu != DualPi2Spec::default().mtu {
        notes.add(format!(
            "dualpi2 takes the device's longest packet, whatever `mtu` is ({})",
            d.mtu
        ));
    }
}

/// `cake` (tc-cake(8)).
pub(super) fn cake(c: &CakeSpec, notes: &mut Here<'_>) -> String {
    let bandwidth = c.bandwidth.map_or_else(
        || "unlimited".to_owned(),
        |r| format!("bandwidth {}bit", r.bps()),
    );
    let tins = match c.tins {
        CakeTins::Besteffort => "besteffort",
        CakeTins::Precedence => "precedence",
        CakeTins::Diffserv3 => "diffserv3",
        CakeTins::Diffserv4 => "diffserv4",
        CakeTins::Diffserv8 => "diffserv8",
    };
    let nat = if c.nat { "nat" } else { "nonat" };
    let side = if c.ingress { "ingress" } else { "egress" };
    let rtt = in_whole(Dur::from_us(1), "us", "rtt", c.rtt, notes);
    let overhead = match c.overhead {
        Some(said) => counted(said),
        None => {
            notes.add("cake counts the device's frames with their header where no `overhead` is written, not what the link counts");
            "raw".to_owned()
        }
    };
    let memory = c.memory_limit.map_or_else(String::new, |m| {
        let most = m.0.min(u64::from(u32::MAX));
        if most < m.0 {
            notes.add(format!(
                "`memory_limit` {m} is written as {most} B, the most that cake takes"
            ));
        }
        format!(" memlimit {most}b")
    });
    notes.add("cake counts kernel buffers against its memory, which are longer than packets, and rounds the turns of hosts by random numbers");
    if let Some(mtu) = c.mtu {
        notes.add(format!(
            "cake takes the device's longest packet, whatever `mtu` is ({mtu})"
        ));
    }
    format!(
        "cake {bandwidth} {tins} {} {nat} {side} {} rtt {rtt}us {overhead}{memory}",
        c.isolation.word(),
        c.ack_filter.word()
    )
}

/// What is counted of a packet, in the words of `cake`.
fn counted(said: Overhead) -> String {
    let cells = match said.cells() {
        Cells::None => "noatm",
        Cells::Atm => "atm",
        Cells::Ptm => "ptm",
    };
    format!("overhead {} mpu {} {cells}", said.per_packet(), said.mpu())
}
