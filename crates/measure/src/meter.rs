//! What is counted of a flow.

use spillgate_core::{DropReason, Dur, Ecn, Packet, Time};
use spillgate_voice::Listener;

use crate::table::Scope;
use crate::{Histogram, Jitter, Measures, Metric, Place, Unknown, Volume};

/// Counters, delays and jitter of a flow, or of the flows of a class.
///
/// Bytes are those of IP packets. A packet that is sent within the measured period is counted then,
/// and once more on being received or lost; what is neither is still on its way
/// ([`FlowMeter::unresolved`]). What arrives within the period is counted whenever it was sent
/// ([`FlowMeter::on_arrived`]).
#[derive(Clone, Debug)]
pub struct FlowMeter {
    /// Packets that the source sent.
    pub sent_packets: u64,
    /// What reached the destination within the period.
    pub arrived: Volume,
    /// Bytes that the source sent.
    pub sent_bytes: u64,
    /// Lost packets.
    pub lost: Losses,
    /// Received packets with congestion experienced (CE, RFC 3168).
    pub marks_ce: u64,
    /// One-way delays.
    pub delay: Histogram,
    /// RFC 3550 jitter.
    pub jitter: Jitter,
    /// Who listens, if the flow carries speech.
    pub voice: Option<Box<Listener>>,
}

impl FlowMeter {
    /// A meter at zero whose delays have 2^`bits` buckets per octave (3..=10; 5 is off by 3 % at
    /// most and takes about 1 kB for delays within a factor of 16).
    pub fn new(bits: u8) -> Self {
        Self {
            sent_packets: 0,
            arrived: Volume::default(),
            sent_bytes: 0,
            lost: Losses::default(),
            marks_ce: 0,
            delay: Histogram::new(bits),
            jitter: Jitter::new(),
            voice: None,
        }
    }

    /// The source sent an IP packet of `len` bytes.
    #[inline]
    pub fn on_sent(&mut self, len: impl Into<u64>) {
        self.sent_packets += 1;
        self.sent_bytes += len.into();
    }

    /// So much of an IP packet reached the destination within the period.
    #[inline]
    pub fn on_arrived(&mut self, volume: Volume) {
        self.arrived += volume;
    }

    /// The destination received `packet`, which was sent within the period, at `now`.
    #[inline]
    pub fn on_received(&mut self, packet: &Packet, now: Time) {
        if packet.ecn == Ecn::Ce {
            self.marks_ce += 1;
        }
        self.delay.record(now.since(packet.sent));
        self.jitter.record(packet.sent, now);
        if let Some(voice) = &mut self.voice {
            voice.on_received(packet.seq, packet.sent, now);
        }
    }

    /// A packet was lost.
    #[inline]
    pub fn on_lost(&mut self, reason: DropReason) {
        self.lost.count(reason);
    }

    /// Packets that reached the destination: each has a delay.
    pub fn received_packets(&self) -> u64 {
        self.delay.count()
    }

    /// Lost packets for whatever reason.
    pub fn lost_packets(&self) -> u64 {
        self.lost.total()
    }

    /// Packets received or lost.
    pub fn resolved(&self) -> u64 {
        self.received_packets() + self.lost_packets()
    }

    /// Packets neither received nor lost.
    pub fn unresolved(&self) -> u64 {
        self.sent_packets
            .saturating_sub(self.received_packets())
            .saturating_sub(self.lost_packets())
    }

    /// Takes in the counts of another flow, for the figures of a class. Jitter
    /// becomes the mean over the packets of both ([`Jitter::merge`]). Who listens hears one flow:
    /// `voice` stays as it is.
    pub fn merge(&mut self, other: &Self) {
        self.sent_packets += other.sent_packets;
        self.sent_bytes += other.sent_bytes;
        self.arrived += other.arrived;
        self.lost.merge(&other.lost);
        self.marks_ce += other.marks_ce;
        self.delay.merge(&other.delay);
        self.jitter.merge(&other.jitter);
    }

    /// Puts what was counted within `period`. What is still on its way has been there for `least`
    /// at least: values that depend on it have bounds.
    pub fn measure(&self, period: Dur, least: Dur, out: &mut Place<'_>) {
        let (delay, open) = (&self.delay, self.unresolved());
        let unknown = Unknown {
            open,
            failed: 0,
            least,
        };
        let if_open = |bounds: &dyn Fn() -> Option<(f64, f64)>| match open {
            0 => None,
            _ => bounds(),
        };
        let quantile = |q| if_open(&|| unknown.quantile(delay, q));
        let (sent, lost) = (self.sent_packets as f64, self.lost_packets());
        let rate = self.sent_bytes as f64 * 8.0 / period.as_secs_f64();
        out.put(Metric::Offered, rate);
        out.put(Metric::Throughput, self.arrived.rate(period));
        let share = |lost: u64| lost as f64 / sent;
        let bounds = if_open(&|| Some((share(lost), share(lost + open))));
        out.put_within(Metric::LossRatio, share(lost), bounds);
        out.put(Metric::PacketsSent, self.sent_packets);
        let and_more = |n: u64| if_open(&|| Some((n as f64, (n + open) as f64)));
        let received = self.received_packets();
        out.put_within(Metric::PacketsReceived, received, and_more(received));
        out.put(Metric::Unresolved, open);
        out.put_drops(&self.lost);
        out.put_within(Metric::MarksCe, self.marks_ce, and_more(self.marks_ce));
        let mean = if_open(&|| unknown.mean(delay));
        out.put_within(Metric::OwdMean, delay.mean(), mean);
        let min = if_open(&|| {
            let min = delay.min()?;
            Some((min.min(least).as_secs_f64(), min.as_secs_f64()))
        });
        out.put_within(Metric::OwdMin, delay.quantile(0.0), min);
        for (metric, q) in [
            (Metric::OwdP50, 0.5),
            (Metric::OwdP95, 0.95),
            (Metric::OwdP99, 0.99),
            (Metric::OwdP999, 0.999),
        ] {
            out.put_within(metric, delay.quantile(q), quantile(q));
        }
        let max = quantile(1.0).map(|(low, _)| (low, f64::INFINITY));
        out.put_within(Metric::OwdMax, delay.quantile(1.0), max);
        // A packet that takes as long as the one before lets the filter of RFC 3550 decay; more it
        // cannot.
        let jitter = if_open(&|| {
            let (known, n) = (self.jitter.value()?, received as f64);
            Some((known * n / (n + open as f64), f64::INFINITY))
        });
        out.put_within(Metric::Jitter, self.jitter.value(), jitter);
        for (metric, q) in [(Metric::Pdv, 0.999), (Metric::PdvP99999, 0.99999)] {
            let beyond = delay.quantile(q).zip(delay.quantile(0.0));
            let bounds = quantile(q)
                .zip(min)
                .map(|((low, high), (least, most))| ((low - most).max(0.0), high - least));
            out.put_within(metric, beyond.map(|(high, low)| high - low), bounds);
        }
    }

    /// Puts what was counted of packets by the code point with which they arrived or were lost:
    /// what was sent with it is not known.
    pub fn measure_marked(&self, period: Dur, out: &mut Place<'_>) {
        let (lost, delay) = (self.lost_packets(), &self.delay);
        out.put(Metric::Throughput, self.arrived.rate(period));
        out.put(Metric::PacketsReceived, self.received_packets());
        out.put(Metric::PacketsLost, lost);
        out.put(Metric::LossRatio, lost as f64 / self.resolved() as f64);
        out.put(Metric::OwdMean, delay.mean());
        out.put(Metric::OwdP50, delay.quantile(0.5));
        out.put(Metric::OwdP95, delay.quantile(0.95));
        out.put(Metric::OwdP99, delay.quantile(0.99));
        out.put(Metric::OwdP999, delay.quantile(0.999));
        out.put(Metric::OwdMax, delay.quantile(1.0));
    }

    /// Those of [`FlowMeter::measure_marked`].
    pub fn marked_metrics() -> Vec<Metric> {
        let mut out = Measures::names();
        let of = &mut out.of(Scope::ClassDscp, || "");
        Self::new(5).measure_marked(Dur::from_secs(1), of);
        out.layout.keys.iter().map(|k| k.metric).collect()
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory_bytes(&self) -> usize {
        let lost = self.lost.0.as_ref().map_or(0, |_| size_of::<Counts>());
        size_of::<Self>() - size_of::<Histogram>() + self.delay.memory_bytes() + lost
    }
}

/// Lost packets by reason. Most flows of a large network lose none, or none yet: the counts take
/// memory from the first loss on.
#[derive(Clone, Debug, Default)]
pub struct Losses(Option<Box<Counts>>);

#[derive(Clone, Debug, Default)]
struct Counts {
    by_reason: [u64; DropReason::ALL.len()],
    outside: u64,
}

impl Losses {
    /// Counts one in the measured period.
    #[inline]
    pub fn count(&mut self, reason: DropReason) {
        self.0.get_or_insert_default().by_reason[reason.index()] += 1;
    }

    /// Counts one before the measured period or after it.
    #[inline]
    pub fn count_outside(&mut self) {
        self.0.get_or_insert_default().outside += 1;
    }

    /// Those for one reason in the measured period.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0.as_ref().map_or(0, |c| c.by_reason[reason.index()])
    }

    /// All of them in the measured period.
    pub fn total(&self) -> u64 {
        self.0.as_ref().map_or(0, |c| c.by_reason.iter().sum())
    }

    /// Those before the measured period and after it.
    pub fn outside(&self) -> u64 {
        self.0.as_ref().map_or(0, |c| c.outside)
    }

    /// Takes in those of another flow.
    pub fn merge(&mut self, other: &Self) {
        let Some(more) = &other.0 else { return };
        let all = self.0.get_or_insert_default();
        for (a, b) in all.by_reason.iter_mut().zip(&more.by_reason) {
            *a += b;
        }
        all.outside += more.outside;
    }
}

// Ten thousand flows count.
const _: () = assert!(size_of::<FlowMeter>() <= 160);

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::Rng;

    fn packet(sent: Time, len: u16, ecn: Ecn) -> Packet {
        Packet {
            sent,
            ecn,
            ..Packet::new(0, 0, len)
        }
    }

    #[test]
    fn counts_every_fate() {
        let mut m = FlowMeter::new(5);
        let t = |ms| Time::ZERO + Dur::from_ms(ms);
        for len in [100_u16, 200, 300, 400] {
            m.on_sent(len);
        }
        m.on_received(&packet(t(1), 100, Ecn::Ce), t(4));
        m.on_received(&packet(t(2), 300, Ecn::Ect0), t(6));
        m.on_arrived(Volume::of(400));
        m.on_lost(DropReason::Policer);
        assert_eq!((m.sent_packets, m.sent_bytes), (4, 1_000));
        assert_eq!((m.received_packets(), m.arrived.bytes()), (2, 400.0));
        assert_eq!((m.marks_ce, m.lost_packets(), m.unresolved()), (1, 1, 1));
        assert_eq!(m.lost.of(DropReason::Policer), 1);
        assert_eq!(m.delay.min(), Some(Dur::from_ms(3)));
        assert_eq!(m.delay.max(), Some(Dur::from_ms(4)));
        // |D| = 1 ms.
        assert_eq!(m.jitter.value(), Some(0.001 / 16.0));

        m.lost.count_outside();
        let mut class = FlowMeter::new(5);
        class.merge(&m);
        class.merge(&m);
        assert_eq!((class.sent_bytes, class.unresolved()), (2_000, 2));
        assert_eq!((class.lost.total(), class.lost.outside()), (2, 2));
        assert_eq!(class.delay.count(), 4);
        assert_eq!(class.jitter.value(), m.jitter.value());
    }

    #[test]
    fn puts_what_it_counted() {
        let mut m = FlowMeter::new(10);
        let second = Dur::from_secs(1);
        let get = |m: &FlowMeter, metric| {
            let mut all = Measures::all();
            m.measure(second * 2, second, &mut all.of(Scope::Flow, || "f"));
            let at = all.layout.position(Scope::Flow, "f", metric);
            at.map_or(f64::INFINITY, |at| all.values[at])
        };
        assert!(get(&m, Metric::LossRatio).is_nan());
        assert!(get(&m, Metric::OwdMean).is_nan());
        assert!(get(&m, Metric::Pdv).is_nan());
        assert_eq!(get(&m, Metric::Throughput), 0.0);
        for ms in [1_u64, 3] {
            m.on_sent(1_000_u16);
            let p = Packet::new(0, 0, 1_000);
            m.on_received(&p, Time::ZERO + Dur::from_ms(ms));
            m.on_arrived(Volume::of(1_000));
        }
        m.on_sent(500_u16);
        m.on_lost(DropReason::Early);
        assert_eq!(get(&m, Metric::Offered), 10_000.0);
        assert_eq!(get(&m, Metric::Throughput), 8_000.0);
        assert_eq!(get(&m, Metric::LossRatio), 1.0 / 3.0);
        assert_eq!(get(&m, Metric::DropsEarly), 1.0);
        assert_eq!(get(&m, Metric::OwdMean), 0.002);
        assert_eq!(get(&m, Metric::Pdv), 0.003 - 0.001);
        assert_eq!(get(&m, Metric::Unresolved), 0.0);
        // 990 of 1000 delays at 1 ms, the others at 9 ms: only the 99.9th percentile sees them.
        let mut spread = FlowMeter::new(10);
        for i in 0..1_000 {
            let ms = if i % 100 == 0 { 9 } else { 1 };
            spread.delay.record(Dur::from_ms(ms));
        }
        // Off by a bucket's width at most: 1/1024.
        let near = |metric, want: f64| (get(&spread, metric) - want).abs() <= want / 1024.0;
        assert!(near(Metric::OwdP99, 0.001) && near(Metric::OwdP999, 0.009));
        assert!((get(&spread, Metric::Pdv) - 0.008).abs() <= 0.009 / 1024.0);
    }

    #[test]
    fn lost_and_unresolved_packets_bound_the_loss() {
        let mut m = FlowMeter::new(10);
        for k in 0..10_u64 {
            m.on_sent(100_u16);
            let packet = Packet::new(0, 0, 100);
            match k {
                0..5 => m.on_received(&packet, Time::ZERO + Dur::from_ms(10 + k)),
                5 => m.on_lost(DropReason::Tail),
                _ => {}
            }
        }
        let mut all = Measures::all();
        let second = Dur::from_secs(1);
        m.measure(second, second, &mut all.of(Scope::Flow, || "f"));
        let of = |metric| {
            let at = all.layout.position(Scope::Flow, "f", metric)?;
            let found = all.bounds.iter().find(|b| b.at as usize == at)?;
            Some((found.low, found.high))
        };
        assert_eq!(of(Metric::LossRatio), Some((0.1, 0.5)));
        assert_eq!(of(Metric::PacketsReceived), Some((5.0, 9.0)));
        // 10 to 14 ms are known of nine: the median of nine is the fifth, of five the third.
        let (low, high) = of(Metric::OwdP50).unwrap();
        assert!((low - 0.012).abs() < 1e-5 && (high - 0.014).abs() < 1e-5);
        let (low, high) = of(Metric::OwdP95).unwrap();
        assert!((low - 0.014).abs() < 1e-5 && high.is_infinite());
        assert_eq!(of(Metric::OwdMean).unwrap().1, f64::INFINITY);
        assert_eq!(of(Metric::Throughput), None);
    }

    #[test]
    fn ten_thousand_flows_fit() {
        // 1.5 kB a flow with delays within a factor of 16; 10 000 flows in 15 MB.
        let mut m = FlowMeter::new(5);
        let mut r = Rng::named(1, 0, "test", "delay");
        for _ in 0..10_000 {
            let delay = Dur::from_ps(1_100_000_000 + r.u64() % 15_000_000_000);
            m.on_received(&packet(Time::ZERO, 1500, Ecn::NotEct), Time::ZERO + delay);
        }
        assert!(m.memory_bytes() <= 1_536, "{}", m.memory_bytes());
    }
}
