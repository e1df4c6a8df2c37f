//! The flows that carry speech, and the profile of their listeners.
//!
//! A flow's own `voice` counts first. Otherwise a source with a codec gives the codec and the class
//! gives the listener. For other flows the class gives both.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::Problem;
use spillgate_endpoints::source::spec::{Codec, SourceSpec, VoipSpec};
use spillgate_voice::Profile;
use spillgate_voice::spec::{SourceCodec, VoiceSpec};

use super::flows::Lowered;
use super::rows::Row;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::Traffic;
use crate::schema::Scenario;
use spillgate_core::suggest::{did_you_mean, list};

/// The codec of a source, if it is one of speech.
fn codec_of(source: &SourceSpec) -> Option<SourceCodec> {
    match source {
        SourceSpec::Voip(call) => Some(SourceCodec {
            name: rated(call),
            packetization: call.packetization(),
        }),
        SourceSpec::Backlogged(_)
        | SourceSpec::Bernoulli(_)
        | SourceSpec::Cbr(_)
        | SourceSpec::Poisson(_)
        | SourceSpec::OnOff(_)
        | SourceSpec::Mmpp(_)
        | SourceSpec::Video(_) => None,
    }
}

/// The name of a call's codec in the table of planning values: some codecs have one for each rate.
fn rated(call: &VoipSpec) -> String {
    let (name, rate) = (call.codec.name(), call.bitrate());
    let kbps = rate.to_string().replace(" kb/s", "");
    match call.codec {
        Codec::G723 => format!("g723.1-{kbps}"),
        Codec::G726 | Codec::Amr | Codec::AmrWb => format!("{name}-{kbps}"),
        // Below this rate the codec has a narrower band.
        Codec::Opus if rate.bps() < 20_000 => format!("{name}-{kbps}"),
        _ => name.to_owned(),
    }
}

/// Gives every flow that carries speech its profile; `flows` are those of `rows`, in order.
pub(super) fn attach(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    rows: &[Row],
    lowered: &mut Lowered,
) {
    let mut of_class: BTreeMap<&str, Profile> = BTreeMap::new();
    let mut heard: BTreeMap<&str, bool> =
        scenario.voice.keys().map(|k| (k.as_str(), false)).collect();
    let mut first = 0;
    for row in rows {
        let members = first..first + row.spec.count as usize;
        first = members.end;
        let class = row.spec.class.as_deref().unwrap_or(&row.spec.name);
        let Some(flow) = lowered.flows.get(members.start) else {
            return;
        };
        if matches!(flow.traffic, Traffic::Replay(_)) {
            // Each flow of a capture has a class of its own.
            for flow in &mut lowered.flows[members] {
                let class = &lowered.classes[usize::from(flow.class)];
                if let Some((class, spec)) = scenario.voice.get_key_value(class) {
                    heard.insert(class, true);
                    let profile = of_whole_class(ctx, root, class, spec, &mut of_class);
                    flow.voice = profile.map(Arc::new);
                }
            }
            continue;
        }
        let profile = match (&flow.traffic, &row.spec.voice) {
            (Traffic::Source(source), Some(own)) => own
                .profile(codec_of(source).as_ref())
                .map_err(|p| {
                    let mut path = steps!["voice"].to_vec();
                    path.extend(steps_of(&p));
                    row.error(ctx, root, diagnostic(p), &path);
                })
                .ok(),
            (_, Some(_)) => {
                let d = Diagnostic::error(codes::BAD_VOICE, "speech over TCP is not rated")
                    .hint("the E-model knows lost packets; give the flow a `source` without `tcp`");
                row.error(ctx, root, d, &steps!["voice"]);
                None
            }
            (Traffic::Source(source), None) => {
                let spec = scenario.voice.get_key_value(class);
                if let Some((class, _)) = spec {
                    heard.insert(class, true);
                }
                match (codec_of(source), spec) {
                    (Some(codec), spec) => of_codec(ctx, root, row, &codec, spec),
                    (None, Some((class, spec))) => {
                        of_whole_class(ctx, root, class, spec, &mut of_class)
                    }
                    (None, None) => None,
                }
            }
            _ => None,
        };
        let Some(profile) = profile.map(Arc::new) else {
            continue;
        };
        for flow in &mut lowered.flows[members] {
            flow.voice = Some(Arc::clone(&profile));
        }
    }
    for (class, _) in heard.into_iter().filter(|(_, heard)| !heard) {
        unheard(ctx, root, class, &lowered.classes);
    }
}

/// The profile that a class gives to flows without a codec.
fn of_whole_class<'a>(
    ctx: &mut Ctx<'_>,
    root: &Node,
    class: &'a str,
    spec: &VoiceSpec,
    known: &mut BTreeMap<&'a str, Profile>,
) -> Option<Profile> {
    if let Some(profile) = known.get(class) {
        return Some(profile.clone());
    }
    let profile = spec
        .profile(None)
        .map_err(|p| report(ctx, root, class, p))
        .ok()?;
    known.insert(class, profile.clone());
    Some(profile)
}

/// The profile of a flow with a codec; its class gives the listener.
fn of_codec(
    ctx: &mut Ctx<'_>,
    root: &Node,
    row: &Row,
    codec: &SourceCodec,
    of_class: Option<(&String, &VoiceSpec)>,
) -> Option<Profile> {
    let spec = VoiceSpec {
        codec: None,
        packetization: None,
        ..of_class.map(|(_, spec)| spec.clone()).unwrap_or_default()
    };
    spec.profile(Some(codec))
        .map_err(|p| {
            if p.path == "codec" {
                // A codec without planning values is no error: its calls have no rating.
                let d = Diagnostic::warning(
                    codes::W_UNRATED,
                    format!("no rating of `{}`: {}", row.spec.name, p.message),
                )
                .hint("write `voice: {ie: .., bpl: ..}` in the flow if you know them");
                row.warn(ctx, root, d, &steps!["source"]);
            } else if let Some((class, _)) = of_class {
                report(ctx, root, class, p);
            }
        })
        .ok()
}

fn steps_of(p: &Problem) -> Vec<Step> {
    p.path
        .split('.')
        .filter(|k| !k.is_empty())
        .map(|k| Step::Key(k.to_owned()))
        .collect()
}

fn diagnostic(p: Problem) -> Diagnostic {
    Diagnostic::error(codes::BAD_VOICE, p.message).hint(p.hint)
}

fn report(ctx: &mut Ctx<'_>, root: &Node, class: &str, p: Problem) {
    let mut path = steps!["voice", class].to_vec();
    path.extend(steps_of(&p));
    ctx.error(diagnostic(p), root, &path);
}

/// Reports a class with `voice` none of whose flows can be rated.
fn unheard(ctx: &mut Ctx<'_>, root: &Node, class: &str, classes: &[String]) {
    let names = || classes.iter().map(String::as_str);
    let d = if names().any(|c| c == class) {
        Diagnostic::error(
            codes::BAD_VOICE,
            format!(
                "no flow of class `{class}` takes this: they are TCP, or have `voice` themselves"
            ),
        )
        .hint("remove it, or give the class a flow with a `source`")
    } else {
        let near = did_you_mean(class, names());
        Diagnostic::error(
            codes::UNKNOWN_CLASS,
            format!("no flow belongs to a class `{class}`{near}"),
        )
        .hint(format!("classes of the traffic: {}", list(names())))
    };
    ctx.error(d, root, &steps!["voice", class]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::Rate;

    /// Every codec of a source, at each of its rates, is rated or known to have no values.
    #[test]
    fn codecs_of_sources_have_the_names_of_the_planning_values() {
        let unrated = ["ilbc", "amr"];
        for (codec, bps) in [
            (Codec::G723, Some(6_300)),
            (Codec::G723, Some(5_300)),
            (Codec::G726, Some(16_000)),
            (Codec::G726, Some(40_000)),
            (Codec::Amr, Some(12_200)),
            (Codec::Amr, Some(4_750)),
            (Codec::AmrWb, Some(6_600)),
            (Codec::AmrWb, Some(8_850)),
            (Codec::AmrWb, Some(23_850)),
            (Codec::Opus, Some(20_000)),
            (Codec::Opus, Some(12_000)),
        ]
        .into_iter()
        .chain(Codec::ALL.iter().map(|c| (*c, None)))
        {
            let mut call = VoipSpec::of(codec);
            call.bitrate = bps.and_then(Rate::from_bps);
            let name = rated(&call);
            let known = spillgate_voice::codec::Codec::by_name(&name).is_some();
            let full = codec == Codec::Amr && call.bitrate().bps() == 12_200;
            let slow = codec == Codec::Opus && call.bitrate().bps() < 20_000;
            let expected = full || !(unrated.contains(&codec.name()) || slow);
            assert_eq!(known, expected, "{name}");
        }
    }
}
