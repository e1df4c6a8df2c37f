//! The receiver of a call: which packets come in time to be played.
//!
//! A packet sent at `t` is played at `t + p`, p being the playout delay of its
//! talk-spurt. It is missing if it was lost or arrives later than that. At the
//! beginning of each spurt, and each second of one that goes on (ITU-T P.59:
//! spurts last 1.004 s on average), p is chosen anew:
//!
//! * a fixed buffer of B: `p = m + B`, m being the smallest delay so far;
//! * an adaptive one: `p = d + max(b v, least)`, at most `m + most`, where d and v are running
//!   means of the delay n and of its deviation, `d <- a d + (1 - a) n`,
//!   `v <- a v + (1 - a) |d - n|`: Ramjee, Kurose, Towsley and Schulzrinne, "Adaptive playout
//!   mechanisms for packetized audio applications in wide-area networks", INFOCOM 1994,
//!   algorithm 1, with a = 0.998002 and b = 4.
//!
//! A spurt begins where the source has been silent: where it took more than
//! twice the packetization to send a packet, those that were lost counted.
//!
//! Sender's and receiver's clocks are one. Packets may overtake each other: the
//! fate of the last 64 is open; what comes after 64 later ones is late.
//!
//! Cost: O(1) for a packet, some ten operations, 150 bytes for a call.

use spillgate_core::{Dur, Time};

/// A de-jitter buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Buffer {
    /// The same room all the time, beyond the smallest delay.
    Fixed(Dur),
    /// Follows mean and deviation of the delay.
    Adaptive {
        /// Room at the start of the call.
        initial: Dur,
        /// Least room beyond the mean delay.
        least: Dur,
        /// Most room beyond the smallest delay.
        most: Dur,
        /// Weight of the past in the running means, a, within 0..1.
        memory: f64,
        /// How many deviations of room, b.
        deviations: f64,
    },
}

/// How long a spurt may be before the playout delay is chosen anew.
const SPURT: Dur = Dur::from_secs(1);
/// Packets whose fate is open.
const OPEN: u32 = u64::BITS;

/// What reaches the ear, packet by packet.
#[derive(Clone, Debug)]
pub struct Listener {
    buffer: Buffer,
    /// Sending a packet takes this long at most while somebody talks.
    pause: Dur,
    /// Number of the first packet that counts.
    first: u32,
    /// Number after the highest that has arrived.
    next: u32,
    /// Bit i: the packet i before the last was played.
    played: u64,
    begun: bool,
    /// Whether the last packet whose fate is decided is missing.
    missing_now: bool,
    missing: u64,
    bursts: u64,
    late: u64,
    /// Packets played, and the sum of their playout delays in ps.
    heard: u64,
    playout_sum: u128,
    /// Playout delay of this spurt, and until when it holds.
    playout: Dur,
    spurt_end: Time,
    last_sent: Time,
    smallest: Dur,
    /// Running means in ps.
    delay: f64,
    deviation: f64,
}

/// What a listener has heard of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// Packets whose fate is known.
    pub packets: u64,
    /// Those that were lost or came too late.
    pub missing: u64,
    /// Those that arrived too late.
    pub late: u64,
    /// Runs of missing packets.
    pub bursts: u64,
    /// Mean playout delay of those that were played, in seconds; none if none was.
    pub playout: Option<f64>,
}

impl Heard {
    /// Share of the packets that are missing; of no packet NaN.
    pub fn loss(&self) -> f64 {
        self.missing as f64 / self.packets as f64
    }

    /// Mean length of the bursts over the `1 / (1 - loss)` of independent losses: BurstR of G.107
    /// (3.5), within its range of 1 to 8; 1 without loss.
    pub fn burst_ratio(&self) -> f64 {
        if self.bursts == 0 {
            return 1.0;
        }
        let mean = self.missing as f64 / self.bursts as f64;
        (mean * (1.0 - self.loss())).clamp(1.0, 8.0)
    }
}

impl Listener {
    /// A listener before the call; a packet holds `packetization` of speech.
    pub fn new(buffer: Buffer, packetization: Dur) -> Self {
        Self {
            buffer,
            pause: packetization + packetization,
            first: 0,
            next: 0,
            played: 0,
            begun: false,
            missing_now: false,
            missing: 0,
            bursts: 0,
            late: 0,
            heard: 0,
            playout_sum: 0,
            playout: Dur::ZERO,
            spurt_end: Time::ZERO,
            last_sent: Time::ZERO,
            smallest: Dur::MAX,
            delay: 0.0,
            deviation: 0.0,
        }
    }

    /// The first packet that counts is number `seq` of the flow.
    pub fn begin(&mut self, seq: u32) {
        self.first = seq;
        self.next = seq;
    }

    /// Packet `seq`, sent at `sent`, arrives at `now`. Packets that do not count must not come.
    #[inline]
    pub fn on_received(&mut self, seq: u32, sent: Time, now: Time) {
        let delay = now.since(sent);
        self.learn(delay);
        let ahead = seq.wrapping_sub(self.next);
        // Numbers behind `next` have wrapped to the upper half.
        if ahead < 1 << 31 {
            let steps = u64::from(ahead) + 1;
            let gap = sent.since(self.last_sent).as_ps();
            if !self.begun
                || gap > self.pause.as_ps().saturating_mul(steps)
                || sent >= self.spurt_end
            {
                self.begin_spurt(sent);
            }
            self.last_sent = sent;
            self.shift(ahead);
            self.next = seq.wrapping_add(1);
        }
        let in_time = delay <= self.playout;
        let behind = self.next.wrapping_sub(seq).wrapping_sub(1);
        if in_time && behind < OPEN {
            self.played |= 1 << behind;
            self.heard += 1;
            self.playout_sum += u128::from(self.playout.as_ps());
        } else {
            self.late += 1;
        }
    }

    fn learn(&mut self, delay: Dur) {
        self.smallest = self.smallest.min(delay);
        let Buffer::Adaptive {
            initial,
            memory,
            deviations,
            ..
        } = self.buffer
        else {
            return;
        };
        let n = delay.as_ps() as f64;
        if self.begun {
            self.delay = memory * self.delay + (1.0 - memory) * n;
            let off = (self.delay - n).abs();
            self.deviation = memory * self.deviation + (1.0 - memory) * off;
        } else {
            self.delay = n;
            self.deviation = initial.as_ps() as f64 / deviations;
        }
    }

    fn begin_spurt(&mut self, sent: Time) {
        self.begun = true;
        self.spurt_end = sent + SPURT;
        self.playout = match self.buffer {
            Buffer::Fixed(room) => self.smallest.saturating_add(room),
            Buffer::Adaptive {
                least,
                most,
                deviations,
                ..
            } => {
                let room = (deviations * self.deviation).max(least.as_ps() as f64);
                Dur::from_ps((self.delay + room) as u64).min(self.smallest.saturating_add(most))
            }
        };
    }

    /// Decides the fate of what falls out of the open 64 when a packet comes that is `ahead`
    /// beyond the next.
    fn shift(&mut self, ahead: u32) {
        let open = self.next.wrapping_sub(self.first).min(OPEN);
        let steps = u64::from(ahead) + 1;
        // Decided: those of the open ones that the shift moves out, and what it jumps over.
        let out = (u64::from(open) + steps).saturating_sub(u64::from(OPEN));
        let known = out.min(u64::from(open)) as u32;
        for i in 0..known {
            let played = self.played >> (open - 1 - i) & 1 == 1;
            self.decide(played, 1);
        }
        self.decide(false, out - u64::from(known));
        self.played = if steps >= u64::from(OPEN) {
            0
        } else {
            self.played << steps
        };
    }

    fn decide(&mut self, played: bool, n: u64) {
        if n == 0 {
            return;
        }
        if !played {
            self.missing += n;
            self.bursts += u64::from(!self.missing_now);
        }
        self.missing_now = !played;
    }

    /// What was heard when `packets` of the call have arrived or are lost. Those between others
    /// that have arrived are missing, whatever has become of them.
    pub fn heard(&self, packets: u64) -> Heard {
        let mut end = self.clone();
        let seen = self.next.wrapping_sub(self.first);
        let open = seen.min(OPEN);
        for i in (0..open).rev() {
            end.decide(self.played >> i & 1 == 1, 1);
        }
        // Lost after the last that arrived.
        end.decide(false, packets.saturating_sub(u64::from(seen)));
        Heard {
            packets: packets.max(seen.into()),
            missing: end.missing,
            late: self.late,
            bursts: end.bursts,
            playout: (self.heard > 0).then(|| self.playout_sum as f64 / self.heard as f64 / 1e12),
        }
    }
}

#[cfg(test)]
mod tests;
