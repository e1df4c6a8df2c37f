//! What one would change to halve a bound.

use spillgate_core::Dur;
use spillgate_core::curve::NoBound;
use spillgate_queueing::Part;

use crate::hop::Parts;
use crate::way::Way;

/// A change that alone halves a bound from end to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The step of the way at which it is made.
    pub step: usize,
    /// What is changed, and to what at most.
    pub to: Changed,
}

/// What is changed, and to what at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The burst that may come, or the limit of the queue, from so many bytes to so many.
    Bytes(u64, u64),
    /// The limit of the queue, from so many packets to so many.
    Packets(u64, u64),
    /// What else adds to the delay.
    Other(Part, Dur),
}

impl Way {
    /// The changes that halve the delay, each alone; `parts`: of each step.
    ///
    /// # Errors
    /// If an exact value is too large.
    pub fn halved(&self, parts: &[Parts]) -> Result<Vec<Change>, NoBound> {
        // Of the sum over all ports, which is no less than the bound.
        let excess = self.sum().as_ps() - self.owd().as_ps() / 2;
        let less = |time: Dur| time.as_ps().checked_sub(excess).map(Dur::from_ps);
        let mut found = Vec::new();
        for (step, (at, parts)) in self.steps.iter().zip(parts).enumerate() {
            if let Some(left) = less(at.delay) {
                let own = at.bound.own_in(parts, left)?;
                found.extend(own.map(|to| Change { step, to }));
            }
            for (part, time) in &parts.more {
                found.extend(less(*time).map(|left| Change {
                    step,
                    to: Changed::Other(*part, left),
                }));
            }
        }
        Ok(found)
    }
}
