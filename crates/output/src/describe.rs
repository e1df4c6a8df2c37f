//! What a plan is about, for people to check before it runs.

use serde::Serialize;
use spillgate_core::{Dscp, Dur, Overhead, Time};
use spillgate_nodes::Description as NodeDescription;
use spillgate_nodes::stage::input::InputPlan;
use spillgate_queueing::{Counting, Outline};
use spillgate_scenario::plan::{
    ArrivalSpec, Axis, FlowPlan, LinkPlan, PatternPlan, Plan, ReplicationPlan, RingFrom,
    SessionSpec, SlaPlan, Traffic, Unmodelled, UntilPlan, VariantPlan, WorldPlan,
};
use spillgate_scenario::schema::{LossSpec, VerdictsSpec};
use spillgate_scenario::shift::Shift;
use spillgate_sim::quantile_error;

/// What a plan is about, before it runs.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// The scenario's title.
    pub name: String,
    /// Hash of the scenario and its files.
    pub hash: String,
    /// The files that the scenario refers to, as written there.
    pub files: Vec<String>,
    /// Those of them that lie outside its folder.
    pub outside: Vec<String>,
    /// Master seed.
    pub seed: u64,
    /// Runs of each variant.
    pub runs: u32,
    /// When a point has enough runs; `runs` is then the most that it gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replication: Option<Replicated>,
    /// Names of the points: of the variants, where there are no axes.
    pub variants: Vec<String>,
    /// What is varied beside the variants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<Axis>,
    /// Which combinations of their values are points: `full` for all, or the name of a design.
    pub design: &'static str,
    /// The points; empty where there are no axes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointDescription>,
    /// Classes of service.
    pub classes: Vec<String>,
    /// Links of the first variant.
    pub links: Vec<LinkDescription>,
    /// Nodes of the first variant that hold packets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeDescription>,
    /// The different settings of links.
    pub settings: Vec<Settings>,
    /// Which of these each point has, by position.
    pub set: Vec<usize>,
    /// Number of flows, workloads of sessions included.
    pub flows: usize,
    /// How many of them are TCP connections.
    pub connections: usize,
    /// The flows of the first variant between groups, or with a pattern.
    pub patterns: Vec<PatternDescription>,
    /// The workloads of sessions of the first variant.
    pub sessions: Vec<SessionsDescription>,
    /// What fails in the first variant, by time.
    pub failures: Vec<FailureDescription>,
    /// Seconds from a failure or repair until routes follow.
    pub reroute: f64,
    /// What the user should know first.
    pub warnings: Vec<String>,
    /// Configuration lines without effect.
    pub unmodelled: Vec<Unmodelled>,
    /// When is measured, in seconds.
    pub measurement: Measurement,
    /// The requirements.
    pub sla: Vec<SlaRow>,
    /// What is done about their number: `none`, `bonferroni` or `holm`.
    pub correction: &'static str,
    /// The confidence level of the verdicts in 0..1.
    pub level: f64,
    /// How often one may look at the verdicts: `any` or `once`.
    pub looks: &'static str,
    /// The variant that the others are compared with, at the same coordinates, or `all`; of a
    /// scenario without variants the first point.
    pub against: String,
    /// Largest relative error of the quantiles, which come from histograms.
    pub quantile_error: f64,
}

/// The policies of the links, by position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Policy of each link.
    pub policies: Vec<String>,
    /// Policy at its receiving end.
    pub arriving: Vec<Option<String>>,
    /// The policy as a tree: what each class is promised, its queue, and the limits and thresholds
    /// of packets with DSCPs that flows send. None for a link without a policy.
    pub outlines: Vec<Option<Outline>>,
    /// The transmit ring of each port; none where only the packet in transmission is in it and
    /// nothing decides that. Empty if all are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rings: Vec<Option<RingDescription>>,
}

impl Settings {
    fn of(world: &WorldPlan) -> Self {
        let mut sent: Vec<Dscp> = world.flows.iter().map(|f| f.dscp).collect();
        sent.sort_unstable();
        sent.dedup();
        let links = || world.links.iter();
        let arriving = |l| world.stages.input(l).map(|i| i.policy.clone());
        Self {
            policies: links().map(|l| l.policy.clone()).collect(),
            arriving: (0..world.links.len() as u32).map(arriving).collect(),
            outlines: links()
                .map(|l| Some(l.discipline.policy()?.outline(Some(&sent))))
                .collect(),
            rings: rings_of(world),
        }
    }
}

/// When a point has enough runs.
#[derive(Clone, Debug, Serialize)]
pub struct Replicated {
    /// Runs before the first look.
    pub first: u32,
    /// Confidence of the intervals.
    pub level: f64,
    /// What is to be known, and how well.
    pub until: Vec<Known>,
}

/// How well the mean of a metric is to be known.
#[derive(Clone, Debug, Serialize)]
pub struct Known {
    /// Class of service.
    pub class: String,
    /// Metric.
    pub metric: &'static str,
    /// Half the width of its interval, relative to its mean.
    pub within: f64,
}

fn replicated(rule: &ReplicationPlan) -> Replicated {
    let known = |u: &UntilPlan| Known {
        class: u.class.clone(),
        metric: u.metric.name(),
        within: u.within,
    };
    Replicated {
        first: rule.first,
        level: rule.level,
        until: rule.until.iter().map(known).collect(),
    }
}

/// A point of a scenario with axes.
#[derive(Clone, Debug, Serialize)]
pub struct PointDescription {
    /// Its name in rows.
    pub name: String,
    /// Name of its variant; empty if the scenario has none.
    pub variant: String,
    /// Its place on each axis.
    pub places: Vec<u32>,
    /// Index of an earlier point whose results it has: what fails here changes no path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same: Option<usize>,
    /// What a failure does to paths and loads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<ShiftDescription>,
}

/// What a failure does to paths and loads.
#[derive(Clone, Debug, Serialize)]
pub struct ShiftDescription {
    /// Flows whose path changes.
    pub moved: u32,
    /// Those of them that have none left.
    pub cut: u32,
    /// The busiest of the links that are offered more; empty where none is.
    pub link: String,
    /// What sources offer it, relative to its rate.
    pub load: f64,
    /// The same without the failure.
    pub without: f64,
}

/// A link, in base units.
#[derive(Clone, Debug, Serialize)]
pub struct LinkDescription {
    /// Its name.
    pub name: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Rate in bits per second.
    pub rate: u64,
    /// How the rate really goes; none: it is always `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Propagation delay in seconds.
    pub delay: f64,
    /// What becomes of packets on it; none: all arrive, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// What a packet occupies on it, in words; none: the IP packet alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<String>,
    /// What rates of its policies count of a packet, in words; none: what it occupies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_counts: Option<String>,
    /// The longest IP packet that it carries, labels included, in bytes; none: no limit.
    pub mtu: Option<u32>,
    /// Name of its policy.
    pub policy: String,
    /// Name of the policy at its receiving end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// How many MPLS labels packets have on it: the different numbers, ascending; empty outside of
    /// an MPLS network.
    pub labels: Vec<u8>,
}

/// A transmit ring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RingDescription {
    /// Its packets, the one in transmission included.
    pub packets: u32,
    /// How long a full one takes, in seconds: of the longest packets that flows send over the link,
    /// at its rate.
    pub delay: f64,
    /// The length of these packets, in bytes of IP.
    pub longest: u16,
    /// What decides its size, in words.
    pub from: String,
}

/// Flows between groups, or with a pattern.
#[derive(Clone, Debug, Serialize)]
pub struct PatternDescription {
    /// The name of the flows.
    pub name: String,
    /// Node or group that sends.
    pub from: String,
    /// Node or group that receives.
    pub to: String,
    /// How many flows.
    pub flows: u32,
    /// Who sends to whom, in words.
    pub pattern: String,
}

/// A workload of sessions, in the words of the scenario.
#[derive(Clone, Debug, Serialize)]
pub struct SessionsDescription {
    /// Its name.
    pub name: String,
    /// Class of service.
    pub class: String,
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// When sessions begin.
    pub arrivals: ArrivalSpec,
    /// What one of them does.
    pub session: SessionSpec,
    /// Most sessions at a time.
    pub active: u32,
}

/// Links that fail together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureDescription {
    /// The links.
    pub links: Vec<String>,
    /// Seconds from the start of the run to the failure.
    pub at: f64,
    /// Seconds from the start of the run to the repair; null for none.
    pub repair: Option<f64>,
    /// In each run both come later by a time drawn between 0 and these seconds.
    pub spread: f64,
}

/// Times of measurement in seconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measurement {
    /// Packets sent before this time are not counted.
    pub warmup: f64,
    /// A pilot run is to find that time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub auto_warmup: bool,
    /// Length of the measured period.
    pub duration: f64,
    /// Period of the time series.
    pub interval: f64,
}

/// A requirement, in base units.
#[derive(Clone, Debug, Serialize)]
pub struct SlaRow {
    /// Class of service.
    pub class: String,
    /// Whose requirement it is.
    pub customer: Option<String>,
    /// The customer's site that it is about.
    pub site: Option<String>,
    /// The published objective that it comes from.
    pub basis: Option<String>,
    /// Metric.
    pub metric: &'static str,
    /// The metric's unit.
    pub unit: &'static str,
    /// Upper bound.
    pub max: Option<f64>,
    /// Lower bound.
    pub min: Option<f64>,
    /// Whether it is to hold for certain.
    pub certain: bool,
    /// Metric and bound as text: `jitter ≤ 30 ms`.
    pub requirement: String,
}

/// What a plan is about.
pub fn describe(plan: &Plan) -> Description {
    let first = plan.variants.first().map(|v| &*v.world);
    let secs = |d: fn(&WorldPlan) -> Dur| first.map_or(0.0, |w| d(w).as_secs_f64());
    let mut settings: Vec<Settings> = Vec::new();
    let set = plan.variants.iter().map(|v| {
        let own = Settings::of(&v.world);
        // Among the last ones: a study may vary the policies.
        let near = settings.len().saturating_sub(100);
        let known = settings[near..].iter().position(|s| *s == own);
        known.map_or_else(
            || {
                settings.push(own);
                settings.len() - 1
            },
            |i| near + i,
        )
    });
    let set = set.collect();
    Description {
        name: plan.name.clone(),
        hash: plan.hash.clone(),
        files: plan.files.clone(),
        outside: plan.outside.clone(),
        seed: plan.seed,
        runs: plan.runs,
        variants: plan.variants.iter().map(|v| v.name.clone()).collect(),
        axes: plan.axes.clone(),
        design: plan.design,
        replication: plan.replication.as_ref().map(replicated),
        points: if plan.axes.is_empty() {
            Vec::new()
        } else {
            plan.variants.iter().map(point_of).collect()
        },
        classes: first.map(|w| w.classes.clone()).unwrap_or_default(),
        links: first.map(links_of).unwrap_or_default(),
        nodes: first.map(nodes_of).unwrap_or_default(),
        settings,
        set,
        flows: first.map_or(0, |w| w.flows.len()),
        connections: first.map_or(0, |w| {
            let is_one = |f: &&FlowPlan| matches!(f.traffic, Traffic::Tcp { .. });
            w.flows.iter().filter(is_one).count()
        }),
        patterns: first.map(patterns_of).unwrap_or_default(),
        sessions: first.map(sessions_of).unwrap_or_default(),
        failures: first.map(failures_of).unwrap_or_default(),
        reroute: secs(|w| w.reroute),
        warnings: plan.warnings.clone(),
        unmodelled: plan.unmodelled.clone(),
        measurement: Measurement {
            warmup: secs(|w| w.warmup),
            auto_warmup: plan.variants.iter().any(|v| v.world.auto_warmup),
            duration: secs(|w| w.duration),
            interval: secs(|w| w.interval),
        },
        sla: plan.sla.iter().map(sla_row).collect(),
        correction: plan.correction.name(),
        level: plan.level,
        looks: plan.looks.name(),
        against: reference(plan),
        quantile_error: first.map_or(0.0, |w| quantile_error(w.flows.len())),
    }
}

fn point_of(point: &VariantPlan) -> PointDescription {
    PointDescription {
        name: point.name.clone(),
        variant: point.variant.clone(),
        places: point.coordinates.clone(),
        same: point.same,
        shift: point.shift.as_ref().map(|s| shift_of(s, &point.world)),
    }
}

fn shift_of(shift: &Shift, world: &WorldPlan) -> ShiftDescription {
    let (link, load, without) = match &shift.busiest {
        Some(b) => (&*world.links[b.link as usize].name, b.load, b.without),
        None => ("", 0.0, 0.0),
    };
    ShiftDescription {
        moved: shift.moved,
        cut: shift.cut,
        link: link.to_owned(),
        load,
        without,
    }
}

/// What the points are compared with: a variant, or a point where there are none.
fn reference(plan: &Plan) -> String {
    if plan.pairs {
        return VerdictsSpec::ALL.to_owned();
    }
    let against = plan.against.first().and_then(|i| plan.variants.get(*i));
    against.map_or_else(String::new, |point| match point.variant.as_str() {
        "" => point.name.clone(),
        variant => variant.to_owned(),
    })
}

fn links_of(world: &WorldPlan) -> Vec<LinkDescription> {
    let links = (0..).zip(&world.links).zip(world.label_depths());
    links
        .map(|((id, l), labels)| LinkDescription {
            name: l.name.clone(),
            from: world.nodes[l.from as usize].clone(),
            to: world.nodes[l.to as usize].clone(),
            rate: l.rate.bps(),
            process: l.server.as_ref().map(ToString::to_string),
            delay: l.delay.as_secs_f64(),
            channel: channel_of(l),
            counts: (l.overhead != Overhead::NONE).then(|| l.overhead.in_words()),
            policy_counts: policy_counts(l, world.stages.input(id)),
            mtu: Some(l.mtu).filter(|m| *m < u32::MAX),
            policy: l.policy.clone(),
            input: world.stages.input(id).map(|i| i.policy.clone()),
            labels,
        })
        .collect()
}

/// What the rates of a link's policies count, where that is not what packets occupy.
fn policy_counts(link: &LinkPlan, input: Option<&InputPlan>) -> Option<String> {
    let own = |o: Option<Overhead>| o.unwrap_or(link.overhead).in_words();
    let mut said = Vec::new();
    if let Some(Counting { policers, queues }) = link.discipline.counting() {
        said.push(match own(policers) == own(queues) {
            true => own(queues),
            false => format!("shapers {}; policers {}", own(queues), own(policers)),
        });
    }
    let input = input.map(|i| i.recipe.line().counting);
    if let Some(arriving) = input.filter(|c| c.policers.is_some()) {
        said.push(format!("arriving: {}", own(arriving.policers)));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

fn nodes_of(world: &WorldPlan) -> Vec<NodeDescription> {
    let holding = world.holding.iter();
    holding.flat_map(|h| h.describe(world)).collect()
}

/// By link: the longest IP packet that flows send over it, as long as nothing fails.
fn longest_on(world: &WorldPlan) -> Vec<u16> {
    let mut found = vec![0; world.links.len()];
    for flow in &world.flows {
        let (forth, back) = flow.traffic.longest();
        for (route, len) in [(Some(flow.route), forth), (flow.back, back)] {
            for link in route.map_or(&[][..], |r| &world.routes[r as usize]) {
                let longest: &mut u16 = &mut found[*link as usize];
                *longest = len.max(*longest);
            }
        }
    }
    found
}

fn rings_of(world: &WorldPlan) -> Vec<Option<RingDescription>> {
    let said = |l: &LinkPlan| l.tx_ring.from != RingFrom::Nothing;
    if !world.links.iter().any(said) {
        return Vec::new();
    }
    let links = world.links.iter().zip(longest_on(world));
    links.map(|(l, longest)| ring_of(l, longest)).collect()
}

/// The transmit ring of a link, if there is something to be said of it.
fn ring_of(link: &LinkPlan, longest: u16) -> Option<RingDescription> {
    if link.tx_ring.from == RingFrom::Nothing {
        return None;
    }
    let packets = link.tx_ring.packets;
    let tx = link.kept_rate().tx_time(link.overhead.wire_len(longest));
    Some(RingDescription {
        packets,
        delay: f64::from(packets) * tx.as_secs_f64(),
        longest,
        from: link.tx_ring.from.to_string(),
    })
}

/// What becomes of packets on a link, if not all arrive in order.
fn channel_of(link: &LinkPlan) -> Option<String> {
    let loss = link.loss.as_ref().map(|loss| match loss {
        LossSpec::Bernoulli(p) => format!("{p} lost"),
        LossSpec::GilbertElliott(m) => {
            let bad = m.to_bad.0 / (m.to_bad.0 + m.to_good.0);
            let mean = 100.0 * (bad * m.bad.0 + (1.0 - bad) * m.good.0);
            let packets = 1.0 / m.to_good.0;
            format!("{mean:.3} % lost, bad for {packets:.1} packets")
        }
    });
    let late = link.reorder.as_ref();
    let late = late.map(|r| format!("{} late by {}", r.share, r.by));
    let all: Vec<String> = loss.into_iter().chain(late).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn patterns_of(world: &WorldPlan) -> Vec<PatternDescription> {
    let of = |p: &PatternPlan| PatternDescription {
        name: p.name.clone(),
        from: p.from.clone(),
        to: p.to.clone(),
        flows: p.flows,
        pattern: p.pattern.clone(),
    };
    world.patterns.iter().map(of).collect()
}

fn sessions_of(world: &WorldPlan) -> Vec<SessionsDescription> {
    let of = |f: &FlowPlan| match &f.traffic {
        Traffic::Sessions(s) => Some(SessionsDescription {
            name: f.name.to_string(),
            class: world.classes[usize::from(f.class)].clone(),
            from: world.nodes[f.from as usize].clone(),
            to: world.nodes[f.to as usize].clone(),
            arrivals: s.arrivals.clone(),
            session: s.session.clone(),
            active: s.active,
        }),
        _ => None,
    };
    world.flows.iter().filter_map(of).collect()
}

fn failures_of(world: &WorldPlan) -> Vec<FailureDescription> {
    let seconds = |t: Time| t.since(Time::ZERO).as_secs_f64();
    let mut all: Vec<FailureDescription> = Vec::new();
    for f in &world.failures {
        let link = world.links[f.link as usize].name.clone();
        let (at, repair) = (seconds(f.down), Some(f.up).filter(|t| *t < Time::MAX));
        let repair = repair.map(seconds);
        let spread = f.spread.as_secs_f64();
        match all
            .iter_mut()
            .rev()
            .take_while(|g| g.at == at)
            .find(|g| g.repair == repair && g.spread == spread)
        {
            Some(group) => group.links.push(link),
            None => all.push(FailureDescription {
                links: vec![link],
                at,
                repair,
                spread,
            }),
        }
    }
    all
}

fn sla_row(sla: &SlaPlan) -> SlaRow {
    SlaRow {
        class: sla.class.clone(),
        customer: sla.customer.clone(),
        site: sla.site.clone(),
        basis: sla.basis.clone(),
        metric: sla.metric.name(),
        unit: sla.metric.unit(),
        max: sla.max,
        min: sla.min,
        certain: sla.certain,
        requirement: requirement(sla),
    }
}

/// A requirement by the name of its metric.
fn requirement(sla: &SlaPlan) -> String {
    let (side, bound) = match sla.max {
        Some(max) => ("max", max),
        None => ("min", sla.min.unwrap_or(f64::NAN)),
    };
    format!(
        "{} {}{}",
        sla.metric.name(),
        spillgate_measure::sla::bound(side, bound, sla.metric.unit()),
        if sla.certain { " for certain" } else { "" }
    )
}
