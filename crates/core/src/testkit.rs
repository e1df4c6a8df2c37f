//! What tests of every crate share.

/// How many times as many cases, or as long runs, as usual: 1, or what `SPILLGATE_LONG` says.
///
/// # Panics
///
/// If the variable is set to what is no number.
#[must_use]
pub fn effort() -> u32 {
    std::env::var("SPILLGATE_LONG").map_or(1, |n| n.parse().expect("SPILLGATE_LONG is a number"))
}
