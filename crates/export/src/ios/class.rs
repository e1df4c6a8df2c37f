//! The lines of a class of a policy-map.

use std::fmt::Write as _;

use spillgate_core::{Burst, Dscp, Dur, Limit, Percent, Rate, RateOrPercent};
use spillgate_queueing::Longest;
use spillgate_queueing::aqm::{
    AqmSpec, RedSpec, RedSpread, RedUnit, WredBy, WredDefaults, WredProfile, WredSpec, WredUnit,
};
use spillgate_queueing::spec::{
    CdtPolicy, ClassSpec, FairQueueSpec, FlowWeights, PoliceAction, PoliceActions, PoliceSpec,
    PolicingWhen, PrioritySpec, ShapeSpec,
};
use spillgate_scenario::Platform;

use super::flows;
use super::matching::ClassMaps;
use super::numbers::{kbps, ms, quoted, time, whole_percent};
use crate::limits::weight_log;
use crate::settings::{changed_after, no_aqm_of, shown};
use crate::{Here, Notes};

/// The default of `queue-limit` on platforms before IOS XE.
const DEFAULT_LIMIT: Limit = Limit::Packets(64);
/// Bursts in bytes that `priority` takes.
const PRIORITY_BURST: std::ops::RangeInclusive<u64> = 32..=2_000_000;

/// Writes one class.
pub(super) struct Writer<'w, 's> {
    pub(super) out: &'w mut String,
    pub(super) place: String,
    /// The rate that the policy divides, if it is known.
    pub(super) rate: Option<Rate>,
    /// The longest packet of the port.
    pub(super) longest: Longest,
    pub(super) platform: Platform,
    pub(super) maps: &'w mut ClassMaps<'s>,
    pub(super) notes: &'w mut Notes,
}

impl Writer<'_, '_> {
    fn line(&mut self, text: impl std::fmt::Display) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn note(&mut self, reason: impl Into<String>) {
        self.notes.at(&self.place).add(reason);
    }

    /// Every key is named, so that a new key of classes cannot be forgotten.
    pub(super) fn class(&mut self, c: &ClassSpec) {
        let ClassSpec {
            name,
            // Written before, as a class-map; a per-hop behavior was expanded by the reader.
            matching: _,
            phb: _,
            priority,
            bandwidth,
            bandwidth_remaining,
            bandwidth_remaining_ratio,
            shape,
            police,
            queue_limit,
            queue_limit_dscp,
            queue_limit_precedence,
            aqm,
            fair_queue,
            // See `flows::of_class`.
            drr: _,
            fair: _,
            fq: _,
            fq_codel: _,
            fq_pie: _,
            sfq: _,
            dualpi2: _,
            cake: _,
            set_dscp,
            set_exp,
            set_exp_imposition,
            set_cos,
            set_qos_group,
            policy,
        } = c;
        if let Some(p) = priority {
            self.priority(p);
        }
        if let Some(b) = bandwidth {
            let asked = self.kbps_or_percent(*b, "bandwidth");
            self.line(format!("bandwidth {asked}"));
        }
        if let Some(p) = bandwidth_remaining {
            let p = self.percent(*p, "bandwidth remaining");
            self.line(format!("bandwidth remaining percent {p}"));
        }
        if let Some(n) = bandwidth_remaining_ratio {
            self.line(format!("bandwidth remaining ratio {n}"));
        }
        match shape {
            Some(s) if priority.is_some() && self.platform != Platform::IosXr => {
                self.note(format!(
                    "a class with `priority` is shaped on IOS XR only: the shaper is left out; {}",
                    shown(s)
                ));
            }
            Some(s) => self.shape(s),
            None => {}
        }
        if let Some(p) = police {
            self.police(p, name);
        }
        if let Some(limit) = queue_limit {
            self.queue_limit(*limit);
        }
        for (dscp, limit) in queue_limit_dscp {
            self.queue_limit_of(&format!("dscp {dscp} "), *limit);
        }
        for (precedence, limit) in queue_limit_precedence {
            self.queue_limit_of(&format!("precedence {precedence} "), *limit);
        }
        let place = self.place.clone();
        if let Some(fair) = flows::of_class(c, self.rate, &mut self.notes.at(&place)) {
            let limit = Limit::Packets(fair.hold_queue);
            self.queue_limit(limit);
            self.fair_queue(&fair, Some(limit));
        }
        if let Some(f) = fair_queue {
            self.fair_queue(f, *queue_limit);
        }
        let at = Place {
            platform: self.platform,
            limit: c.waiting_limit(),
        };
        if let Some(aqm) = aqm {
            managed(self.out, "  ", aqm, at, &mut self.notes.at(&self.place));
        }
        for (field, value) in [
            ("dscp", set_dscp.map(|d| d.to_string())),
            ("mpls experimental topmost", set_exp.map(|e| e.to_string())),
            (
                "mpls experimental imposition",
                set_exp_imposition.map(|e| e.to_string()),
            ),
            ("cos", set_cos.map(|c| c.to_string())),
            ("qos-group", set_qos_group.map(|g| g.to_string())),
        ] {
            if let Some(value) = value {
                self.line(format!("set {field} {value}"));
            }
        }
        if let Some(p) = policy {
            let name = quoted(p, &mut self.notes.at(&self.place));
            self.line(format!("service-policy {name}"));
        }
    }

    /// A percentage, rounded to a whole one.
    fn percent(&mut self, p: Percent, what: &str) -> u64 {
        whole_percent(p).unwrap_or_else(|| {
            let whole = ((p.0 * 100.0 + 0.5) as u64).clamp(1, 100);
            self.note(format!(
                "`{what}` is in whole percent: {p} is written as {whole}"
            ));
            whole
        })
    }

    /// A percentage with decimals becomes a rate where that is known.
    fn absolute(&self, r: RateOrPercent) -> RateOrPercent {
        match (r, self.rate) {
            (RateOrPercent::Percent(p), Some(rate)) if whole_percent(p).is_none() => {
                RateOrPercent::Rate(rate.scaled(p.0))
            }
            _ => r,
        }
    }

    fn kbps_or_percent(&mut self, r: RateOrPercent, what: &str) -> String {
        match self.absolute(r) {
            RateOrPercent::Rate(rate) => {
                kbps(rate, what, &mut self.notes.at(&self.place)).to_string()
            }
            RateOrPercent::Percent(p) => format!("percent {}", self.percent(p, what)),
        }
    }

    fn priority(&mut self, p: &PrioritySpec) {
        // Without a rate nothing is policed, and the burst has no effect.
        let mut line = "priority".to_owned();
        if p.level != 1 {
            let _ = write!(line, " level {}", p.level);
        }
        if let Some(rate) = p.rate {
            let asked = self.kbps_or_percent(rate, "priority");
            let _ = write!(line, " {asked}");
            match p.burst {
                Some(b) if PRIORITY_BURST.contains(&b.0) => {
                    let _ = write!(line, " {}", b.0);
                }
                Some(b) => self.note(format!(
                    "`priority` takes bursts of 32 to 2000000 B, not {b}"
                )),
                None => {}
            }
        }
        self.line(line);
        let always = self.platform == Platform::IosXr;
        if p.rate.is_some() && always != (p.police == PolicingWhen::Always) {
            self.note(match always {
                true => "the platform polices `priority` always, not only under congestion",
                false => "the platform polices `priority` under congestion only; a `police` line would always",
            });
        }
        let defaulted = matches!(
            self.platform,
            Platform::Ios | Platform::IosPreHqf | Platform::IosHqf
        );
        if !defaulted || p.limit != DEFAULT_LIMIT {
            self.queue_limit(p.limit);
        }
    }

    fn queue_limit(&mut self, limit: Limit) {
        self.queue_limit_of("", limit);
    }

    /// `of`: the packets that the limit is about, and a space.
    fn queue_limit_of(&mut self, of: &str, limit: Limit) {
        let text = match limit {
            Limit::Packets(n) => format!("{n} packets"),
            Limit::Bytes(n) => format!("{n} bytes"),
            Limit::Time(d) => time(d, "queue-limit", &mut self.notes.at(&self.place)),
        };
        self.line(format!("queue-limit {of}{text}"));
    }

    /// Bc and Be; without Be it is 0, as IOS would take Bc for it. Without either IOS has 4 ms of
    /// both, and XR one burst.
    fn shape(&mut self, s: &ShapeSpec) {
        if s.kind.is_some() {
            self.note(
                "whether a packet waits for tokens for all of it is the router's (`as: htb`)",
            );
        }
        let own = Some(Burst::Time(Dur::from_ms(4))).filter(|_| self.platform != Platform::IosXr);
        let default = s.burst.is_none() && s.excess_burst == own;
        match self.absolute(s.rate) {
            RateOrPercent::Rate(rate) if default => {
                self.line(format!("shape average {}", rate.bps()));
            }
            RateOrPercent::Rate(rate) => {
                let bits = |b: Burst| b.bytes(rate) * 8;
                let bc = (s.committed(rate, self.longest) * 8).max(8);
                let be = s.excess_burst.map_or(0, bits);
                self.line(format!("shape average {} {bc} {be}", rate.bps()));
            }
            RateOrPercent::Percent(p) => {
                let mut time = |burst: Option<Burst>| match burst {
                    Some(Burst::Time(d)) => Some(d),
                    Some(Burst::Bytes(_)) => {
                        self.note(
                            "the burst of a shaper in percent is in ms on IOS: it is left out",
                        );
                        None
                    }
                    None => None,
                };
                let excess = s.excess_burst.filter(|_| !default);
                let (bc, be) = (time(s.burst), time(excess));
                if bc.is_none() && be.is_some() {
                    self.note("IOS takes an excess burst (`excess_burst`) behind a burst only: it is left out");
                }
                // Above 100 % there is only the peak rate: twice the average where Be is Bc.
                let half = whole_percent(Percent(p.0 / 2.0)).filter(|_| p.0 > 1.0);
                let alike = bc == be;
                let half = half.filter(|_| alike || bc.is_none());
                let whole = be.unwrap_or(Dur::from_ms(0));
                let mut in_ms = |d| ms(d, "shape", &mut self.notes.at(&self.place));
                let bursts = match (bc, alike) {
                    (None, _) => String::new(),
                    (Some(bc), true) => {
                        let n = in_ms(bc);
                        format!(" {n} ms {n} ms")
                    }
                    (Some(bc), false) if whole == Dur::from_ms(0) => {
                        format!(" {} ms 0 ms", in_ms(bc))
                    }
                    (Some(bc), false) => {
                        let bc = in_ms(bc);
                        format!(" {bc} ms {} ms", in_ms(whole))
                    }
                };
                match half {
                    Some(half) => self.line(format!("shape peak percent {half}{bursts}")),
                    None => {
                        let percent = self.percent(p, "shape");
                        self.line(format!("shape average percent {percent}{bursts}"));
                    }
                }
            }
        }
    }

    fn police(&mut self, p: &PoliceSpec, class: &str) {
        if *p == PoliceSpec::dropping_all() {
            self.line("drop");
            return;
        }
        if p.window.is_some() {
            self.note("IOS meters by token buckets, not by the average rate in a window (`window`): the policer is left out");
            return;
        }
        if p.per_flow {
            self.note("`police` meters a class as a whole, not each flow (`per_flow`): the policer is left out");
            return;
        }
        if [Burst::Bytes(0), Burst::Time(Dur::ZERO)]
            .map(Some)
            .contains(&p.burst)
        {
            self.note("IOS takes no committed burst of 0 B (`burst`): the policer is left out");
            return;
        }
        let rate = self.absolute(p.rate);
        let mut line = format!("police cir {}", self.meter_rate(rate));
        if let Some(b) = p.burst {
            let _ = write!(line, " bc {}", self.burst(b, rate));
        }
        let peak = p.peak_rate.map(|r| self.absolute(r));
        if let Some(peak) = peak {
            let _ = write!(line, " pir {}", self.meter_rate(peak));
        }
        match p.excess_burst {
            Some(b) if p.three_colors() => {
                let _ = write!(line, " be {}", self.burst(b, peak.unwrap_or(rate)));
            }
            Some(_) => {
                self.note(
                    "the excess burst has no effect without a violate action: it is left out",
                );
            }
            None => {}
        }
        self.line(line);
        for (color, actions) in [
            ("conform", Some(&p.conform)),
            ("exceed", Some(&p.exceed)),
            ("violate", p.violate.as_ref()),
        ] {
            for action in actions.into_iter().flat_map(PoliceActions::iter) {
                let action = match action {
                    PoliceAction::Transmit => "transmit".to_owned(),
                    PoliceAction::Drop => "drop".to_owned(),
                    PoliceAction::SetDscp(d) => format!("set-dscp-transmit {d}"),
                    PoliceAction::SetExp(e) => format!("set-mpls-exp-topmost-transmit {e}"),
                    PoliceAction::SetExpImposition(e) => {
                        format!("set-mpls-exp-imposition-transmit {e}")
                    }
                    PoliceAction::SetCos(c) => format!("set-cos-transmit {c}"),
                    PoliceAction::SetQosGroup(g) => format!("set-qos-transmit {g}"),
                };
                self.line(format!(" {color}-action {action}"));
            }
        }
        if let Some(conform) = &p.conform_color {
            let place = self.place.clone();
            let mut named = |kind: &str, m| {
                let base = format!("{class}-{kind}");
                let name = self.maps.other(&base, m, &mut self.notes.at(&place));
                if name.is_none() {
                    let reason = format!(
                        "the condition of `{kind}_color` has no translation: the policer does not look at it; match {}",
                        shown(m)
                    );
                    self.notes.at(&place).add(reason);
                }
                name.map(|n| quoted(&n, &mut self.notes.at(&place)))
            };
            if let Some(conform) = named("conform", conform) {
                let mut line = format!(" conform-color {conform}");
                if let Some(exceed) = p.exceed_color.as_ref().and_then(|m| named("exceed", m)) {
                    let _ = write!(line, " exceed-color {exceed}");
                }
                self.line(line);
            }
        }
    }

    fn meter_rate(&mut self, r: RateOrPercent) -> String {
        match r {
            RateOrPercent::Rate(rate) => rate.bps().to_string(),
            RateOrPercent::Percent(p) => format!("percent {}", self.percent(p, "police")),
        }
    }

    fn burst(&mut self, b: Burst, rate: RateOrPercent) -> String {
        match (b, rate) {
            (Burst::Time(d), RateOrPercent::Percent(_)) => {
                time(d, "police", &mut self.notes.at(&self.place))
            }
            (b, RateOrPercent::Rate(r)) => b.bytes(r).to_string(),
            (Burst::Bytes(n), RateOrPercent::Percent(_)) => format!("{n} bytes"),
        }
    }

    fn fair_queue(&mut self, f: &FairQueueSpec, limit: Option<Limit>) {
        let mut line = format!("fair-queue {}", f.queues);
        let quarter = matches!(self.platform, Platform::IosHqf | Platform::IosXe);
        let by_limit = match limit {
            Some(Limit::Packets(l)) if quarter => {
                u32::from(f.threshold) == (l / 4).clamp(1, 4096) && f.hold_queue == l
            }
            _ => false,
        };
        let defaults = FairQueueSpec::default();
        if !by_limit {
            let _ = write!(line, " queue-limit {}", f.threshold);
            if f.hold_queue != defaults.hold_queue {
                self.note(format!(
                    "a fair queue in a class has no limit of {} packets over all conversations; `queue-limit` comes near",
                    f.hold_queue
                ));
            }
        }
        self.line(line);
        let equal = matches!(self.platform, Platform::IosHqf | Platform::IosXe);
        if equal != (f.weights == FlowWeights::Equal) {
            self.note(match equal {
                true => "the platform gives the flows of a fair queue equal weights, not by precedence",
                false => "the platform gives the flows of a fair queue weights by precedence, not equal ones",
            });
        }
        let own = match quarter {
            true => CdtPolicy::TailDrop,
            false => defaults.cdt_policy,
        };
        threshold_policy(f, own, &mut self.notes.at(&self.place));
    }
}

/// The behavior at the threshold of a fair queue is not configured: it is the router's own.
pub(super) fn threshold_policy(f: &FairQueueSpec, router: CdtPolicy, notes: &mut Here<'_>) {
    if f.cdt_policy != router && u32::from(f.threshold) < f.hold_queue {
        let here = match f.cdt_policy {
            CdtPolicy::WorstSn => "worst-sn",
            CdtPolicy::BlockQuarter => "block-quarter",
            CdtPolicy::TailDrop => "tail-drop",
        };
        notes.add(format!("what happens at the congestive discard threshold is the router's, not `cdt_policy: {here}`"));
    }
}

/// RED as WRED with the same profile for every precedence.
pub(super) fn red(out: &mut String, indent: &str, r: &RedSpec, at: Place, notes: &mut Here<'_>) {
    let rules = r.rules();
    let (unit, most, counted) = match rules.unit {
        RedUnit::Packets => (WredUnit::Packets, 4096.0, "whole packets"),
        RedUnit::Bytes => (WredUnit::Bytes, 4_194_303.0, "whole bytes"),
    };
    let whole = |x: f64| (x + 0.5).clamp(1.0, most) as u32;
    let min = whole(rules.min_th);
    let profile = WredProfile {
        min,
        max: whole(rules.max_th).max(min),
        denominator: (1.0 / rules.max_p.max(1.0 / 65_536.0) + 0.5) as u32,
    };
    let n = weight_log(rules.weight, 16) as u8;
    let spec = WredSpec {
        by: WredBy::Precedence,
        unit,
        exponential_weighting_constant: Some(n),
        precedence: (0..8).map(|p| (p, profile)).collect(),
        // No default applies: that of the platform needs no more lines.
        defaults: match at.platform {
            Platform::IosXe => WredDefaults::IosXe,
            _ => WredDefaults::Ios,
        },
        ecn: rules.ecn,
        mean_packet: rules.mean_packet,
        idle: rules.idle,
        ..WredSpec::default()
    };
    let told = ["ecn", "gentle", "mean_packet", "idle"];
    let rest = changed_after("; it is of RED with ", r, &told);
    let unspread = match rules.spread {
        RedSpread::None => "",
        RedSpread::PerPacket | RedSpread::PerGap => " drops are not spread,",
    };
    notes.add(format!(
            "RED is written as WRED with one profile ({} {} {}) for every precedence and constant {n}: thresholds are {counted},{unspread} and from the maximum on every packet is dropped{}{rest}",
            profile.min,
            profile.max,
            profile.denominator,
            if rules.gentle { ", not gradually (`gentle`)" } else { "" }
        ));
    wred(out, indent, &spec, at, notes);
}

/// The facts on which the thresholds of WRED depend.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) platform: Platform,
    /// The limit of the queue.
    pub(super) limit: Limit,
}

/// Active queue management of a queue.
pub(super) fn managed(
    out: &mut String,
    indent: &str,
    aqm: &AqmSpec,
    at: Place,
    notes: &mut Here<'_>,
) {
    match aqm {
        AqmSpec::Wred(w) => wred(out, indent, w, at, notes),
        AqmSpec::Red(r) => red(out, indent, r, at, notes),
        AqmSpec::Codel(codel) => flows::no_codel(codel, notes),
        other => notes.add(no_aqm_of("IOS", other)),
    }
}

/// The `random-detect` lines.
pub(super) fn wred(out: &mut String, indent: &str, w: &WredSpec, at: Place, notes: &mut Here<'_>) {
    let by = match w.by {
        WredBy::Dscp => " dscp-based",
        WredBy::Precedence => "",
    };
    let _ = writeln!(out, "{indent}random-detect{by}");
    let defaults = WredSpec::default();
    let nominal = Rate::from_bps(1_000_000_000);
    let n = nominal.map(|rate| w.weighting_constant(at.limit, rate));
    if let Some(n) = n.filter(|n| *n != 9) {
        let _ = writeln!(
            out,
            "{indent}random-detect exponential-weighting-constant {n}"
        );
    }
    let none = w.dscp.is_empty() && w.precedence.is_empty();
    let unit = match w.unit {
        WredUnit::Packets => "",
        WredUnit::Bytes => " bytes",
        // Default thresholds are in bytes beside times, too.
        WredUnit::Ms if none => " bytes",
        WredUnit::Ms => " ms",
    };
    let mut profile = |key: String, p: &WredProfile| {
        let WredProfile {
            min,
            max,
            denominator,
        } = p;
        let _ = writeln!(
            out,
            "{indent}random-detect {key} {min}{unit} {max}{unit} {denominator}"
        );
    };
    let xe = at.platform == Platform::IosXe;
    let there = match xe {
        true => WredDefaults::IosXe,
        false => WredDefaults::Ios,
    };
    let in_packets = matches!(at.limit, Limit::Packets(_));
    let unit_there = match xe && !in_packets {
        true => WredUnit::Bytes,
        false => WredUnit::Packets,
    };
    let same = w.defaults == there && (!none || w.unit == unit_there);
    // Shares of a limit in time depend on a rate that is not known here, and the thresholds of a
    // class have one unit.
    let times = w.unit == WredUnit::Ms && !none;
    let known = !times && (w.defaults == WredDefaults::Ios || !matches!(at.limit, Limit::Time(_)));
    if !same && !known {
        notes.add(match times {
                true => "default thresholds of WRED are not in time (`defaults`), those written are: for code points without any the platform has its own",
                false => "default thresholds of WRED are shares of the limit in time on IOS XE (`defaults`, `unit`): the platform has its own",
            },
        );
    }
    let all = !same && known;
    let codes: Vec<(String, Dscp, Option<WredProfile>)> = match w.by {
        WredBy::Dscp => (0..64)
            .filter_map(Dscp::new)
            .map(|d| (format!("dscp {d}"), d, w.dscp.get(&d).copied()))
            .collect(),
        WredBy::Precedence => (0..8)
            .filter_map(|p| Some((p, Dscp::new(p << 3)?)))
            .map(|(p, d)| (format!("precedence {p}"), d, w.precedence.get(&p).copied()))
            .collect(),
    };
    for (key, dscp, written) in codes {
        let default = nominal
            .filter(|_| all)
            .map(|n| w.profile(dscp, at.limit, n));
        if let Some(p) = written.or(default) {
            profile(key, &p);
        }
    }
    if w.ecn {
        let _ = writeln!(out, "{indent}random-detect ecn");
    }
    if w.mean_packet != defaults.mean_packet {
        notes.add(format!(
            "the mean packet of WRED's idle decay is the router's, not {} (`mean_packet`)",
            w.mean_packet
        ));
    }
    if w.idle != defaults.idle {
        notes.add("the idle decay of WRED's average is the router's (`idle: none`)");
    }
}
