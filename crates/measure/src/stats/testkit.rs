//! What tests draw.

use spillgate_core::{Rng, math};

/// A standard normal variate (Marsaglia's polar method).
pub(super) fn normal(r: &mut Rng) -> f64 {
    loop {
        let (u, v) = (r.uniform(-1.0, 1.0), r.uniform(-1.0, 1.0));
        let s = u * u + v * v;
        if s > 0.0 && s < 1.0 {
            return u * (-2.0 * math::ln(s) / s).sqrt();
        }
    }
}
