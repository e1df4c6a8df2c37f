//! Numbers and names as IOS writes them.

use spillgate_core::{Dur, Percent, Rate};

use crate::Here;
use crate::limits::in_whole;

/// Whole kbit/s; a remainder is rounded and noted.
pub(super) fn kbps(rate: Rate, what: &str, notes: &mut Here<'_>) -> u64 {
    let kbps = (rate.bps() + 500) / 1000;
    if kbps * 1000 != rate.bps() {
        notes.add(format!(
            "`{what}` is in whole kbit/s: {rate} is written as {} kb/s",
            kbps.max(1)
        ));
    }
    kbps.max(1)
}

/// A whole percentage 1..=100, if it is one.
pub(super) fn whole_percent(p: Percent) -> Option<u64> {
    let percent = p.0 * 100.0;
    let whole = (percent + 0.5) as u64;
    // One part in 10^9 is far below what a percentage with decimals differs by.
    ((1..=100).contains(&whole) && (percent - whole as f64).abs() < 1e-7).then_some(whole)
}

/// Whole milliseconds, at least 1; a remainder is rounded and noted.
pub(super) fn ms(time: Dur, what: &str, notes: &mut Here<'_>) -> u64 {
    in_whole(Dur::from_ms(1), "ms", what, time, notes)
}

/// Whole milliseconds or microseconds with their unit, where both may stand.
pub(super) fn time(time: Dur, what: &str, notes: &mut Here<'_>) -> String {
    let us = Dur::from_us(1).as_ps();
    if time.as_ps() % Dur::from_ms(1).as_ps() == 0 || time.as_ps() % us != 0 {
        return format!("{} ms", ms(time, what, notes));
    }
    format!("{} us", time.as_ps() / us)
}

/// A name as the command line takes it: quoted if it has spaces. What it cannot hold is replaced.
pub(super) fn quoted(name: &str, notes: &mut Here<'_>) -> String {
    let clean: String = name
        .chars()
        .map(|c| if c == '"' || c.is_control() { '_' } else { c })
        .collect();
    if clean != name {
        notes.add(format!("the name is written as `{clean}`"));
    }
    if clean.contains(char::is_whitespace) || clean.is_empty() {
        format!("\"{clean}\"")
    } else {
        clean
    }
}
