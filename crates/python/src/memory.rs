//! How much memory a campaign may use.

use std::fs::read_to_string;

/// Bytes that the machine, or the control group that we are in, has to spare;
/// none where the system does not say (only Linux does, in `/proc` and `/sys`).
pub(crate) fn available() -> Option<u64> {
    let machine = read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| field(&text, "MemAvailable:"))
        .map(|kib| kib.saturating_mul(1024));
    match (machine, group()) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// What the control group's limit leaves. Its account includes files that the kernel keeps in
/// memory and gives up when memory is wanted: those are to spare.
fn group() -> Option<u64> {
    let read = |file: &str| read_to_string(format!("/sys/fs/cgroup/{file}")).ok();
    let number = |file: &str| read(file)?.trim().parse::<u64>().ok();
    let stat = read("memory.stat").unwrap_or_default();
    let files = ["inactive_file", "active_file"]
        .iter()
        .filter_map(|name| field(&stat, name))
        .sum();
    let used = number("memory.current").unwrap_or(0).saturating_sub(files);
    Some(number("memory.max")?.saturating_sub(used))
}

/// The number after `name` in a text of lines `name number ...`.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .map(str::split_whitespace)
        .find_map(|mut words| (words.next()? == name).then(|| words.next()?.parse().ok())?)
}
