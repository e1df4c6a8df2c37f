//! CAKE's shaper: a virtual time, without a bucket.
//!
//! A packet may leave when the virtual time has come, and moves it on by its own transmission at
//! the bandwidth. The virtual time may lag behind while packets wait, so that what was missed is
//! caught up; it does not while nothing waits, so that there are no bursts after idle times. A
//! second time, which only sent packets move, by half as much more, lets packets leave where many
//! are dropped and charged (ingress mode).

use spillgate_core::{Dur, Rate, Time};

/// The shaper of all tins.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    pub(super) rate: Option<Rate>,
    next: Time,
    failsafe: Time,
}

impl Shaper {
    pub(super) fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            next: Time::ZERO,
            failsafe: Time::ZERO,
        }
    }

    /// A packet comes, and none waits.
    pub(super) fn wakes(&mut self, now: Time) {
        if self.next < now {
            self.next = now;
            self.failsafe = now;
        }
    }

    /// From when on a packet may leave.
    #[inline]
    pub(super) fn opens(&self) -> Time {
        self.next.min(self.failsafe)
    }

    /// Charges a packet of so many bytes.
    #[inline]
    pub(super) fn charge(&mut self, bytes: u32, is_sent: bool) {
        if let Some(rate) = self.rate {
            let time = rate.tx_time(bytes);
            self.next += time;
            if is_sent {
                self.failsafe += Dur::from_ps(time.as_ps() + time.as_ps() / 2);
            }
        }
    }
}

/// How far a tin is with what its threshold grants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    pub(super) next: Time,
}

impl Schedule {
    /// A packet comes, and none waits in the tin.
    pub(super) fn wakes(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// Charges a packet of so many bytes: a tin above its threshold is at most a packet ahead.
    #[inline]
    pub(super) fn charge(&mut self, rate: Rate, bytes: u32, now: Time) {
        let time = rate.tx_time(bytes);
        if self.next < now {
            self.next += time;
        } else {
            self.next = self.next.max(now + time);
        }
    }
}
