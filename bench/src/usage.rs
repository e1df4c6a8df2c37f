//! What this process has used, by the account of Linux; none elsewhere.

use std::fs::read_to_string;

/// CPU time of the main thread so far in seconds.
pub(crate) fn cpu_s() -> Option<f64> {
    // The account stands at the last change of context: make one.
    std::thread::yield_now();
    let account = read_to_string("/proc/self/schedstat").ok()?;
    let ns: u64 = account.split_whitespace().next()?.parse().ok()?;
    Some(ns as f64 / 1e9)
}

/// The largest resident memory so far in KiB.
///
/// The account that a parent gets of its child begins before the child's program does, with the
/// parent's own memory.
pub(crate) fn peak_kb() -> Option<u64> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
