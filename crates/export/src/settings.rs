//! Parameters in words, for notes on what a target leaves out.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};
use spillgate_queueing::spec::{AqmSpec, FanSpec, FifoSpec, WhenFull};

/// Which parameters of a part differ from their defaults, but for those `told` elsewhere, as a
/// scenario writes them: `min_th 7, ecn true`. None: an empty text.
pub(crate) fn changed<T: Serialize + Default>(spec: &T, told: &[&str]) -> String {
    let (Some(now), Some(was)) = (table(spec), table(&T::default())) else {
        return String::new();
    };
    let differ = now
        .iter()
        .filter(|(key, value)| !told.contains(&key.as_str()) && was.get(*key) != Some(value));
    let mut differ: Vec<String> = differ.map(|(key, value)| entry(key, value)).collect();
    differ.sort_unstable();
    differ.join(", ")
}

/// The same with a text before it, unless it is empty.
pub(crate) fn changed_after<T: Serialize + Default>(
    before: &str,
    spec: &T,
    told: &[&str],
) -> String {
    match changed(spec, told) {
        none if none.is_empty() => none,
        changed => format!("{before}{changed}"),
    }
}

/// A value as a scenario writes it.
pub(crate) fn shown<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value).map_or_else(|_| String::new(), |v| text(&v))
}

/// What a system without this algorithm leaves out, for a note.
pub(crate) fn no_aqm_of(system: &str, aqm: &AqmSpec) -> String {
    format!(
        "{system} has no translation of {}: the queue drops at its limit only; left out: {}",
        aqm.kind(),
        shown(aqm)
    )
}

/// What a system does that drops what finds a full queue, for a note.
pub(crate) fn drops_others(f: &FifoSpec) -> Option<String> {
    (f.full != WhenFull::Tail).then(|| {
        format!(
            "a full queue drops what arrives, not others (`full: {}`)",
            shown(&f.full)
        )
    })
}

/// What a system without this fair queue by flow does, for a note.
pub(crate) fn no_queue_of(system: &str, kind: &str) -> String {
    format!("{system} has no translation of {kind}: all flows of the class share one queue")
}

/// What no system but a cross-protect router does, for a note.
pub(crate) fn no_admission(f: &FanSpec) -> String {
    let told = [
        "limit",
        "mtu",
        "min_fair_rate",
        "max_priority_load",
        "scheduler",
    ];
    let rest = changed_after("; left out with it: ", f, &told);
    format!(
        "no admission of flows and no protected flow list: all flows are served, however low the fair rate (`min_fair_rate` {}) and high the priority load (`max_priority_load` {}){rest}",
        shown(&f.min_fair_rate),
        shown(&f.max_priority_load)
    )
}

fn table<T: Serialize>(spec: &T) -> Option<Map<String, Value>> {
    match serde_json::to_value(spec) {
        Ok(Value::Object(table)) => Some(table),
        _ => None,
    }
}

fn entry(key: &str, value: &Value) -> String {
    let value = text(value);
    match value.is_empty() {
        true => key.to_owned(),
        false => format!("{key} {value}"),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(s) => s.clone(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => match n.as_f64().filter(|_| n.is_f64()) {
            Some(n) => n.to_string(),
            None => n.to_string(),
        },
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(" "),
        // A kind with its parameters.
        Value::Object(table) if table.len() == 1 && table.values().all(Value::is_object) => table
            .iter()
            .map(|(kind, parameters)| entry(kind, parameters))
            .collect(),
        Value::Object(table) => {
            let mut text = String::new();
            for (key, value) in table {
                let before = if text.is_empty() { "" } else { ", " };
                let _ = write!(text, "{before}{}", entry(key, value));
            }
            match text.is_empty() {
                true => text,
                false => format!("({text})"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use spillgate_queueing::aqm::RedSpec;
    use spillgate_queueing::spec::{FanMechanism, RaefSpec};

    use super::*;

    #[test]
    fn what_differs_is_told() {
        assert_eq!(changed(&RedSpec::default(), &[]), "");
        let red = RedSpec {
            min_th: Some(7.0),
            ecn: true,
            ..RedSpec::default()
        };
        assert_eq!(changed(&red, &[]), "ecn true, min_th 7");
        assert_eq!(changed(&red, &["ecn"]), "min_th 7");
        let fan = FanSpec {
            mechanism: FanMechanism::Raef(RaefSpec::default()),
            ..FanSpec::default()
        };
        assert_eq!(changed(&fan, &[]), "mechanism raef (active_time 5 s)");
        assert_eq!(shown(&fan.min_fair_rate), "5 %");
    }
}
