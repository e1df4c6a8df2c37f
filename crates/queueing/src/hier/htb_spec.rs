//! HTB as a user writes it: the keys of `tc qdisc ... htb` and `tc class ... htb`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Problem, Rate, RateOrPercent, Size};

use super::htb::{Htb, LEVELS, PRIOS, Terms};
use super::resolve::{ClassKeys, Direct, Parts, default_class, kin, rate_of};
use super::{Hierarchy, Kin};
use crate::recipe::At;
use crate::spec::{DisciplineSpec, MatchSpec, Scope};

/// The least and the largest quantum that Linux computes of a rate; beyond these it warns.
const QUANTUM: std::ops::RangeInclusive<u64> = 1000..=200_000;
/// The MTU that `tc` adds to what a class sends in a tick of its timer.
const TC_MTU: u64 = 1600;

spillgate_core::spec! {
    /// HTB: classes with a guaranteed rate that borrow from the classes around them up to a
    /// ceiling, as `tc qdisc add ... htb`.
    pub struct HtbSpec {
        /// The class of packets that match no class; it has no children. None: they wait in a queue
        /// `direct` that is served before all classes and that no rate holds, as in Linux.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub default: Option<String> = None,
        /// Packets that go to the queue `direct` before any class is asked, as a filter of `tc` to
        /// the class 0 leads them there: that queue then stands beside `default`. None: only what
        /// matches no class, without a `default`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub direct: Option<MatchSpec> = None,
        /// The quantum of a class is its rate in bytes a second over this. Default 10.
        #[schemars(range(min = 1))]
        pub r2q: u32 = 10,
        /// Limit of the queue `direct` in packets. Default 1000.
        #[schemars(range(min = 1))]
        pub direct_qlen: u32 = 1000,
        /// The granularity of the timer: a class that waits for tokens goes on at a multiple of
        /// this (1 ms of a kernel with `HZ` 1000 and without high-resolution timers). Default 0 s:
        /// at once.
        pub timer: Dur = Dur::ZERO,
        /// Classes keep their mode until a bucket is its whole depth below zero (Linux:
        /// `htb_hysteresis`). Default false.
        pub hysteresis: bool = false,
        /// The classes, in the order in which they are tried and take turns.
        pub classes: Vec<HtbClassSpec> = Vec::new(),
    }
}

/// A class of HTB, as `tc class add ... htb`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HtbClassSpec {
    /// Its name, unique in the policy.
    pub name: String,
    /// The class around it, from which it borrows. None: it is at the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Which packets belong to it: the condition of a filter. That of a class with children leads
    /// to the conditions of these.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub matching: Option<MatchSpec>,
    /// The rate that it and the classes below it have, whatever others do: a rate, or a percentage
    /// of the port's.
    pub rate: RateOrPercent,
    /// The rate up to which it borrows. Default `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceil: Option<RateOrPercent>,
    /// Bytes that it may send at once at its rate. Default what `rate` sends in `timer` and 1600 B,
    /// or the longest packet as it is counted, whichever is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// Bytes that it may send at once at its ceiling. Default as `burst`, of `ceil`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cburst: Option<Size>,
    /// Bytes that a class without children sends in its turn. Default `rate` over `r2q`, 1000 B to
    /// 200000 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Classes without children of a lower number borrow first, 0 to 7. Default 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(min = 0, max = 7))]
    pub prio: u8,
    /// The queue of a class without children: any discipline without classes. Default a FIFO of
    /// 1000 packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<DisciplineSpec>,
}

fn is_zero(n: &u8) -> bool {
    *n == 0
}

impl ClassKeys for HtbClassSpec {
    fn name(&self) -> &str {
        &self.name
    }

    fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    fn matching(&self) -> Option<&MatchSpec> {
        self.matching.as_ref()
    }

    fn queue(&self) -> Option<&DisciplineSpec> {
        self.queue.as_ref()
    }
}

impl HtbSpec {
    pub(crate) fn engine(
        &self,
        at: &mut At<'_>,
        scope: &Scope<'_>,
    ) -> Result<Hierarchy<Htb>, Problem> {
        at.check(
            self.r2q > 0,
            "r2q",
            "0",
            "a rate is divided by it",
            "the default is 10",
        )?;
        let kin = kin(&self.classes, at)?;
        let default = match &self.default {
            Some(name) => Some(default_class(name, &self.classes, &kin, at)?),
            None => None,
        };
        let mut terms = Vec::new();
        for (i, (class, kin)) in self.classes.iter().zip(&kin).enumerate() {
            terms.push(at.index("classes", i, |at| self.terms(class, kin, at, scope))?);
        }
        self.compare(&kin, &terms, at);
        above_line(&kin, &terms, scope.line.rate, at);
        let order = Htb::new(&kin, &terms, self.timer, self.hysteresis);
        let rate = |t: &Terms| Rate::from_bps(t.rate).unwrap_or(scope.line.rate);
        let rates = terms.iter().map(rate).collect();
        let parts = Parts {
            classes: &self.classes,
            kin,
            default,
            direct: self.has_direct().then_some(Direct {
                limit: self.direct_qlen,
                matching: self.direct.as_ref(),
            }),
            rates,
        };
        parts.build(order, at, scope)
    }

    /// Whether packets wait in the queue `direct`.
    pub(crate) fn has_direct(&self) -> bool {
        self.default.is_none() || self.direct.is_some()
    }

    /// The parameters of a class, defaults filled in.
    fn terms(
        &self,
        class: &HtbClassSpec,
        kin: &Kin,
        at: &mut At<'_>,
        scope: &Scope<'_>,
    ) -> Result<Terms, Problem> {
        at.check(
            kin.depth + 1 < LEVELS || kin.leaf.is_some() && kin.depth < LEVELS,
            "parent",
            class.parent.as_deref().unwrap_or_default(),
            "the tree is too deep: Linux has eight levels",
            "nest at most seven classes around a leaf",
        )?;
        at.check(
            usize::from(class.prio) < PRIOS,
            "prio",
            class.prio,
            "priorities are 0 to 7, 0 being served first",
            "the default is 0",
        )?;
        let line = scope.line.rate;
        let rate = rate_of("rate", class.rate, line, at)?;
        let ceil = rate_of("ceil", class.ceil.unwrap_or(class.rate), line, at)?;
        if ceil < rate {
            at.warn(format!(
                "ceil {ceil} is below the rate of {rate}: the class never sends more than ceil"
            ));
        }
        let longest = u64::from(scope.line.longest.shaped);
        let burst = |key: &str, written: Option<Size>, of: Rate, at: &mut At<'_>| {
            let Some(Size(bytes)) = written else {
                return Ok(of.bytes_in(self.timer).saturating_add(TC_MTU.max(longest)));
            };
            if of.bytes_in(self.timer) > bytes {
                at.warn(format!(
                    "{key} {written} is less than {of} sends in a tick of the timer ({}): the class stays below that rate",
                    self.timer,
                    written = Size(bytes),
                ));
            }
            Ok::<u64, Problem>(bytes)
        };
        let (burst, cburst) = (
            burst("burst", class.burst, rate, at)?,
            burst("cburst", class.cburst, ceil, at)?,
        );
        let quantum = self.quantum(class, kin, rate, longest, at)?;
        Ok(Terms {
            rate: rate.bps(),
            ceil: ceil.bps(),
            burst,
            cburst,
            quantum,
            prio: class.prio,
        })
    }

    fn quantum(
        &self,
        class: &HtbClassSpec,
        kin: &Kin,
        rate: Rate,
        longest: u64,
        at: &mut At<'_>,
    ) -> Result<u32, Problem> {
        let (least, most) = (*QUANTUM.start(), *QUANTUM.end());
        let found = match class.quantum {
            Some(Size(bytes)) => {
                at.check(
                    (1..=u64::from(u32::MAX)).contains(&bytes),
                    "quantum",
                    Size(bytes),
                    "a turn has at least one byte, and fewer than 4 GiB",
                    "leave it out for rate / r2q",
                )?;
                bytes
            }
            None => rate.bps() / 8 / u64::from(self.r2q),
        };
        let quantum = match class.quantum {
            Some(_) => found,
            None => found.clamp(least, most),
        };
        if kin.leaf.is_some() {
            let set = if quantum == found {
                String::new()
            } else {
                format!(", set to {quantum} B")
            };
            if found > most {
                at.warn(format!("quantum of {found} B is big{set}: a class sends this much in a row; consider a larger r2q (tc-htb)"));
            } else if quantum < longest {
                at.warn(format!("quantum of {found} B is small{set}: below the longest packet of {longest} B turns are no longer in proportion; consider a smaller r2q (tc-htb)"));
            }
        }
        Ok(quantum as u32)
    }

    /// Warns of children whose rates come to more than that of their parent.
    fn compare(&self, kin: &[Kin], terms: &[Terms], at: &mut At<'_>) {
        let mut sums = vec![0_u64; kin.len()];
        for (k, t) in kin.iter().zip(terms) {
            if let Some(p) = k.parent {
                sums[usize::from(p)] = sums[usize::from(p)].saturating_add(t.rate);
            }
        }
        for (i, (sum, t)) in sums.into_iter().zip(terms).enumerate() {
            let (Some(sum), Some(own)) = (Rate::from_bps(sum), Rate::from_bps(t.rate)) else {
                continue;
            };
            if sum > own {
                let name = &self.classes[i].name;
                at.index("classes", i, |at| {
                    at.warn(format!(
                        "the children of {name} have rates of {sum} together, more than its own {own}: they have that in any case, and {name} exceeds its rate and its ceil (tc-htb)"
                    ));
                });
            }
        }
    }
}

/// Warns of classes at the top that ask for more than the line sends.
fn above_line(kin: &[Kin], terms: &[Terms], line: Rate, at: &mut At<'_>) {
    let top = || kin.iter().zip(terms).filter(|(k, _)| k.parent.is_none());
    let sum = top().fold(0_u64, |sum, (_, t)| sum.saturating_add(t.rate));
    if let Some(sum) = Rate::from_bps(sum).filter(|sum| *sum > line) {
        at.warn(format!(
            "the rates of the classes at the top come to {sum}, more than the line's {line}: not all of them get their rate, and what decides is the order of turns (tc-htb)"
        ));
    } else if let Some(ceil) = top().map(|(_, t)| t.ceil).max().and_then(Rate::from_bps) {
        if ceil > line {
            at.warn(format!(
                "a `ceil` of {ceil} at the top is above the line's {line}: it never binds (tc-htb)"
            ));
        }
    }
}
