//! Round-trip time and retransmission timeout (RFC 6298), in integer picoseconds.

use spillgate_core::Dur;

use super::config::{RtoFloor, TcpConfig};
use super::retry::RetrySpec;

/// Smoothed round-trip time, its variation, and the timeout that follows.
#[derive(Clone, Debug)]
pub(super) struct Rtt {
    srtt: u64,
    var: u64,
    /// Not backed off.
    base: u64,
    min: u64,
    backoff: u8,
    /// Timeouts in a row for what is outstanding first.
    pub(super) row: u32,
}

impl Rtt {
    pub(super) fn new(cfg: &TcpConfig) -> Self {
        Self {
            srtt: 0,
            var: 0,
            base: cfg.initial_rto.as_ps(),
            min: u64::MAX,
            backoff: 0,
            row: 0,
        }
    }

    /// A measurement from a segment that was not ambiguous (Karn, RFC 6298 §3).
    #[inline(never)]
    pub(super) fn sample(&mut self, rtt: Dur, cfg: &TcpConfig) {
        let exact = rtt.as_ps();
        self.min = self.min.min(exact.max(1));
        // The clock counts ticks; below one tick reads as one.
        let g = cfg.rto_granularity.as_ps().max(1);
        let r = ((exact + g / 2) / g).max(1) * g;
        if self.srtt == 0 {
            // §2.2
            self.srtt = r;
            self.var = r / 2;
        } else {
            // §2.3: beta = 1/4 with the old SRTT first, then alpha = 1/8.
            let diff = self.srtt.abs_diff(r);
            self.var = self.var - self.var / 4 + diff / 4;
            self.srtt = self.srtt - self.srtt / 8 + r / 8;
        }
        let min = cfg.min_rto.as_ps();
        let k_var = (4 * self.var).max(g);
        // §2.3, §2.4
        self.base = match cfg.rto_floor {
            RtoFloor::Timeout => (self.srtt + k_var).max(min),
            RtoFloor::Variance => self.srtt + k_var.max(min),
        }
        .min(cfg.max_rto.as_ps().max(min));
        self.backoff = 0;
    }

    /// The timer expired: §5.5.
    pub(super) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(32);
    }

    /// After SYN was lost data begin with 3 s at least (§5.7).
    pub(super) fn after_lost_syn(&mut self, cfg: &TcpConfig) {
        if cfg.retry == RetrySpec::Exponential {
            self.base = self.base.max(Dur::from_secs(3).as_ps());
        }
        self.backoff = 0;
    }

    /// The timeout, after as many as there were in a row.
    #[inline]
    pub(super) fn rto(&self, cfg: &TcpConfig) -> Dur {
        if self.backoff == 0 {
            return Dur::from_ps(self.base);
        }
        cfg.after_silence(Dur::from_ps(self.base), self.backoff.into())
    }

    /// Smoothed; none before the first measurement.
    pub(super) fn srtt(&self) -> Option<Dur> {
        (self.srtt > 0).then_some(Dur::from_ps(self.srtt))
    }

    /// The smallest seen, unrounded; [`Dur::MAX`] before the first.
    pub(super) fn min(&self) -> Dur {
        Dur::from_ps(self.min)
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::TcpSpec;
    use super::*;

    fn cfg() -> TcpConfig {
        let mut c = TcpSpec::default().resolve().unwrap();
        c.min_rto = Dur::from_ms(1);
        c.rto_granularity = Dur::from_ps(1);
        c
    }

    /// RFC 6298 §2.2 and §2.3 by hand: 100 ms, then 180 ms.
    #[test]
    fn follows_rfc_6298() {
        let mut c = cfg();
        let mut r = Rtt::new(&c);
        assert_eq!(r.rto(&c), c.initial_rto);
        r.sample(Dur::from_ms(100), &c);
        assert_eq!(
            (r.srtt(), r.rto(&c)),
            (Some(Dur::from_ms(100)), Dur::from_ms(300))
        );
        r.sample(Dur::from_ms(180), &c);
        // var = 3/4 * 50 + 1/4 * 80 = 57.5; srtt = 7/8 * 100 + 1/8 * 180 = 110.
        assert_eq!(r.srtt(), Some(Dur::from_ms(110)));
        assert_eq!(r.rto(&c), Dur::from_ms(340));
        r.back_off();
        r.back_off();
        assert_eq!(r.rto(&c), Dur::from_ms(1360));
        (0..50).for_each(|_| r.back_off());
        assert_eq!(r.rto(&c), Dur::from_secs(60));
        c.max_rto = Dur::from_secs(64);
        assert_eq!(r.rto(&c), Dur::from_secs(64));
        c.retry = RetrySpec::Constant(Dur::from_secs(1));
        assert_eq!(r.rto(&c), Dur::from_secs(1));
        r.sample(Dur::from_ms(110), &c);
        assert!(r.rto(&c) < Dur::from_ms(400), "an answer ends the row");
    }

    /// Where the minimum applies: to the timeout, or to its variance term alone.
    #[test]
    fn two_kinds_of_floor() {
        let mut c = cfg();
        c.min_rto = Dur::from_ms(200);
        let mut r = Rtt::new(&c);
        (0..200).for_each(|_| r.sample(Dur::from_ms(100), &c));
        assert_eq!(r.rto(&c), Dur::from_ms(200));
        c.rto_floor = RtoFloor::Variance;
        r.sample(Dur::from_ms(100), &c);
        assert_eq!(r.rto(&c), Dur::from_ms(300));
    }
}
