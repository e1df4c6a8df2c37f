//! How much memory a campaign may use.

use std::fs::read_to_string;

/// Bytes that the machine, or the control group that we are in, has to spare;
/// none where the system does not say (only Linux does, in `/proc` and `/sys`).
pub(crate) fn available() -> Option<u64> {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
        Some(
            line.split_whitespace()
                .nth(1)?
                .parse::<u64>()
                .ok()?
                .saturating_mul(1024),
        )
    });
    let number = |path: &str| read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|max| max.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    match (machine, group) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
