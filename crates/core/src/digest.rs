//! The 128-bit fingerprint of an event stream.

use crate::rng::mix;

/// An order-sensitive digest of a sequence of words. Not cryptographic: it
/// tells whether two runs did the same things in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    a: u64,
    b: u64,
    n: u64,
}

impl Default for Digest {
    fn default() -> Self {
        Self {
            a: 0x243f_6a88_85a3_08d3,
            b: 0x1319_8a2e_0370_7344,
            n: 0,
        }
    }
}

impl Digest {
    /// Takes in one word.
    pub fn word(&mut self, w: u64) {
        self.a = (self.a ^ w)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
        self.b = (self.b ^ self.a)
            .wrapping_mul(0xd6e8_feb8_6659_fd93)
            .rotate_left(37);
        self.n = self.n.wrapping_add(1);
    }

    /// The fingerprint of all words so far.
    pub fn value(&self) -> u128 {
        let hi = mix(self.a ^ mix(self.n));
        let lo = mix(self.b ^ hi);
        u128::from(hi) << 64 | u128::from(lo)
    }

    /// [`Digest::value`] as 32 hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:032x}", self.value())
    }
}

/// A digest of a set of facts, each a place in time and what happened there.
///
/// The order in which they are told does not matter, so that a simulator may work out ahead what
/// it knows already: time is part of every fact, and what happens in another order at one place
/// happens at other times. Not cryptographic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    a: u64,
    b: u64,
}

impl Facts {
    /// Takes in that `what` happened at `place`, a hash of time and component.
    #[inline]
    pub fn fact(&mut self, place: u64, what: u64) {
        let product =
            u128::from(place ^ 0x243f_6a88_85a3_08d3) * u128::from(what ^ 0x1319_8a2e_0370_7344);
        let h = product as u64 ^ (product >> 64) as u64;
        self.a = self.a.wrapping_add(h);
        self.b = self.b.wrapping_add(
            (h ^ place.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (h >> 29),
        );
    }

    /// The fingerprint of all facts so far as 32 hexadecimal digits; who tells them knows their
    /// `number`.
    pub fn hex(&self, number: u64) -> String {
        let mut all = Digest::default();
        [self.a, self.b, number].iter().for_each(|w| all.word(*w));
        all.hex()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_length_matter() {
        let of = |words: &[u64]| {
            let mut d = Digest::default();
            words.iter().for_each(|w| d.word(*w));
            d.value()
        };
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        assert_eq!(of(&[1, 2, 3]), of(&[1, 2, 3]));
    }

    #[test]
    fn facts_count_without_order() {
        let of = |facts: &[(u64, u64)]| {
            let mut d = Facts::default();
            facts.iter().for_each(|f| d.fact(f.0, f.1));
            d.hex(facts.len() as u64)
        };
        assert_eq!(of(&[(1, 2), (3, 4)]), of(&[(3, 4), (1, 2)]));
        // Exchanged, changed, repeated and missing facts show.
        assert_ne!(of(&[(1, 2), (3, 4)]), of(&[(1, 4), (3, 2)]));
        assert_ne!(of(&[(1, 2), (3, 4)]), of(&[(1, 2), (3, 5)]));
        assert_ne!(of(&[(1, 2)]), of(&[(1, 2), (1, 2)]));
        assert_ne!(of(&[(1, 2)]), of(&[]));
    }
}
