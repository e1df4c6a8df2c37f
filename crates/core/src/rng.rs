//! Named random streams.
//!
//! A stream's key is a hash of master seed, run number, component path and
//! purpose, so adding a flow moves nobody else's draws, and two policies under
//! one seed see the same arrivals (common random numbers). The generator is
//! xoshiro256++ (Blackman and Vigna 2019) and the distributions are our own:
//! a library's upgrade must not change a sample.

use crate::math;

/// SplitMix64's finalizer: a bijection of 64 bits that mixes well.
pub const fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A 64-bit hash of bytes (FNV-1a, then [`mix`]), stable across versions and platforms.
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    for &b in bytes {
        h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix(h)
}

/// One random stream: xoshiro256++.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    s: [u64; 4],
}

impl Rng {
    /// The stream of `purpose` in the component at `path`, for one run under one master seed.
    pub fn named(seed: u64, run: u32, path: &str, purpose: &str) -> Self {
        let key = mix(seed)
            ^ mix(u64::from(run)).rotate_left(17)
            ^ hash_bytes(path.as_bytes()).rotate_left(34)
            ^ hash_bytes(purpose.as_bytes()).rotate_left(51);
        Self::from_key(key)
    }

    /// A stream from a 64-bit key, expanded by SplitMix64 as the authors advise.
    pub fn from_key(key: u64) -> Self {
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        Self {
            s: [0, 1, 2, 3].map(|i| mix(key.wrapping_add(step.wrapping_mul(i)))),
        }
    }

    /// 64 uniform bits.
    pub fn u64(&mut self) -> u64 {
        let s = &mut self.s;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform on [0, 1) with 53 bits.
    pub fn f64(&mut self) -> f64 {
        (self.u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Whether an event of probability `p` happens: `u < p`, so 0 never and 1 always.
    pub fn chance(&mut self, p: f64) -> bool {
        self.f64() < p
    }

    /// Uniform integer in `0..n` (Lemire's multiplication; bias below 2⁻³²). `n` of 0 gives 0.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u128::from(self.u64()) * u128::from(n)) >> 64) as u32
    }

    /// Uniform on [lo, hi).
    pub fn uniform(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.f64()
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u is in (0, 1], so the logarithm is finite.
        -mean * math::ln(1.0 - self.f64())
    }

    /// Pareto with the given mean and shape `alpha` > 1: scale `mean (alpha - 1) / alpha`.
    pub fn pareto(&mut self, mean: f64, alpha: f64) -> f64 {
        let scale = mean * (alpha - 1.0) / alpha;
        scale * math::pow(1.0 - self.f64(), -1.0 / alpha)
    }

    /// Standard normal: Marsaglia's polar method, whose second value is not kept, so that a
    /// clone of the stream is all there is to the state.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (self.uniform(-1.0, 1.0), self.uniform(-1.0, 1.0));
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * (-2.0 * math::ln(square) / square).sqrt();
            }
        }
    }

    /// Log-normal with mean 1 and coefficient of variation `cv`; no draw if that is not above 0.
    pub fn lognormal(&mut self, cv: f64) -> f64 {
        if cv.is_nan() || cv <= 0.0 {
            return 1.0;
        }
        let variance = math::ln(1.0 + cv * cv);
        math::exp(variance.sqrt() * self.normal() - variance / 2.0)
    }

    /// Gamma with mean 1 and coefficient of variation `cv`, so shape 1 / cv²; no draw if `cv` is
    /// below 10⁻⁶.
    ///
    /// G. Marsaglia and W. Tsang, A simple method for generating gamma variables, ACM TOMS 26(3),
    /// 2000; a shape below 1 by the identity gamma(a) = gamma(a + 1) U^(1/a) of its section 6.
    pub fn gamma(&mut self, cv: f64) -> f64 {
        if cv.is_nan() || cv < 1e-6 {
            return 1.0;
        }
        let shape = 1.0 / (cv * cv);
        let (boost, above) = if shape < 1.0 {
            (math::pow(1.0 - self.f64(), 1.0 / shape), shape + 1.0)
        } else {
            (1.0, shape)
        };
        let d = above - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = 1.0 + c * x;
            let v = v * v * v;
            if v > 0.0 && math::ln(1.0 - self.f64()) < 0.5 * x * x + d - d * v + d * math::ln(v) {
                return d * v * boost / shape;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro_matches_the_published_sequence() {
        // Reference: state 1, 2, 3, 4 of the authors' C code.
        let mut r = Rng { s: [1, 2, 3, 4] };
        let got: Vec<u64> = (0..5).map(|_| r.u64()).collect();
        assert_eq!(
            got,
            [
                41943041,
                58720359,
                3588806011781223,
                3591011842654386,
                9228616714210784205
            ]
        );
    }

    /// Mean and variance within five standard errors; the variance's own is
    /// sqrt((kurtosis - 1) / n) of it.
    #[test]
    fn normal_lognormal_and_gamma_have_their_moments() {
        let n = 200_000;
        let moments = |draw: &mut dyn FnMut(&mut Rng) -> f64, purpose: &str| {
            let mut rng = Rng::named(1, 0, "test", purpose);
            let xs: Vec<f64> = (0..n).map(|_| draw(&mut rng)).collect();
            let mean = xs.iter().sum::<f64>() / f64::from(n);
            let square = xs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
            (mean, square / f64::from(n))
        };
        let root = f64::from(n).sqrt();
        let (mean, variance) = moments(&mut Rng::normal, "normal");
        assert!(mean.abs() < 5.0 / root, "{mean}");
        assert!(
            (variance - 1.0).abs() < 5.0 * 2_f64.sqrt() / root,
            "{variance}"
        );
        for cv in [0.2, 0.5, 1.0, 1.5] {
            let (c2, name) = (cv * cv, format!("{cv}"));
            // Kurtosis: 3 + 6 cv² for the gamma; w⁴ + 2w³ + 3w² - 3 with w = 1 + cv² for the other.
            let w: f64 = 1.0 + c2;
            let log = w * w * (w * w + 2.0 * w + 3.0) - 3.0;
            let gamma = moments(&mut |r: &mut Rng| r.gamma(cv), &name);
            let lognormal = moments(&mut |r: &mut Rng| r.lognormal(cv), &name);
            for ((mean, variance), kurtosis) in [(gamma, 3.0 + 6.0 * c2), (lognormal, log)] {
                assert!((mean - 1.0).abs() < 5.0 * cv / root, "{cv}: {mean}");
                let error = c2 * (kurtosis - 1.0).sqrt() / root;
                assert!((variance - c2).abs() < 5.0 * error, "{cv}: {variance}");
            }
        }
        assert_eq!(Rng::from_key(1).gamma(0.0), 1.0);
        assert_eq!(Rng::from_key(1).lognormal(0.0), 1.0);
    }

    #[test]
    fn splitmix_matches_the_published_sequence() {
        // SplitMix64 seeded with 1234567: first outputs of the reference code.
        let step = 0x9e37_79b9_7f4a_7c15_u64;
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
        assert_eq!(
            mix(1_234_567_u64.wrapping_add(step)),
            3_203_168_211_198_807_973
        );
    }

    #[test]
    fn streams_are_independent_of_each_other() {
        let a = Rng::named(1, 0, "flows/voice-0", "gap");
        assert_eq!(a, Rng::named(1, 0, "flows/voice-0", "gap"));
        for b in [
            Rng::named(2, 0, "flows/voice-0", "gap"),
            Rng::named(1, 1, "flows/voice-0", "gap"),
            Rng::named(1, 0, "flows/voice-1", "gap"),
            Rng::named(1, 0, "flows/voice-0", "size"),
        ] {
            assert_ne!(a, b);
        }
    }

    /// Means within five standard errors of the distribution's own.
    #[test]
    fn means_are_right() {
        let n = 200_000;
        let mut r = Rng::named(7, 0, "test", "means");
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        let se = 1.0 / f64::from(n).sqrt();
        let m = mean(&mut || r.exponential(3.0));
        assert!((m - 3.0).abs() < 5.0 * 3.0 * se, "exponential {m}");
        // Shape 3: variance = scale² alpha / ((alpha-1)² (alpha-2)) = 0.75 mean² /... = 1/3 mean².
        let m = mean(&mut || r.pareto(2.0, 3.0));
        assert!(
            (m - 2.0).abs() < 5.0 * 2.0 * (1.0_f64 / 3.0).sqrt() * se,
            "pareto {m}"
        );
        let m = mean(&mut || f64::from(r.below(10)));
        assert!(
            (m - 4.5).abs() < 5.0 * (99.0_f64 / 12.0).sqrt() * se,
            "below {m}"
        );
    }
}
