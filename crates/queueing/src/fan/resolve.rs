//! From a cross-protect router as written to a running one.

use std::fmt;

use spillgate_core::{Dur, Rate, RateOrPercent};

use super::admission::{AdmissionThresholds, Fan, Parts};
use super::estimator::{Indicators, Measuring};
use super::lists::FlowList;
use super::mechanism::Mechanism;
use super::scheduler::{FairQueue, FairQueueParams};
use super::spec::{FanMechanism, FanScheduler, FanSpec, PdrrMode};
use crate::leaf::Bound;
use crate::line::Longest;
use crate::recipe::At;
use crate::spec::{DisciplineSpec, Scope};
use spillgate_core::Problem;

/// The largest MTU and quantum, above any packet length.
const MAX_UNIT: u64 = 1_000_000;

impl FanSpec {
    pub(crate) fn engine(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<Fan, Problem> {
        let rate = scope.line.rate;
        let bound = at.bound("limit", self.limit, rate)?;
        let queue = self.queue(at, bound, scope.line.longest)?;
        let indicators = Indicators::new(rate, self.measuring(at)?);
        let thresholds = self.thresholds(at, rate)?;
        self.check_mechanism(at)
            .map_err(|problem| problem.cite(Some("Domżał and Jajszczyk 2008")))?;
        let list = self.list(at, scope)?;
        Ok(Fan::new(Parts {
            queue,
            bound,
            rate,
            indicators,
            thresholds,
            mechanism: Mechanism::new(
                &self.mechanism,
                self.elastic,
                self.accept_trigger || self.protected_list.is_some(),
            ),
            list,
            share: self.protected_list.clone(),
        }))
    }

    fn queue(&self, at: &mut At<'_>, limit: Bound, longest: Longest) -> Result<FairQueue, Problem> {
        let mtu = unit(at, "mtu", self.unit(longest).0)?;
        let params = FairQueueParams {
            limit,
            mtu,
            quantum: mtu,
            charged: true,
            afl_max: u32::MAX,
        };
        at.key("scheduler", |at| match &self.scheduler {
            FanScheduler::Pfq(s) => at.key("pfq", |at| {
                at_least_one(at, "afl_max", s.afl_max, "no flow would ever be backlogged")?;
                Ok(FairQueue::pfq(&FairQueueParams {
                    afl_max: s.afl_max.unwrap_or(u32::MAX),
                    ..params
                }))
            }),
            FanScheduler::Pdrr(s) => at.key("pdrr", |at| {
                let quantum = match s.quantum {
                    Some(q) => unit(at, "quantum", q.0)?,
                    None => mtu,
                };
                at.check(
                    quantum >= mtu,
                    "quantum",
                    format!("{quantum} B"),
                    &format!("it is below the MTU of {mtu} B: a packet could take several rounds"),
                    "write the MTU or more, or leave it out",
                )
                .map_err(|problem| problem.cite(Some("Kortebi, Oueslati and Roberts 2005")))?;
                Ok(FairQueue::pdrr(&FairQueueParams {
                    quantum,
                    charged: s.mode == PdrrMode::Charged,
                    ..params
                }))
            }),
        })
    }

    fn measuring(&self, at: &mut At<'_>) -> Result<Measuring, Problem> {
        let (f, p) = (&self.fair_rate, &self.priority_load);
        let checks = [
            ("fair_rate", f.interval, f.smoothing),
            ("priority_load", p.interval, p.smoothing),
        ];
        for (key, interval, smoothing) in checks {
            at.key(key, |at| {
                lasting(at, "interval", interval)?;
                at.check(
                    (0.0..=0.999).contains(&smoothing),
                    "smoothing",
                    smoothing,
                    "it must be from 0 to 0.999",
                    "write 0 for the last interval alone, 0.5 for half of what was",
                )
            })?;
        }
        Ok(Measuring {
            fair_interval: f.interval,
            fair_smoothing: f.smoothing,
            load_interval: p.interval,
            load_smoothing: p.smoothing,
            phase: self.tick_phase,
        })
    }

    fn thresholds(&self, at: &mut At<'_>, rate: Rate) -> Result<AdmissionThresholds, Problem> {
        at.check(
            (0.0..=1.0).contains(&self.p_add),
            "p_add",
            self.p_add,
            "a probability must be from 0 to 1",
            "write 1 to list every flow that is admitted",
        )?;
        let nothing = "nobody would ever be admitted";
        at_least_one(at, "admissions_per_tick", self.admissions_per_tick, nothing)?;
        Ok(AdmissionThresholds {
            min_fair_rate: within(at, "min_fair_rate", self.min_fair_rate, rate)?,
            max_priority_load: within(at, "max_priority_load", self.max_priority_load, rate)?
                / rate.bps() as f64,
            p_add: self.p_add,
            quota: self.admissions_per_tick.unwrap_or(u32::MAX),
            accept_trigger: self.accept_trigger,
        })
    }

    fn check_mechanism(&self, at: &mut At<'_>) -> Result<(), Problem> {
        at.key("mechanism", |at| {
            at.key(self.mechanism.kind(), |at| match &self.mechanism {
                FanMechanism::Basic(_) => Ok(()),
                FanMechanism::Efm(s) => lasting(at, "pfl_flushing_timer", s.pfl_flushing_timer),
                FanMechanism::Raef(s) => lasting(at, "active_time", s.active_time),
                FanMechanism::Rbaef(s) => {
                    lasting(at, "active_time", s.active_time)?;
                    lasting(at, "blocked_time", s.blocked_time)
                }
            })
        })?;
        if self.accept_trigger && matches!(self.mechanism, FanMechanism::Basic(_)) {
            at.warn("accept_trigger changes nothing: the basic mechanism removes no flow");
        }
        Ok(())
    }

    fn list(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<FlowList, Problem> {
        lasting(at, "pfl_flow_timeout", self.pfl_flow_timeout)?;
        at_least_one(at, "pfl_max", self.pfl_max, "nothing could be listed")?;
        if let Some(name) = &self.protected_list {
            at.check(
                !name.trim().is_empty(),
                "protected_list",
                format!("{name:?}"),
                "a list that links share needs a name",
                "write a name, or leave it out for a list of this link alone",
            )
            .map_err(Problem::misfit)?;
            for (other, spec) in scope.policies {
                let DisciplineSpec::Fan(o) = spec else {
                    continue;
                };
                if o.protected_list.as_ref() != Some(name) {
                    continue;
                }
                let clash = |key, own: &dyn fmt::Display, theirs: &dyn fmt::Display| {
                    let message = format!(
                        "policy `{other}` shares the list `{name}` and says {theirs}: it can have one only"
                    );
                    at.error(key, own, message, "say the same in both, or name two lists")
                        .misfit()
                };
                if o.pfl_flow_timeout != self.pfl_flow_timeout {
                    let (own, theirs) = (&self.pfl_flow_timeout, &o.pfl_flow_timeout);
                    return Err(clash("pfl_flow_timeout", own, theirs));
                }
                if o.pfl_max != self.pfl_max {
                    let most =
                        |n: Option<u32>| n.map_or_else(|| "no limit".to_owned(), |n| n.to_string());
                    return Err(clash("pfl_max", &most(self.pfl_max), &most(o.pfl_max)));
                }
            }
        }
        let shared = self.protected_list.is_some();
        Ok(FlowList::new(self.pfl_flow_timeout, self.pfl_max, shared))
    }
}

/// A size that a packet may have.
fn unit(at: &At<'_>, key: &str, bytes: u64) -> Result<u32, Problem> {
    at.check(
        (1..=MAX_UNIT).contains(&bytes),
        key,
        format!("{bytes} B"),
        "it must be from 1 B to 1 MB",
        "write the size of the largest packet, such as 1500 B",
    )?;
    Ok(bytes as u32)
}

/// A time above zero.
fn lasting(at: &At<'_>, key: &str, time: Dur) -> Result<(), Problem> {
    at.check(
        !time.is_zero(),
        key,
        time,
        "it must be above 0",
        "write a time such as 500 ms or 5 s",
    )
}

/// Checks that a number is at least 1, if it is given.
fn at_least_one(
    at: &At<'_>,
    key: &str,
    number: Option<u32>,
    consequence: &str,
) -> Result<(), Problem> {
    at.check(
        number != Some(0),
        key,
        0,
        consequence,
        "write 1 or more, or leave it out for no limit",
    )
}

/// A threshold in b/s. A rate is at least 1 b/s; 0 % means no threshold.
fn threshold(r: RateOrPercent, rate: Rate) -> u64 {
    match r {
        RateOrPercent::Percent(p) if p.0 <= 0.0 => 0,
        r => r.of(rate).bps(),
    }
}

/// A threshold up to the rate of the link, in b/s.
fn within(at: &At<'_>, key: &str, r: RateOrPercent, rate: Rate) -> Result<f64, Problem> {
    let threshold = threshold(r, rate);
    at.check(
        threshold <= rate.bps(),
        key,
        r,
        &format!("it is above the link's rate of {rate}"),
        "write a percentage from 0 % to 100 %, or a rate up to the link's",
    )?;
    Ok(threshold as f64)
}
