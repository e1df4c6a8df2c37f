//! What is counted of a flow.

use spillgate_core::{DropReason, Ecn, Packet, Time};

use spillgate_voice::Listener;

use crate::{Histogram, Jitter, Volume};

/// Counters, delays and jitter of a flow, or of the flows of a class.
///
/// Bytes are those of IP packets. A packet that is sent within the measured period is counted then, and once
/// more on being received or lost; what is neither is still on its way
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
    use spillgate_core::{Dur, Rng};

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
