//! Conditions on packets in words.

use crate::spec::{AclEntry, MatchSpec, OneOrMany, PoliceAction, PoliceActions, PoliceSpec};

/// Members of a list that are written out; the rest is counted.
const SHOWN: usize = 8;
/// Conditions within conditions that are written out.
const DEPTH: usize = 6;

/// A condition in words: `dscp ef and (tcp port 80 or ...)`.
pub(super) fn condition(m: &MatchSpec) -> String {
    nested(m, 0)
}

fn nested(m: &MatchSpec, depth: usize) -> String {
    if depth > DEPTH {
        return "...".to_owned();
    }
    let mut parts = Vec::new();
    values(&mut parts, "dscp", &m.dscp);
    values(&mut parts, "precedence", &m.precedence);
    values(&mut parts, "exp", &m.exp);
    values(&mut parts, "cos", &m.cos);
    values(&mut parts, "qos-group", &m.qos_group);
    values(&mut parts, "in by", &m.input);
    values(&mut parts, "from", &m.src);
    values(&mut parts, "to", &m.dst);
    values(&mut parts, "protocol", &m.protocol);
    values(&mut parts, "source port", &m.sport);
    values(&mut parts, "port", &m.dport);
    if let Some(any) = &m.any {
        parts.push(group(any, "or", depth));
    }
    if let Some(all) = &m.all {
        parts.push(group(all, "and", depth));
    }
    if let Some(not) = &m.not {
        if **not == MatchSpec::default() {
            return "nothing".to_owned();
        }
        parts.push(format!("not ({})", nested(not, depth + 1)));
    }
    if let Some(acl) = &m.acl {
        parts.push(list(acl, depth));
    }
    if parts.is_empty() {
        return "everything".to_owned();
    }
    parts.join(" and ")
}

fn values<T: ToString>(parts: &mut Vec<String>, what: &str, list: &Option<OneOrMany<T>>) {
    if let Some(OneOrMany(all)) = list {
        parts.push(format!("{what} {}", joined(all, T::to_string, ", ")));
    }
}

fn group(all: &[MatchSpec], word: &str, depth: usize) -> String {
    let separator = format!(" {word} ");
    format!("({})", joined(all, |m| nested(m, depth + 1), &separator))
}

fn list(entries: &[AclEntry], depth: usize) -> String {
    let entry = |e: &AclEntry| {
        let verb = if e.permit { "permit" } else { "deny" };
        format!("{verb} {}", nested(&e.matching, depth + 1))
    };
    format!("access list [{}]", joined(entries, entry, "; "))
}

fn joined<T>(all: &[T], show: impl Fn(&T) -> String, separator: &str) -> String {
    let mut shown: Vec<String> = all.iter().take(SHOWN).map(show).collect();
    if all.len() > SHOWN {
        shown.push(format!("{} more", all.len() - SHOWN));
    }
    shown.join(separator)
}

/// The actions of a policer on one color, as the command line names them.
fn actions(actions: &PoliceActions) -> String {
    let words = |action| match action {
        PoliceAction::Transmit => "transmit".to_owned(),
        PoliceAction::Drop => "drop".to_owned(),
        PoliceAction::SetDscp(dscp) => format!("set dscp {dscp}"),
        PoliceAction::SetExp(exp) => format!("set exp {exp}"),
        PoliceAction::SetExpImposition(exp) => format!("set exp {exp} at imposition"),
        PoliceAction::SetCos(cos) => format!("set cos {cos}"),
        PoliceAction::SetQosGroup(group) => format!("set qos-group {group}"),
    };
    actions.iter().map(words).collect::<Vec<_>>().join(" and ")
}

/// What a policer does with packets of each color, and which packets come with one.
pub(super) fn does(p: &PoliceSpec) -> String {
    let mut text = format!(
        "conform {}, exceed {}",
        actions(&p.conform),
        actions(&p.exceed)
    );
    if let Some(violate) = &p.violate {
        text.push_str(&format!(", violate {}", actions(violate)));
    }
    if let Some(color) = &p.conform_color {
        text.push_str(&format!("; may conform: {}", condition(color)));
    }
    if let Some(color) = &p.exceed_color {
        text.push_str(&format!("; may exceed: {}", condition(color)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, words: &str) {
        let m: MatchSpec = serde_json::from_str(json).unwrap();
        assert_eq!(condition(&m), words);
    }

    #[test]
    fn conditions_read_as_sentences() {
        check("{}", "everything");
        check(r#"{"not": {}}"#, "nothing");
        check(
            r#"{"dscp": ["ef", "af41"], "not": {"precedence": 3}}"#,
            "dscp ef, af41 and not (precedence 3)",
        );
        check(
            r#"{"any": [{"protocol": "udp", "dport": "16384-32767"}, {"acl": [{"permit": false, "match": {"src": "10.0.0.0/8"}}, {"permit": true, "match": {}}]}]}"#,
            "(protocol udp and port 16384-32767 or access list [deny from 10.0.0.0/8; permit everything])",
        );
        check(
            r#"{"dscp": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}"#,
            "dscp default, le, 2, 3, 4, 5, 6, 7, 2 more",
        );
    }
}
