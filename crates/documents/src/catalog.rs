//! What can be named, and what it is called.

use serde_json::Value;
use spillgate_core::{DropReason, Kind};
use spillgate_endpoints::{cc::CcSpec, source};
use spillgate_measure::sla::Verdict;
use spillgate_measure::table::{Better, Metric, Scope};
use spillgate_measure::{Needs, Sampled};
use spillgate_nodes::{NodePlan, atm::ContractSpec, switch::matcher::MatchingSpec};
use spillgate_output::Effect;

/// Everything that can be named in a scenario, by family, and the words for what is measured.
pub fn catalog() -> Value {
    let list = |kinds: &mut dyn Iterator<Item = (&'static str, &'static str)>| {
        kinds
            .map(|(kind, summary)| serde_json::json!({"kind": kind, "summary": summary}))
            .collect::<Vec<_>>()
    };
    let known = |kinds: &[Kind]| list(&mut kinds.iter().map(|k| (k.kind, k.summary)));
    let mut families = serde_json::Map::new();
    for family in spillgate_queueing::kinds() {
        families.insert(family.name.to_owned(), known(family.kinds).into());
    }
    let (codecs, mixes) = (source::CODECS.iter(), source::MIXES.iter());
    let words = spillgate_core::overhead::words::all();
    for (name, kinds) in [
        ("sources", known(source::spec::SourceSpec::KINDS)),
        ("voip-codecs", list(&mut codecs.copied())),
        ("overhead", list(&mut words.into_iter())),
        ("packet-mixes", list(&mut mixes.copied())),
        ("congestion-control", known(CcSpec::KINDS)),
        ("nodes", known(NodePlan::KINDS)),
        ("matching", known(MatchingSpec::KINDS)),
        ("contracts", known(ContractSpec::KINDS)),
    ] {
        families.insert(name.to_owned(), kinds.into());
    }
    families.insert(
        "platforms".to_owned(),
        list(&mut spillgate_import::platforms()).into(),
    );
    let codecs: Vec<_> = spillgate_voice::codec::CODECS
        .iter()
        .map(|c| {
            let wide = match c.scale {
                spillgate_voice::Scale::Narrowband => "",
                spillgate_voice::Scale::Wideband => ",WB",
            };
            let values = format!(
                "{}: Ie{wide} {}, Bpl{wide} {}, frame {}, look-ahead {}, packets of {}",
                c.summary, c.ie, c.bpl, c.frame, c.look_ahead, c.packetization
            );
            let summary = match c.assumed {
                Some(assumed) => format!("{values} ({assumed})"),
                None => values,
            };
            serde_json::json!({"kind": c.name, "summary": summary})
        })
        .collect();
    families.insert("codecs".to_owned(), codecs.into());
    let objectives: Vec<_> = spillgate_scenario::objectives::PRESETS
        .iter()
        .map(|p| {
            let bounds: Vec<String> = p
                .objectives
                .iter()
                .map(|o| format!("{} ≤ {} ({})", o.parameter, o.bound(), o.metric.name()))
                .collect();
            let bounds = match bounds.as_slice() {
                [] => "nothing".to_owned(),
                all => all.join(", "),
            };
            let summary = format!("{}: {bounds}. {}", p.summary, p.source);
            serde_json::json!({"kind": p.name, "summary": summary})
        })
        .collect();
    families.insert("objectives".to_owned(), objectives.into());
    let rules: Vec<_> = spillgate_lint::RULES
        .iter()
        .map(|r| {
            let summary = format!("{}: {} ({})", r.name, r.summary, r.level.name());
            serde_json::json!({"kind": r.id, "summary": summary})
        })
        .collect();
    families.insert("rules".to_owned(), rules.into());
    let mut codes = [
        spillgate_scenario::codes::CODES,
        spillgate_import::IOS_CODES,
        spillgate_import::SHOW_CODES,
        spillgate_export::CODES,
        spillgate_lint::CODES,
    ]
    .concat();
    codes.sort_unstable();
    let codes: Vec<_> = codes
        .iter()
        .map(|(code, meaning)| serde_json::json!({"kind": code, "summary": meaning}))
        .collect();
    families.insert("codes".to_owned(), codes.into());
    let scopes = Scope::ALL
        .iter()
        .map(|s| serde_json::json!({"name": s.name(), "short": s.short(), "summary": s.summary()}));
    families.insert("scopes".to_owned(), scopes.collect());
    let metrics = Metric::ALL.iter().map(|m| {
        serde_json::json!({
            "name": m.name(), "unit": m.unit(), "short": m.short(), "label": m.label(),
            "summary": m.summary(), "better": m.better().map(Better::as_str),
            "needs": m.needs().map(Needs::as_str), "key": m.needs().and_then(Needs::key),
            "tags": m.tags().iter().map(|t| t.as_str()).collect::<Vec<_>>(),
        })
    });
    families.insert("metrics".to_owned(), metrics.collect());
    let series = Sampled::ALL.iter().map(|m| {
        serde_json::json!({
            "name": m.name(), "unit": m.unit(), "short": m.short(),
            "label": m.label(), "summary": m.summary(),
        })
    });
    families.insert("series".to_owned(), series.collect());
    let drops = DropReason::ALL.iter().map(
        |r| serde_json::json!({"name": r.metric(), "label": r.label(), "summary": r.sentence()}),
    );
    families.insert("drops".to_owned(), drops.collect());
    let verdicts = Verdict::ALL.iter().map(|v| {
        serde_json::json!({
            "name": v.as_str(), "certain": v.as_certain(), "mark": v.mark(), "summary": v.summary(),
            "severity": v.severity(), "status": v.status(),
        })
    });
    families.insert("verdicts".to_owned(), verdicts.collect());
    let effects = Effect::ALL.iter().map(|e| {
        serde_json::json!({
            "name": e.as_str(), "mark": e.mark(), "label": e.label(), "summary": e.summary(),
        })
    });
    families.insert("effects".to_owned(), effects.collect());
    let delays = spillgate_output::PARTS
        .iter()
        .map(|(name, summary)| serde_json::json!({"name": name, "summary": summary}));
    families.insert("delays".to_owned(), delays.collect());
    Value::Object(families)
}
