//! `exp`, `ln`, `pow`, `cbrt` with the same bits on every platform.
//!
//! The standard library forwards to the platform's own; these come from the
//! pure-Rust `libm` crate, whose version the lock file pins.

/// eˣ.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// xʸ.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Cube root.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}
