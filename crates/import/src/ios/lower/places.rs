//! Where policies stand in a configuration, by the keys of a scenario.

use std::collections::BTreeMap;

use spillgate_scenario::import::{ClassPlaces, PolicyPlaces, Spot};

use super::super::ast::{Class, ClassMap, Config, Origin, PolicyMap};

/// The places of a policy-map.
pub(super) fn policy(map: &PolicyMap<'_>, config: &Config<'_>) -> PolicyPlaces {
    let (last, mut classes): (Vec<&Class<'_>>, Vec<_>) =
        map.classes.iter().partition(|c| c.name == "class-default");
    classes.extend(last);
    PolicyPlaces {
        spot: spot(map.origin),
        classes: classes
            .into_iter()
            .map(|c| class(c, &config.class_maps))
            .collect(),
    }
}

/// The place of a command, or of the word of it that matters, to the end of the line.
pub(crate) fn spot(origin: Origin<'_>) -> Spot {
    let text = origin.text;
    Spot {
        line: origin.line,
        column: origin.column,
        width: u32::try_from(text.chars().count()).unwrap_or(0),
    }
}

/// Where the commands of a class stand, by the keys that mean the same.
fn class(c: &Class<'_>, maps: &BTreeMap<&str, ClassMap<'_>>) -> ClassPlaces {
    let mut keys = BTreeMap::new();
    let mut put = |key: &str, origin: Option<Origin<'_>>| {
        if let Some(origin) = origin {
            keys.insert(key.to_owned(), spot(origin));
        }
    };
    put("priority", c.priority.as_ref().map(|x| x.origin));
    put("bandwidth", c.bandwidth.map(|x| x.origin));
    put("bandwidth_remaining", c.remaining.map(|x| x.origin));
    put("shape", c.shape.map(|x| x.origin));
    let police = c.police.as_ref().map(|x| x.origin);
    put("police", c.drop.or(police));
    put("queue_limit", c.queue_limit.map(|x| x.origin));
    for (dscp, limit) in &c.dscp_limits {
        put(&format!("queue_limit_dscp.{dscp}"), Some(limit.origin));
    }
    for (precedence, limit) in &c.precedence_limits {
        put(
            &format!("queue_limit_precedence.{precedence}"),
            Some(limit.origin),
        );
    }
    put("fair_queue", c.fair_queue.map(|x| x.origin));
    put("set_dscp", c.set_dscp.map(|x| x.origin));
    put("set_exp", c.set_exp.map(|x| x.origin));
    put("set_exp_imposition", c.set_exp_imposition.map(|x| x.origin));
    put("set_cos", c.set_cos.map(|x| x.origin));
    put("set_qos_group", c.set_qos_group.map(|x| x.origin));
    put("policy", c.policy.map(|x| x.origin));
    put("aqm", c.wred.origin);
    for (dscp, profile) in &c.wred.dscp {
        put(&format!("aqm.wred.dscp.{dscp}"), Some(profile.origin));
    }
    for (precedence, profile) in &c.wred.precedence {
        put(
            &format!("aqm.wred.precedence.{precedence}"),
            Some(profile.origin),
        );
    }
    put("match", maps.get(c.name).map(|m| m.origin));
    ClassPlaces {
        spot: spot(c.origin),
        keys,
    }
}
