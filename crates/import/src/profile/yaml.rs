//! A profile's sources as a scenario that runs.

use std::fmt::Write as _;

use super::{Group, Profile};

/// A scenario with the fitted sources: one link, to be replaced, and the traffic, to be taken over.
///
/// It is text, not a serialized [`spillgate_scenario::schema::Scenario`], because its comments say
/// how well each source fits.
pub fn scenario(profile: &Profile) -> String {
    let mut out = String::new();
    let total: f64 = profile.groups.iter().filter_map(|g| g.shape.rate).sum();
    // A link that is loaded to 80 %.
    let link = (total / 0.8).max(1.0) as u64;
    let seconds = profile.length.clamp(1.0, 60.0);
    let _ = writeln!(
        out,
        "# Sources like the packets of {}, by {}. The link is only there so that this runs.",
        one_line(&profile.file),
        profile.by
    );
    let _ = write!(
        out,
        "schema_version: 1\nname: {}\ntopology:\n  nodes: [a, b]\n  links:\n    link: {{from: a, to: b, rate: {link} b/s}}\ntraffic:\n",
        quoted(&format!("Sources like {}", one_line(&profile.file)))
    );
    for group in &profile.groups {
        flow(&mut out, profile, group);
    }
    let _ = writeln!(
        out,
        "measurement: {{warmup: 0 s, duration: {seconds:.3} s, interval: {:.3} s}}",
        seconds / 50.0
    );
    out
}

fn flow(out: &mut String, profile: &Profile, group: &Group) {
    let Some(fit) = &group.fit else {
        let _ = writeln!(
            out,
            "  # {}: {} packets are too few for a source",
            one_line(&group.name),
            group.shape.packets
        );
        return;
    };
    let _ = writeln!(out, "  # {}: {}", one_line(&group.name), fit.why);
    let _ = writeln!(
        out,
        "  # rate {:+.1} % of the measured; index of dispersion measured, fitted:{}",
        (fit.check.rate - 1.0) * 100.0,
        compared(group)
    );
    // JSON is YAML, and quantities are written with their units.
    let source = serde_json::to_string(&fit.source).unwrap_or_default();
    let name = match profile.by {
        "dscp" => format!("dscp-{}", group.name),
        _ => group.name.clone(),
    };
    let count = match fit.count {
        1 => String::new(),
        n => format!(", count: {n}"),
    };
    let _ = writeln!(
        out,
        "  - flow: {{name: {}{count}, from: a, to: b, dscp: {}, source: {source}}}",
        quoted(&one_line(&name)),
        group.dscp
    );
}

/// ` 0.98, 1.02 at 1 ms;` and so on.
fn compared(group: &Group) -> String {
    let fitted = group.fit.iter().flat_map(|f| &f.check.dispersion);
    let fitted: Vec<_> = fitted.collect();
    let one = |d: &super::Dispersion| {
        let other = fitted.iter().find(|f| f.window == d.window)?;
        let ms = d.window * 1e3;
        Some(format!(
            " {:.2}, {:.2} at {ms} ms",
            d.packets, other.packets
        ))
    };
    let all: Vec<String> = group.shape.dispersion.iter().filter_map(one).collect();
    all.join(";")
}

fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

/// A JSON string is a YAML one.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}
