//! Requirements that no policy can meet, that ask for the contrary of what they say, or that are
//! about something else.

use std::collections::BTreeMap;

use spillgate_core::Overhead;
use spillgate_core::show::rough;
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_measure::table::Better;
use spillgate_measure::{Metric, Needs};
use spillgate_scenario::Diagnostic;
use spillgate_scenario::plan::{Application, FlowPlan, Plan, SlaPlan, Traffic, WorldPlan};
use spillgate_voice::{Heard, Quality};

use crate::Finding;
use crate::registry::{Rule, rule_text};
use crate::traffic::lengths;

pub(crate) const RULES: &[&Rule] = &[&OUT_OF_REACH, &DIRECTION, &NOT_SPEECH];

rule_text! { OUT_OF_REACH = "SG-O001", "objective-out-of-reach", Error, "A requirement that propagation and transmission alone break";
    why "A packet takes the propagation delay of each link on its path, and the time to send it there, however short the queues are. A delay that has to be less than that fails in every run with every policy. A transfer takes a round trip at least, and its bytes the time that the slowest link needs for them. A connection has no more than a window under way in a round trip; no flow is faster than the slowest link of its path. A call is no better than its codec and its delay allow without any loss.\n\nWhat is compared is the best case: the shortest packet of the flow that is nearest. If the requirement is on all packets of a class, it may be far out of reach.";
    fix "Compare the bound with the delays of the path (`delay` of the links) and its slowest link; change what the part of the way that is simulated may spend, or the path.";
    from "RFC 7679, section 3.7: one-way delay includes propagation and transmission; RFC 9293 (a sender has no more than its window under way); ITU-T G.107 (delay impairment Id, equipment impairment Ie)";
}

rule_text! { DIRECTION = "SG-O002", "objective-direction", Warning, "A requirement bounds its metric on the side where it is good";
    why "A `min` of a delay, a loss or a transfer time is met by slow and lossy networks and broken by good ones; a `max` of a throughput or of a MOS likewise. The verdict then says the contrary of what is read into it: `pass` stands where customers complain.\n\nWhere the bound is on purpose, to see that a shaper holds a rate down, say, suppress the rule at its line.";
    fix "Write `max` for delays, losses, waiting and transfer times, `min` for rates and scores of speech.";
    from "Spillgate: metrics say which way they get better (docs/reference/metrics.md)";
}

rule_text! { NOT_SPEECH = "SG-O003", "speech-objective-without-call", Warning, "A requirement on the quality of speech is about flows that are no calls";
    why "MOS, R factor, mouth-to-ear delay and late packets are computed from what the receiver of a call hears. Flows of the class that carry no speech have no such value: the requirement judges the calls among them and says nothing of the rest.\n\nA flow that is only said to carry speech is rated as if its packets came at the codec's interval. If they come at random, or in frames of video, the de-jitter buffer of the model sees what no telephone sends, and the score is that of nothing.";
    fix "Give calls a class of their own with `source: {voip: ..}`, and require delay and loss of the rest.";
    from "ITU-T G.107 (the E-model rates conversational speech); ITU-T P.800.1 (what a MOS is of)";
}

/// The requirements at one point of a scenario.
pub(crate) fn check(plan: &Plan, world: &WorldPlan) -> Vec<Finding> {
    let mut found = Vec::new();
    for r in &plan.sla {
        let flows: Vec<&FlowPlan> = world
            .flows
            .iter()
            .filter(|f| is_about(world, r, f))
            .collect();
        let mut add = |rule: &'static Rule, message: Option<String>| {
            found.extend(message.map(|m| at(rule, r, m)));
        };
        add(&DIRECTION, direction(r));
        add(&NOT_SPEECH, not_speech(r, &flows));
        // Where links fail, flows take other paths than are known here.
        if world.failures.is_empty() {
            add(&OUT_OF_REACH, out_of_reach(world, r, &flows));
        }
    }
    found
}

pub(crate) fn at(rule: &'static Rule, r: &SlaPlan, message: String) -> Finding {
    let w = &r.written;
    let d = Diagnostic::warning(rule.id, message).path(&w.path);
    let mut d = match w.line {
        Some(line) => d.at(&w.file, line, w.column.unwrap_or(1)),
        None => d.in_file(&w.file),
    };
    d.width = w.width;
    Finding::new(rule, d)
}

/// Whether a requirement is about a flow.
pub(crate) fn is_about(world: &WorldPlan, r: &SlaPlan, flow: &FlowPlan) -> bool {
    let site = world
        .sites
        .iter()
        .find(|s| r.group.as_ref() == Some(&s.name));
    let of_class = world.classes[usize::from(flow.class)] == r.class;
    of_class && (r.group.is_none() || site.is_some_and(|s| s.has(flow)))
}

/// Whose requirement it is, in words.
pub(crate) fn about(r: &SlaPlan) -> &str {
    r.group.as_ref().unwrap_or(&r.class)
}

fn direction(r: &SlaPlan) -> Option<String> {
    let (key, other, bound) = match (r.metric.better()?, r.min, r.max) {
        (Better::Less, Some(min), _) => ("min", "max", min),
        (Better::More, _, Some(max)) => ("max", "min", max),
        _ => return None,
    };
    let (passes, fails) = match key {
        "min" => ("more", "less"),
        _ => ("less", "more"),
    };
    Some(format!(
        "`{key}` of {} is {}: {passes} of it passes and {fails} of it fails; was `{other}` meant?",
        r.metric.name(),
        rough(bound, r.metric.unit())
    ))
}

fn not_speech(r: &SlaPlan, flows: &[&FlowPlan]) -> Option<String> {
    if r.metric.needs() != Some(Needs::Speech) {
        return None;
    }
    let silent = flows.iter().filter(|f| f.voice.is_none()).count();
    if silent > 0 && silent < flows.len() {
        return Some(format!(
            "{} of {} is that of its calls alone: {silent} of its {} flows carry no speech",
            r.metric.name(),
            about(r),
            flows.len()
        ));
    }
    let strange = flows
        .iter()
        .find(|f| f.voice.is_some() && !is_like_a_call(f))?;
    let kind = match &strange.traffic {
        Traffic::Source(source) => source.kind(),
        _ => "other",
    };
    let voice = strange.voice.as_ref()?;
    Some(format!(
        "{} of {}: flow {} is said to carry {}, and its `{kind}` source does not send a packet every {}",
        r.metric.name(),
        about(r),
        strange.name,
        voice.codec,
        voice.packetization
    ))
}

/// Whether packets come at the interval of the flow's codec, as far as that is known.
fn is_like_a_call(flow: &FlowPlan) -> bool {
    let (Some(voice), Traffic::Source(source)) = (&flow.voice, &flow.traffic) else {
        // Of a capture nothing is known.
        return true;
    };
    let every = voice.packetization.as_secs_f64();
    let at = |bps: f64| {
        let (least, most) = (Source::shortest(source), Source::longest(source));
        let gap = f64::from(least) * 8.0 / bps;
        // A rate that was rounded to two digits is off by 5 % at most.
        least == most && (gap / every - 1.0).abs() < 0.05
    };
    match &**source {
        SourceSpec::Voip(_) => true,
        SourceSpec::Cbr(s) => at(s.rate.bps() as f64),
        SourceSpec::OnOff(s) => at(s.peak.bps() as f64),
        SourceSpec::Poisson(_)
        | SourceSpec::Mmpp(_)
        | SourceSpec::Video(_)
        | SourceSpec::Bernoulli(_)
        | SourceSpec::Backlogged(_) => false,
    }
}

/// What is wrong with a bound that the best case breaks.
fn out_of_reach(world: &WorldPlan, r: &SlaPlan, flows: &[&FlowPlan]) -> Option<String> {
    let name = r.metric.name();
    let whose = about(r);
    // A tie is left to the run.
    let beyond = |best: f64, bound: f64| best > bound * (1.0 + 1e-9);
    let required = |word: &str, bound: f64| {
        format!(
            "{name} of {whose} is to be at {word} {}",
            rough(bound, r.metric.unit())
        )
    };
    if let Some(max) = r.max {
        let (best, why) = match r.metric {
            m if m.is_delay() => (least(flows, |f| Some(delay(world, f))), PATH),
            Metric::FctP50 | Metric::FctP95 | Metric::FctP99 => {
                (least(flows, |f| transfer(world, f)), ROUND_TRIP)
            }
            Metric::MouthToEar => {
                let ear = |f: &FlowPlan| best_call(world, f).map(|q| q.mouth_to_ear);
                (least(flows, ear), CALL)
            }
            _ => return None,
        };
        let best = best.filter(|best| best.is_finite() && beyond(*best, max))?;
        return Some(format!(
            "{}: {why} {} at least",
            required("most", max),
            rough(best, r.metric.unit())
        ));
    }
    let min = r.min?;
    let score = |of: fn(&Quality) -> f64| {
        let calls = flows.iter().filter_map(|f| best_call(world, f));
        let scores: Vec<f64> = calls.map(|q| of(&q)).collect();
        scores.iter().copied().reduce(f64::max)
    };
    let (best, why) = match r.metric {
        Metric::Mos | Metric::MosMin => (
            score(|q| q.mos),
            "without any loss or queueing its codec and its path allow",
        ),
        Metric::RFactor => (
            score(|q| q.r),
            "without any loss or queueing its codec and its path allow",
        ),
        Metric::Throughput => (
            most(world, flows, false),
            "its sources, windows, round trips and links allow",
        ),
        Metric::Goodput => (
            most(world, flows, true),
            "its windows, round trips and links allow",
        ),
        _ => return None,
    };
    let best = best.filter(|best| beyond(min, *best))?;
    Some(format!(
        "{}: {why} {} at most",
        required("least", min),
        rough(best, r.metric.unit())
    ))
}

const PATH: &str = "propagation and transmission of the shortest packet alone take";
const ROUND_TRIP: &str = "a round trip without queues, and the slowest link, take";
const CALL: &str = "codec, propagation and transmission alone take";

/// The least of a value of some flows; none if that of one is not known.
fn least(flows: &[&FlowPlan], of: impl Fn(&FlowPlan) -> Option<f64>) -> Option<f64> {
    let all: Option<Vec<f64>> = flows.iter().map(|f| of(f)).collect();
    all?.into_iter().reduce(f64::min)
}

/// Seconds that a packet of so many bytes takes along a path at least.
pub(crate) fn along(world: &WorldPlan, route: u32, len: u16) -> f64 {
    let path = &world.routes[route as usize];
    let mut seconds = 0.0;
    for (i, l) in path.iter().enumerate() {
        let link = &world.links[*l as usize];
        seconds += link.delay.as_secs_f64();
        // Parts of a packet go on before the last one has come, and a rate that changes may be
        // higher.
        if link.server.is_none() && !world.holding.serve(*l) {
            let bits = 8.0 * f64::from(link.overhead.wire_len(len));
            seconds += bits / link.rate.bps() as f64;
        }
        if i > 0 {
            seconds += world.passing(link.from).as_secs_f64();
        }
    }
    seconds
}

/// The least delay of a packet of a flow, and of what answers it.
fn delay(world: &WorldPlan, flow: &FlowPlan) -> f64 {
    let shortest = |forth| lengths(&flow.traffic, forth).0.max(1);
    let forth = along(world, flow.route, shortest(true));
    match flow.back.filter(|_| flow.traffic.is_closed_loop()) {
        Some(back) => forth.min(along(world, back, shortest(false))),
        None => forth,
    }
}

/// The least round trip of a connection.
fn round_trip(world: &WorldPlan, flow: &FlowPlan) -> Option<f64> {
    let shortest = lengths(&flow.traffic, true).0.max(1);
    Some(along(world, flow.route, shortest) + along(world, flow.back?, 1))
}

/// The least time of a transfer.
fn transfer(world: &WorldPlan, flow: &FlowPlan) -> Option<f64> {
    let bytes = match &flow.traffic {
        Traffic::Tcp {
            application: Application::Bytes(n),
            ..
        } => *n as f64,
        Traffic::Sessions(_) => 0.0,
        // Others have no transfers that end.
        _ => return Some(f64::INFINITY),
    };
    let slowest = slowest(world, flow).map_or(f64::INFINITY, |(_, bps)| bps);
    Some(round_trip(world, flow)? + 8.0 * bytes / slowest)
}

/// The quality of a call that loses nothing and never waits.
fn best_call(world: &WorldPlan, flow: &FlowPlan) -> Option<Quality> {
    let heard = Heard {
        packets: 1,
        missing: 0,
        late: 0,
        bursts: 0,
        playout: Some(delay(world, flow)),
    };
    flow.voice.as_ref()?.assess(&heard)
}

/// The link of a path that lets the fewest bits of IP packets through, and that rate; none of links
/// whose rate changes.
fn slowest(world: &WorldPlan, flow: &FlowPlan) -> Option<(u32, f64)> {
    let longest = lengths(&flow.traffic, true).1.max(1);
    let path = world.routes[flow.route as usize].iter();
    let steady = path.filter(|l| world.links[**l as usize].server.is_none());
    let rates = steady.map(|l| {
        let link = &world.links[*l as usize];
        // The longest packets have the smallest share of what is added.
        let share = match link.overhead == Overhead::NONE {
            true => 1.0,
            false => f64::from(longest) / f64::from(link.overhead.wire_len(longest)),
        };
        (*l, link.rate.bps() as f64 * share.min(1.0))
    });
    rates.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The most that some flows carry, in b/s of IP packets, or of their payload; none if that is not
/// known.
fn most(world: &WorldPlan, flows: &[&FlowPlan], payload: bool) -> Option<f64> {
    // Flows with the same slowest link share it.
    let mut shared: BTreeMap<u32, f64> = BTreeMap::new();
    let mut sum = 0.0;
    for flow in flows {
        let own = own_most(world, flow, payload)?;
        match slowest(world, flow) {
            Some((link, _)) => *shared.entry(link).or_default() += own,
            None => sum += own,
        }
    }
    for (link, own) in shared {
        let link = &world.links[link as usize];
        sum += own.min(link.rate.bps() as f64);
    }
    // What is under way when the measurement begins arrives in it: a packet of each flow that is
    // steady.
    let under_way: f64 = flows
        .iter()
        .map(|f| 8.0 * f64::from(lengths(&f.traffic, true).1))
        .sum();
    Some(sum + under_way / world.duration.as_secs_f64())
}

/// The most that one flow carries.
fn own_most(world: &WorldPlan, flow: &FlowPlan, payload: bool) -> Option<f64> {
    let link = slowest(world, flow).map_or(f64::INFINITY, |(_, bps)| bps);
    let limit = match &flow.traffic {
        // Rates of random sources are means.
        Traffic::Source(source) => match &**source {
            SourceSpec::Cbr(s) => s.rate.bps() as f64,
            _ => f64::INFINITY,
        },
        Traffic::Tcp { config, .. } => {
            let trip = round_trip(world, flow)?;
            let period = world.duration.as_secs_f64();
            // Of the round trip that is under way when the period begins, a window arrives in it.
            let windows = (1.0 / trip).max(0.0) + 1.0 / period;
            let share = match payload {
                true => 1.0,
                false => f64::from(config.longest_packet()) / f64::from(config.mss.max(1)),
            };
            8.0 * config.max_window as f64 * share * windows
        }
        Traffic::Sessions(_) | Traffic::Replay(_) => f64::INFINITY,
    };
    Some(limit.min(link))
}
