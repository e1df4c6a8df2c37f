//! A source whose packets have different receivers: who gets each is drawn anew.
//!
//! One source of independent packets per receiver would not do: two of them may send in one slot of
//! their line, whereas a source with one line sends one packet at a time. So each receiver has a
//! copy of the same source, with the same random streams, and a [`Split`] that draws the receiver
//! of every packet and keeps those of its own. Together the copies send what the source sends, each
//! packet once.

use std::sync::Arc;

use spillgate_core::Rng;

/// The shares of the receivers of a source, each above 0; they add up to 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Shares {
    /// So many receivers with the same share.
    Even(u32),
    /// By receiver: the sum of its share and of those before it. The last is 1.
    Upto(Arc<[f64]>),
}

impl Shares {
    /// Shares in proportion to weights, all above 0 and finite.
    pub fn of(weights: &[f64]) -> Self {
        if weights.iter().all(|w| *w == weights[0]) {
            return Self::Even(weights.len() as u32);
        }
        let total: f64 = weights.iter().sum();
        let mut sum = 0.0;
        let mut upto: Vec<f64> = weights
            .iter()
            .map(|w| {
                sum += w / total;
                sum
            })
            .collect();
        // Rounding must leave nothing to nobody.
        if let Some(last) = upto.last_mut() {
            *last = 1.0;
        }
        Self::Upto(upto.into())
    }

    /// How many receivers there are.
    pub fn receivers(&self) -> u32 {
        match self {
            Self::Even(n) => *n,
            Self::Upto(upto) => upto.len() as u32,
        }
    }

    /// The share of a receiver, 0 to 1.
    pub fn share(&self, receiver: u32) -> f64 {
        match self {
            Self::Even(n) => 1.0 / f64::from(*n),
            Self::Upto(upto) => {
                let at = receiver as usize;
                upto[at] - at.checked_sub(1).map_or(0.0, |before| upto[before])
            }
        }
    }

    /// Draws a receiver.
    #[inline]
    fn draw(&self, rng: &mut Rng) -> u32 {
        match self {
            Self::Even(n) => rng.below(*n),
            Self::Upto(upto) => {
                let u = rng.f64();
                upto.partition_point(|sum| *sum <= u) as u32
            }
        }
    }
}

/// Which packets of a source are for one of its receivers.
#[derive(Clone, Debug)]
pub struct Split {
    shares: Shares,
    own: u32,
    rng: Rng,
}

impl Split {
    /// Those for receiver `own` of `shares`. All receivers of a source need a stream with the same
    /// draws.
    pub fn new(shares: Shares, own: u32, rng: Rng) -> Self {
        Self { shares, own, rng }
    }

    /// Whether the next packet of the source is for this receiver. To be asked for each.
    #[inline]
    pub fn is_own(&mut self) -> bool {
        self.shares.draw(&mut self.rng) == self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each packet has one receiver, and those come up as often as their shares say: within 4.5
    /// standard deviations of a binomial, which one of 9 leaves with a probability of 6e-5.
    #[test]
    fn each_packet_has_one_receiver() {
        for weights in [vec![1.0; 4], vec![2.0, 1.0], vec![4.0, 2.0, 1.0]] {
            let shares = Shares::of(&weights);
            let total: f64 = weights.iter().sum();
            let split = |own| Split::new(shares.clone(), own, Rng::from_key(7));
            let mut all: Vec<Split> = (0..shares.receivers()).map(split).collect();
            let mut got = vec![0_u32; all.len()];
            let packets = 100_000;
            for _ in 0..packets {
                let own: Vec<usize> = (0..all.len()).filter(|k| all[*k].is_own()).collect();
                assert_eq!(own.len(), 1);
                got[own[0]] += 1;
            }
            for (k, (got, weight)) in got.iter().zip(&weights).enumerate() {
                let p = weight / total;
                assert!((shares.share(k as u32) - p).abs() < 1e-12);
                let sd = (f64::from(packets) * p * (1.0 - p)).sqrt();
                let off = f64::from(*got) - f64::from(packets) * p;
                assert!(off.abs() < 4.5 * sd, "{weights:?}: {got}");
            }
        }
    }
}
