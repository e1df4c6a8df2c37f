//! Delivery opportunities, as Mahimahi's `mm-link` uses them: the bytes that a packet leaves over
//! are used by packets that wait behind it, and lost if none waits. O(log n) for each packet.

use std::fmt;
use std::sync::Arc;

use spillgate_core::{Dur, Rate, Rng, Time, show};
use spillgate_queueing::{Reason, Service};

use super::least::least;
use super::{Server, ServerFacts, ServerReader, ServerRecipe, TraceSpec};
use spillgate_core::Problem;

/// Bytes that can leave at each opportunity.
const BYTES: u32 = 1500;

/// Times at which 1,500 bytes can leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Opportunities {
    /// Times that do not fall.
    at: Arc<[Dur]>,
    /// After which they begin again: the last of them.
    period: Dur,
}

pub(super) fn trace(
    spec: &TraceSpec,
    _: Rate,
    reader: &mut dyn ServerReader,
) -> Option<Opportunities> {
    let path = "mahimahi.file";
    let (at, name) = reader.times(path, &spec.file)?;
    let Some(period) = at.last().copied().filter(|p| !p.is_zero()) else {
        let message = match at.len() {
            0 => format!("`{name}` is empty"),
            _ => format!("`{name}` has no length: all its times are 0"),
        };
        let hint = "a Mahimahi trace has a line with a time in milliseconds for each 1500 bytes";
        reader.refuse(Problem::new(path, "", message, hint));
        return None;
    };
    spec.check_length(path, period, reader)?;
    let at = at.into();
    Some(Opportunities { at, period })
}

impl Opportunities {
    /// When an opportunity comes.
    fn time(&self, number: u64) -> Time {
        let n = self.at.len() as u64;
        let cycles = Dur::from_ps(self.period.as_ps().saturating_mul(number / n));
        Time::ZERO + cycles + self.at[(number % n) as usize]
    }

    /// The number of opportunities before `t`.
    fn number_before(&self, t: Time) -> u64 {
        let (t, period) = (t.since(Time::ZERO).as_ps(), self.period.as_ps());
        // An opportunity at the very end of a period coincides with those at 0 of the next.
        let cycles = (t / period).saturating_sub(u64::from(t > 0 && t % period == 0));
        let within = t - cycles * period;
        let i = self.at.partition_point(|a| a.as_ps() < within) as u64;
        cycles * self.at.len() as u64 + i
    }
}

impl ServerRecipe for Opportunities {
    fn build(&self, _: &dyn Fn(&str) -> Rng) -> Box<dyn Server> {
        Box::new(Sender {
            all: self.clone(),
            next: 0,
            left: BYTES,
        })
    }

    fn facts(&self) -> ServerFacts {
        ServerFacts::VARIES
    }

    /// Packets that wait use all of an opportunity; one that comes with it is too late.
    fn serves(&self) -> Result<Service, Reason> {
        let mut before = Dur::ZERO;
        let stretch = |at: &Dur| {
            let time = *at - std::mem::replace(&mut before, *at);
            (time.as_ps(), 0, BYTES.into())
        };
        let stretches: Vec<_> = self.at.iter().map(stretch).collect();
        Ok(Service::of(least(&stretches, true)?))
    }
}

impl fmt::Display for Opportunities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = self.at.len() as f64 * f64::from(BYTES) * 8.0;
        let mean = show::rough(bits / self.period.as_secs_f64(), "b/s");
        write!(f, "trace of {}, {mean} on average", self.period)
    }
}

/// What sends at opportunities.
struct Sender {
    all: Opportunities,
    /// Number of the next opportunity that is not used up, and its bytes left.
    next: u64,
    left: u32,
}

impl Server for Sender {
    /// A packet that comes with an opportunity is too late for it.
    fn begins(&mut self, now: Time, waited: bool) -> Time {
        let from = now + Dur::from_ps(u64::from(!waited));
        let number = self.all.number_before(from);
        if number > self.next {
            (self.next, self.left) = (number, BYTES);
        }
        self.all.time(self.next)
    }

    fn send(&mut self, start: Time, mut bytes: u32) -> Time {
        loop {
            let used = bytes.min(self.left);
            bytes -= used;
            self.left -= used;
            let at = self.next(start);
            if self.left == 0 {
                (self.next, self.left) = (self.next + 1, BYTES);
            }
            if bytes == 0 {
                return at;
            }
        }
    }

    /// At the next opportunity with bytes left.
    fn next(&self, end: Time) -> Time {
        self.all.time(self.next).max(end)
    }

    /// What was to come is there for others.
    fn cut(&mut self, now: Time) {
        let number = self.all.number_before(now + Dur::from_ps(1));
        (self.next, self.left) = (number, BYTES);
    }

    fn capacity(&self, from: Time, to: Time) -> f64 {
        let number = self.all.number_before(to) - self.all.number_before(from);
        number as f64 * f64::from(BYTES) * 8.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    fn trace(ms: &[u64]) -> Box<dyn Server> {
        let all = Opportunities {
            at: ms.iter().map(|ms| Dur::from_ms(*ms)).collect(),
            period: Dur::from_ms(*ms.last().unwrap()),
        };
        all.build(&|_| unreachable!())
    }

    #[test]
    fn what_an_opportunity_leaves_over_is_for_those_that_wait() {
        // One at 5, two at 7, one at 10 ms, then anew from 10 ms on.
        let mut s = trace(&[5, 7, 7, 10]);
        // A packet comes at 1 ms and leaves at 5 ms; one that waits behind it leaves at 5 ms, too.
        assert_eq!(s.begins(at(1), false), at(5));
        assert_eq!(s.begins(at(5), true), at(5));
        assert_eq!(s.send(at(5), 1000), at(5));
        assert_eq!(s.next(at(5)), at(5));
        assert_eq!(s.send(at(5), 400), at(5));
        // The third takes the 100 B that are left, and 1,400 at 7 ms.
        assert_eq!(s.send(at(5), 1500), at(7));
        assert_eq!(s.next(at(7)), at(7));
        // Nothing waits: what is left is lost, and the next packet comes at that very time.
        assert_eq!(s.begins(at(7), false), at(10));
        assert_eq!(s.begins(at(10), true), at(10));
        assert_eq!(s.send(at(10), 1500), at(10));
        assert_eq!(s.next(at(10)), at(15));
        // 4,500 B need three: at 15, 17 and 17 ms.
        assert_eq!(s.send(at(15), 4500), at(17));
        assert_eq!(s.next(at(17)), at(20));
        assert!((s.capacity(at(5), at(15)) - 4.0 * 12_000.0).abs() < 1e-6);
        assert!((s.capacity(at(5), at(16)) - 5.0 * 12_000.0).abs() < 1e-6);
    }

    #[test]
    fn opportunities_at_the_seam_of_two_periods_come_together() {
        let mut s = trace(&[0, 10]);
        assert_eq!(s.begins(at(0), false), at(10));
        assert_eq!(s.begins(at(10), true), at(10));
        assert_eq!(s.send(at(10), 3000), at(10));
        assert_eq!(s.next(at(10)), at(20));
    }

    #[test]
    fn a_cut_gives_back_what_was_to_come() {
        let mut s = trace(&[5, 7, 10]);
        assert_eq!(s.send(at(5), 4000), at(10));
        s.cut(at(6));
        assert_eq!(s.begins(at(6), false), at(7));
    }
}
