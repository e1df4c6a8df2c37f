//! When what may leave does: at the slots of a rate, or after a random time.

use spillgate_core::{Dur, Rng, Time};

use super::config::TcpConfig;
use super::sender::Sender;

/// Holds back what the window allows.
#[derive(Clone, Debug)]
pub(super) struct Pacing {
    /// When what is held back leaves; [`Time::MAX`]: nothing is.
    pub(super) at: Time,
    /// The slot of the next segment. With jitter the instant at which everything leaves that is
    /// allowed then.
    next: Time,
    /// Draws the times of [`TcpConfig::send_jitter`]; none where a rate sets the slots.
    jitter: Option<Rng>,
}

impl Pacing {
    /// None where segments leave as soon as they may.
    pub(super) fn new(cfg: &TcpConfig) -> Option<Box<Self>> {
        let jitter = !cfg.send_jitter.is_zero();
        let mut pacing = Self {
            at: Time::MAX,
            next: Time::ZERO,
            jitter: jitter.then(|| Rng::from_key(0)),
        };
        pacing.reset();
        (cfg.pacing || jitter).then(|| Box::new(pacing))
    }

    /// As new, with the random numbers that follow.
    pub(super) fn reset(&mut self) {
        self.at = Time::MAX;
        self.next = match self.jitter {
            Some(_) => Time::MAX,
            None => Time::ZERO,
        };
    }

    /// Draws from `rng` from now on, if it draws.
    pub(super) fn draw_from(&mut self, rng: Rng) {
        if let Some(own) = &mut self.jitter {
            *own = rng;
        }
    }

    /// What may leave does so now.
    pub(super) fn release(&mut self, now: Time) {
        self.next = now;
    }

    /// The timer of [`Pacing::at`].
    pub(super) fn expire(&mut self, now: Time) {
        if now >= self.at {
            self.at = Time::MAX;
            if self.jitter.is_some() {
                self.release(now);
            }
        }
    }

    /// Whether what is `due` waits; `rate_known`: there is a round-trip time to spread segments
    /// over.
    ///
    /// With jitter one time is drawn for all that is allowed until then, as for the delayed sends
    /// of ns-2.
    pub(super) fn holds(&mut self, now: Time, due: bool, rate_known: bool, jitter: Dur) -> bool {
        self.at = match &mut self.jitter {
            _ if !due => Time::MAX,
            None if now < self.next && rate_known => self.next,
            Some(_) if now != self.next && self.at < Time::MAX => self.at,
            Some(rng) if now != self.next => {
                now + Dur::from_secs_f64(rng.uniform(0.0, jitter.as_secs_f64()))
            }
            _ => Time::MAX,
        };
        self.at < Time::MAX
    }

    /// A segment left, and `gap` is the time of one at the rate.
    fn sent(&mut self, now: Time, gap: Dur) {
        if self.jitter.is_none() {
            self.next = now.max(self.next) + gap;
        }
    }
}

impl Sender {
    /// The next slot: the algorithm's rate, or the window per round trip with the
    /// head room of Linux, twice in slow start and 1.2 times after it.
    pub(super) fn pace(&mut self, now: Time, len: u16) {
        let rate = self.cc.pacing_rate().or_else(|| {
            let srtt = self.srtt()?.as_secs_f64();
            let cwnd = self.cc.cwnd();
            let ratio = if cwnd < self.cc.ssthresh() / 2 {
                2.0
            } else {
                1.2
            };
            Some(ratio * cwnd as f64 / srtt)
        });
        if let (Some(p), Some(rate)) = (&mut self.pacing, rate.filter(|r| *r > 0.0)) {
            p.sent(now, Dur::from_secs_f64(f64::from(len.max(1)) / rate));
        }
    }
}
