//! Queueing disciplines without classes.

use spillgate_core::{Dur, Limit, Size, math};
use spillgate_queueing::aqm::{
    AqmSpec, ChokeSpec, ChokeVariant, CodelSpec, CodelVariant, PieSpec, PieVariant, RedMarks,
    RedSpec, RedUnit, RedVariant, SfbSpec,
};
use spillgate_queueing::spec::{
    CakeSpec, ClassSpec, DisciplineSpec, DualPi2Spec, DualPi2Variant, FifoSpec, FqCodelSpec,
    FqPieSpec, SfqSpec, WhenFull,
};

use crate::ios::fault::Fault;

use super::line::{Args, lacks, wrong};
use super::shell::Word;
use super::units::{rate, size, time};

/// Packets that a device's queue holds where nothing else is said (`txqueuelen`).
pub(super) const TX_QUEUE: u32 = 1000;
/// The bytes of so many packets of Ethernet.
const DEVICE_BYTES: u64 = TX_QUEUE as u64 * 1514;
/// `avpkt` where it is not written.
const AVERAGE_PACKET: u64 = 1000;
/// One as the gains of PIE are counted (tc-pie(8)).
const PIE_ONE: f64 = 16.0;
/// One as SFB counts probabilities.
const SFB_ONE: f64 = 65535.0;

/// A queue.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Queue {
    Fifo(FifoSpec),
    FqCodel(FqCodelSpec),
    DualPi2(DualPi2Spec),
    Cake(CakeSpec),
    Sfq(SfqSpec),
    FqPie(FqPieSpec),
}

/// Words without effect on the simulation, each with the reason.
pub(super) type Idle<'w> = Vec<(&'w Word, &'static str)>;

impl Queue {
    /// What a class has where nothing is attached.
    pub(super) fn of_class() -> Self {
        Self::packets(TX_QUEUE)
    }

    fn packets(limit: u32) -> Self {
        Self::Fifo(FifoSpec {
            limit: Limit::Packets(limit),
            ..FifoSpec::default()
        })
    }

    fn under(aqm: AqmSpec, limit: Limit) -> Self {
        Self::Fifo(FifoSpec {
            limit,
            aqm: Some(aqm),
            ..FifoSpec::default()
        })
    }

    /// A policy that has it.
    pub(super) fn policy(self) -> DisciplineSpec {
        match self {
            Self::Fifo(f) => DisciplineSpec::Fifo(f),
            Self::FqCodel(f) => DisciplineSpec::FqCodel(f),
            Self::DualPi2(d) => DisciplineSpec::DualPi2(d),
            Self::Cake(c) => DisciplineSpec::Cake(c),
            Self::Sfq(s) => DisciplineSpec::Sfq(s),
            Self::FqPie(f) => DisciplineSpec::FqPie(f),
        }
    }

    /// Gives it to a class. What a class cannot have is given back as words.
    pub(super) fn into_class(self, class: &mut ClassSpec) -> Option<&'static str> {
        match self {
            Self::Fifo(f) => {
                class.queue_limit = Some(f.limit);
                class.aqm = f.aqm;
                return match f.full {
                    WhenFull::Tail => None,
                    _ => Some("a full queue of a class drops what arrives, not from its front"),
                };
            }
            Self::FqCodel(f) => class.fq_codel = Some(f),
            Self::DualPi2(d) => class.dualpi2 = Some(d),
            Self::Cake(c) => class.cake = Some(c),
            Self::Sfq(s) => class.sfq = Some(s),
            Self::FqPie(f) => class.fq_pie = Some(f),
        }
        None
    }
}

/// The queue of a kind; none if it is none of these.
pub(super) fn queue<'w>(
    kind: &'w Word,
    args: Args<'w>,
    idle: &mut Idle<'w>,
) -> Result<Option<Queue>, Fault> {
    Ok(Some(match kind.text.as_str() {
        "pfifo" | "pfifo_head_drop" | "bfifo" => fifo(kind, args)?,
        "red" => red(kind, args, idle)?,
        "codel" => codel(args)?,
        "pie" => pie(args, idle)?,
        "choke" => choke(args, idle)?,
        "sfb" => sfb(args)?,
        "fq_codel" => fq_codel(args, idle)?,
        "dualpi2" => dualpi2(args, idle)?,
        "cake" => super::cake::cake(args, idle)?,
        "sfq" => sfq(kind, args, idle)?,
        "fq_pie" => fq_pie(args, idle)?,
        _ => return Ok(None),
    }))
}

/// A word that the discipline does not know.
fn unknown(word: &Word, kind: &str) -> Fault {
    wrong(word, &format!("is no option of {kind}"))
}

fn fifo(kind: &Word, mut args: Args<'_>) -> Result<Queue, Fault> {
    let mut limit = None;
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => limit = Some(args.read("a size", size)?),
            _ => return Err(unknown(word, &kind.text)),
        }
    }
    let packets = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Ok(match kind.text.as_str() {
        "bfifo" => Queue::Fifo(FifoSpec {
            limit: Limit::Bytes(limit.unwrap_or(DEVICE_BYTES)),
            ..FifoSpec::default()
        }),
        name => {
            let limit = Limit::Packets(limit.map_or(TX_QUEUE, packets));
            Queue::Fifo(FifoSpec {
                limit,
                full: match name {
                    "pfifo" => WhenFull::Tail,
                    _ => WhenFull::Front,
                },
                aqm: None,
            })
        }
    })
}

/// What `red`, `choke` and the queues of `sfq` are told alike.
struct Average {
    limit: Option<u64>,
    min: Option<u64>,
    max: Option<u64>,
    packet: u64,
    burst: Option<u64>,
    probability: f64,
    ecn: bool,
    hard_drop: bool,
}

impl Average {
    /// Nothing was said.
    const UNTOLD: Self = Self {
        limit: None,
        min: None,
        max: None,
        packet: AVERAGE_PACKET,
        burst: None,
        probability: 0.02,
        ecn: false,
        hard_drop: false,
    };

    fn read<'w>(kind: &str, mut args: Args<'w>, idle: &mut Idle<'w>) -> Result<Self, Fault> {
        let mut found = Self::UNTOLD;
        // Thresholds of `choke` are packets.
        let read = |args: &mut Args<'_>| match kind {
            "red" => args.read("a size", size),
            _ => args.number(),
        };
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "limit" => found.limit = Some(read(&mut args)?),
                "min" => found.min = Some(read(&mut args)?),
                "max" => found.max = Some(read(&mut args)?),
                "avpkt" => found.packet = args.read("a size", size)?.max(1),
                "burst" => found.burst = Some(args.number()?),
                "probability" => found.probability = args.number()?,
                "bandwidth" => {
                    // The average of an idle queue decays at the rate of the link.
                    args.read("a rate", rate)?;
                }
                "ecn" => found.ecn = true,
                "harddrop" => found.hard_drop = true,
                "adaptive" if kind == "red" => {
                    idle.push((word, "`max_p` does not follow the load here"));
                }
                "nodrop" => idle.push((word, "what cannot be marked is dropped here")),
                _ => return Err(unknown(word, kind)),
            }
        }
        Ok(found)
    }

    /// `burst` where it is not written, as `tc` computes it.
    fn burst(&self, min: u64, max: u64) -> u64 {
        self.burst.unwrap_or((2 * min + max) / (3 * self.packet))
    }

    /// Reads a word about the RED of the queues of `sfq`.
    fn of_queue(&mut self, word: &Word, args: &mut Args<'_>) -> Result<(), Fault> {
        match word.text.as_str() {
            "min" => self.min = Some(args.read("a size", size)?),
            "max" => self.max = Some(args.read("a size", size)?),
            "avpkt" => self.packet = args.read("a size", size)?.max(1),
            "burst" => self.burst = Some(args.number()?),
            "probability" => self.probability = args.number()?,
            "ecn" => self.ecn = true,
            "harddrop" => self.hard_drop = true,
            _ => return Err(unknown(word, "sfq")),
        }
        Ok(())
    }

    /// RED with this limit, of the discipline `kind`.
    fn red(&self, kind: &Word, limit: u64) -> Result<RedSpec, Fault> {
        let max = self.max.unwrap_or(limit / 4);
        let min = self.min.unwrap_or(max / 3);
        let weight = weight(self.burst(min, max), min, self.packet);
        Ok(RedSpec {
            variant: Some(RedVariant::Linux),
            unit: Some(RedUnit::Bytes),
            min_th: Some(min as f64),
            max_th: Some(max as f64),
            max_p: Some(self.probability),
            weight: Some(weight.ok_or_else(|| no_weight(kind))?),
            mean_packet: Some(Size(self.packet)),
            ecn: self.ecn,
            marks: (self.ecn && self.hard_drop).then_some(RedMarks::BelowMax),
            ..RedSpec::default()
        })
    }
}

fn red<'w>(kind: &Word, args: Args<'w>, idle: &mut Idle<'w>) -> Result<Queue, Fault> {
    let r = Average::read("red", args, idle)?;
    let limit = r.limit.ok_or_else(|| lacks(kind, "limit"))?;
    let spec = r.red(kind, limit)?;
    Ok(Queue::under(AqmSpec::Red(spec), Limit::Bytes(limit)))
}

fn choke<'w>(args: Args<'w>, idle: &mut Idle<'w>) -> Result<Queue, Fault> {
    let head = args.clone().peek().cloned().unwrap_or_default();
    let c = Average::read("choke", args, idle)?;
    let limit = c.limit.ok_or_else(|| lacks(&head, "limit"))?;
    let max = c.max.unwrap_or(limit / 4);
    let min = c.min.unwrap_or(max / 3);
    let bytes = |packets: u64| packets.saturating_mul(c.packet);
    let weight = weight(c.burst(bytes(min), bytes(max)), bytes(min), c.packet);
    let spec = ChokeSpec {
        variant: Some(ChokeVariant::Linux),
        min_th: min as f64,
        max_th: max as f64,
        max_p: c.probability,
        weight: weight.ok_or_else(|| no_weight(&head))?,
        mean_packet: Size(c.packet),
        ecn: c.ecn,
        ..ChokeSpec::default()
    };
    let limit = Limit::Packets(u32::try_from(limit).unwrap_or(u32::MAX));
    Ok(Queue::under(AqmSpec::Choke(spec), limit))
}

fn no_weight(word: &Word) -> Fault {
    wrong(
        word,
        "has no weight with this `burst`: it must be at least `min` / `avpkt`, and at most 2^30 (tc-red(8))",
    )
}

/// The weight 2^-n of one sample that `tc` computes from `burst`: the largest with b + 1 - min /
/// avpkt <= (1 - (1 - 2^-n)^b) 2^n (tc-red(8)). None if there is none.
pub fn weight(burst: u64, min: u64, packet: u64) -> Option<f64> {
    let asked = burst as f64 + 1.0 - min as f64 / packet as f64;
    (asked >= 1.0).then_some(())?;
    let weights = (1..32).map(|n| 1.0 / f64::from(1_u32 << n));
    let mut fits = weights.filter(|w| asked <= (1.0 - math::pow(1.0 - w, burst as f64)) / w);
    fits.next()
}

fn codel(mut args: Args<'_>) -> Result<Queue, Fault> {
    let mut spec = CodelSpec {
        variant: Some(CodelVariant::Linux),
        ..CodelSpec::default()
    };
    let mut limit = 1000;
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => limit = args.number()?,
            "target" => spec.target = args.read("a time", time)?,
            "interval" => spec.interval = args.read("a time", time)?,
            "ce_threshold" => spec.ce_threshold = Some(args.read("a time", time)?),
            "ecn" => spec.ecn = true,
            "noecn" => spec.ecn = false,
            _ => return Err(unknown(word, "codel")),
        }
    }
    Ok(Queue::under(AqmSpec::Codel(spec), Limit::Packets(limit)))
}

fn pie<'w>(mut args: Args<'w>, idle: &mut Idle<'w>) -> Result<Queue, Fault> {
    let mut limit = 1000;
    let mut spec = PieSpec {
        variant: Some(PieVariant::Linux),
        ..PieSpec::default()
    };
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => limit = args.number()?,
            "target" => spec.target = args.read("a time", time)?,
            "tupdate" => spec.update = args.read("a time", time)?,
            "alpha" => spec.alpha = f64::from(args.number::<u8>()?) / PIE_ONE,
            "beta" => spec.beta = f64::from(args.number::<u8>()?) / PIE_ONE,
            "ecn" => spec.ecn = true,
            "noecn" => spec.ecn = false,
            "dq_rate_estimator" => spec.dq_rate_estimator = true,
            "no_dq_rate_estimator" => spec.dq_rate_estimator = false,
            "bytemode" => idle.push((word, "probabilities do not depend on lengths here")),
            "nobytemode" => {}
            _ => return Err(unknown(word, "pie")),
        }
    }
    Ok(Queue::under(AqmSpec::Pie(spec), Limit::Packets(limit)))
}

fn sfb(mut args: Args<'_>) -> Result<Queue, Fault> {
    let mut spec = SfbSpec::default();
    let mut limit = TX_QUEUE;
    let probability = |args: &mut Args<'_>| -> Result<f64, Fault> {
        // The kernel has 16 bits; what is below a whole one is cut off.
        Ok((args.number::<f64>()?.clamp(0.0, 1.0) * SFB_ONE).floor() / SFB_ONE)
    };
    let ms = |args: &mut Args<'_>| -> Result<_, Fault> {
        Ok(Dur::from_ms(args.number::<u32>()?.into()))
    };
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => limit = args.number()?,
            "rehash" => spec.rehash = ms(&mut args)?,
            "db" => spec.warmup = ms(&mut args)?,
            "max" => spec.max = args.number()?,
            "target" => spec.target = args.number()?,
            "increment" => spec.increment = probability(&mut args)?,
            "decrement" => spec.decrement = probability(&mut args)?,
            "penalty_rate" => spec.penalty_rate = args.number()?,
            "penalty_burst" => spec.penalty_burst = args.number()?,
            _ => return Err(unknown(word, "sfb")),
        }
    }
    Ok(Queue::under(AqmSpec::Sfb(spec), Limit::Packets(limit)))
}

fn fq_codel<'w>(mut args: Args<'w>, idle: &mut Idle<'w>) -> Result<Queue, Fault> {
    let mut spec = FqCodelSpec {
        variant: Some(CodelVariant::Linux),
        ..FqCodelSpec::default()
    };
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => spec.limit = Limit::Packets(args.number()?),
            "flows" => spec.flows = args.number()?,
            "quantum" => spec.quantum = Some(Size(args.read("a size", size)?)),
            "target" => spec.target = args.read("a time", time)?,
            "interval" => spec.interval = args.read("a time", time)?,
            "ce_threshold" => spec.ce_threshold = Some(args.read("a time", time)?),
            "ce_threshold_selector" => {
                idle.push((word, "`ce_threshold` holds for all packets here"));
                args.value("a value and mask")?;
            }
            "memory_limit" => spec.memory_limit = Size(args.read("a size", size)?),
            "drop_batch" => spec.drop_batch = args.number()?,
            "ecn" => spec.ecn = true,
            "noecn" => spec.ecn = false,
            _ => return Err(unknown(word, "fq_codel")),
        }
    }
    Ok(Queue::FqCodel(spec))
}

fn sfq<'w>(kind: &Word, mut args: Args<'w>, idle: &mut Idle<'w>) -> Result<Queue, Fault> {
    let mut spec = SfqSpec::default();
    let (mut red, mut of_red) = (Average::UNTOLD, Vec::new());
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => spec.limit = Limit::Packets(args.number()?),
            "perturb" => {
                let seconds = args.number::<u32>()?;
                let every = Dur::from_secs(seconds.into());
                spec.perturb = (seconds > 0).then_some(every);
            }
            "quantum" => spec.quantum = Some(Size(args.read("a size", size)?)),
            "depth" => spec.depth = args.number()?,
            "flows" => spec.flows = args.number()?,
            "divisor" => spec.divisor = args.number()?,
            "headdrop" => spec.headdrop = true,
            "redflowlimit" => red.limit = Some(args.read("a size", size)?),
            _ => {
                red.of_queue(word, &mut args)?;
                of_red.push((word, "without `redflowlimit` queues of sfq have no RED"));
            }
        }
    }
    match red.limit {
        // The kernel takes thresholds from it, and limits no queue by it.
        Some(limit) => spec.aqm = Some(AqmSpec::Red(red.red(kind, limit)?)),
        None => idle.append(&mut of_red),
    }
    Ok(Queue::Sfq(spec))
}

fn fq_pie<'w>(mut args: Args<'w>, idle: &mut Idle<'w>) -> Result<Queue, Fault> {
    let mut spec = FqPieSpec {
        variant: Some(PieVariant::Linux),
        ..FqPieSpec::default()
    };
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => spec.limit = Limit::Packets(args.number()?),
            "flows" => spec.flows = args.number()?,
            "quantum" => spec.quantum = Some(Size(args.read("a size", size)?)),
            "target" => spec.target = args.read("a time", time)?,
            "tupdate" => spec.update = args.read("a time", time)?,
            "alpha" => spec.alpha = f64::from(args.number::<u8>()?) / PIE_ONE,
            "beta" => spec.beta = f64::from(args.number::<u8>()?) / PIE_ONE,
            "ecn_prob" => spec.ecn_threshold = f64::from(args.number::<u8>()?) / 100.0,
            "ecn" => spec.ecn = true,
            "noecn" => spec.ecn = false,
            "dq_rate_estimator" => spec.dq_rate_estimator = true,
            "no_dq_rate_estimator" => spec.dq_rate_estimator = false,
            "memory_limit" => {
                // Linux counts against it and drops nothing for it.
                args.read("a size", size)?;
            }
            "bytemode" => idle.push((word, "probabilities do not depend on lengths here")),
            "nobytemode" => {}
            _ => return Err(unknown(word, "fq_pie")),
        }
    }
    Ok(Queue::FqPie(spec))
}

fn dualpi2<'w>(mut args: Args<'w>, idle: &mut Idle<'w>) -> Result<Queue, Fault> {
    let mut spec = DualPi2Spec {
        variant: Some(DualPi2Variant::Linux),
        ..DualPi2Spec::default()
    };
    let packets = "packets or a time";
    while let Some(word) = args.next() {
        match word.text.as_str() {
            "limit" => spec.limit = Some(Limit::Packets(args.number()?)),
            "target" => spec.target = args.read("a time", time)?,
            "tupdate" => spec.update = args.read("a time", time)?,
            "alpha" => spec.alpha = args.number()?,
            "beta" => spec.beta = args.number()?,
            "coupling_factor" => spec.coupling = args.number::<u8>()?.into(),
            "step_thresh" => {
                let value = args.value(packets)?;
                if value.text.ends_with("packet") || value.text.ends_with("packets") {
                    idle.push((value, "the threshold of the queue L is a time here"));
                } else {
                    let found = time(&value.text);
                    let no = || wrong(value, &format!("is not {packets}"));
                    spec.threshold = Some(found.ok_or_else(no)?);
                }
            }
            "min_qlen_step" => spec.min_packets = Some(args.number()?),
            "classic_protection" => {
                let percent = |t: &str| t.trim_end_matches('%').parse::<f64>().ok();
                spec.classic_share = Some(args.read("a percentage", percent)? / 100.0);
            }
            "drop_on_overload" => spec.drop_on_overload = true,
            "overflow" => spec.drop_on_overload = false,
            "drop_enqueue" => idle.push((word, "classic packets are dropped when they leave here")),
            "drop_dequeue" | "split_gso" | "no_split_gso" => {}
            "l4s_ect" | "any_ect" | "no_ect" => {
                let usual = word.text == "l4s_ect";
                if !usual {
                    idle.push((word, "ECT(1) and CE go into the queue L here"));
                }
            }
            _ => return Err(unknown(word, "dualpi2")),
        }
    }
    Ok(Queue::DualPi2(spec))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the formula of tc-red(8), computed by hand for the first that fits.
    #[test]
    fn the_weight_of_red_is_that_of_tc() {
        for (burst, min, log) in [
            (55, 30_000, Some(5)),
            (25, 15_000, Some(4)),
            (31, 30_000, Some(2)),
            // Fewer packets than the threshold has room for.
            (20, 30_000, None),
        ] {
            let expected = log.map(|n| 1.0 / f64::from(1_u32 << n));
            assert_eq!(weight(burst, min, 1000), expected, "{burst} {min}");
        }
    }
}
