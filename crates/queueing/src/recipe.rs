//! From a policy as written to a running discipline.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use spillgate_core::{Dscp, FlowKey, Limit, Problem, Rate, Size, Time, suggest};

use crate::aqm::{Custom, CustomAqm, UpstreamUse};
use crate::discipline::Discipline;
use crate::engine::Engine;
use crate::fan::SharedLists;
use crate::leaf::{Bound, Leaf};
use crate::line::{Counting, Line};
use crate::outline::Policy;
use crate::size::Sizes;
use crate::spec::{DisciplineSpec, Scope};
use crate::stats::{LeafGauges, State};

/// A byte limit from which on a queue counts as unlimited: 1 GB.
pub(crate) const UNLIMITED_BYTES: u64 = 1_000_000_000;

/// The current path in the scenario, for errors and warnings.
pub(crate) struct At<'a> {
    path: String,
    warnings: &'a mut Vec<String>,
}

impl<'a> At<'a> {
    /// At the policies of a scenario.
    pub(crate) fn new(warnings: &'a mut Vec<String>) -> Self {
        Self {
            path: "policies".to_owned(),
            warnings,
        }
    }
}

impl At<'_> {
    /// Runs `f` one key deeper.
    pub(crate) fn key<R>(&mut self, key: &str, f: impl FnOnce(&mut Self) -> R) -> R {
        self.deeper(&format!(".{key}"), f)
    }

    /// Runs `f` in a member of a list.
    pub(crate) fn index<R>(&mut self, key: &str, i: usize, f: impl FnOnce(&mut Self) -> R) -> R {
        self.deeper(&format!(".{key}[{i}]"), f)
    }

    fn deeper<R>(&mut self, suffix: &str, f: impl FnOnce(&mut Self) -> R) -> R {
        let len = self.path.len();
        self.path.push_str(suffix);
        let r = f(self);
        self.path.truncate(len);
        r
    }

    /// Runs `f` in another policy.
    pub(crate) fn policy<R>(&mut self, name: &str, f: impl FnOnce(&mut Self) -> R) -> R {
        let here = std::mem::replace(&mut self.path, format!("policies.{name}"));
        let r = f(self);
        self.path = here;
        r
    }

    /// An error at `key` below here, or here if it is empty.
    pub(crate) fn error(
        &self,
        key: &str,
        found: impl fmt::Display,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Problem {
        let dot = if key.is_empty() { "" } else { "." };
        Problem::new(format!("{}{dot}{key}", self.path), found, message, hint)
    }

    /// The error of [`At::error`] unless `ok`.
    pub(crate) fn check(
        &self,
        ok: bool,
        key: &str,
        found: impl fmt::Display,
        message: &str,
        hint: &str,
    ) -> Result<(), Problem> {
        if ok {
            Ok(())
        } else {
            Err(self.error(key, found, message, hint))
        }
    }

    /// A packet's length that is not zero.
    pub(crate) fn packet(&self, key: &str, size: Size) -> Result<(), Problem> {
        let message = "a packet has at least 1 byte";
        self.check(size.0 > 0, key, size, message, "write a size such as 500 B")
    }

    /// Notes what the user should know; once, even if a policy is used twice.
    pub(crate) fn warn(&mut self, text: impl fmt::Display) {
        let warning = format!("{}: {text}", self.path);
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// A queue limit that is not zero.
    pub(crate) fn bound(&self, key: &str, limit: Limit, rate: Rate) -> Result<Bound, Problem> {
        let bound = Bound::new(limit, rate);
        self.check(
            bound.packets > 0 && bound.bytes > 0,
            key,
            limit,
            &match limit {
                Limit::Time(_) => format!("not a byte fits into it at {rate}"),
                _ => "nothing fits into it".to_owned(),
            },
            "write a limit such as 64 packets, 96 kB or 20 ms",
        )?;
        Ok(bound)
    }
}

/// A hint that names the valid name nearest to `found`, or lists some.
pub(crate) fn valid_names<'a>(found: &str, valid: impl Iterator<Item = &'a String>) -> String {
    let valid: Vec<&str> = valid.map(String::as_str).collect();
    match suggest::nearest(found, valid.iter().copied()) {
        _ if valid.is_empty() => "no policy is defined".to_owned(),
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let quoted: Vec<_> = valid.iter().map(|n| format!("`{n}`")).collect();
            let quoted = quoted.iter().map(String::as_str);
            format!("defined are {}", suggest::list(quoted))
        }
    }
}

/// A policy as written, with the policies nested in it, to be resolved again at another rate.
#[derive(Debug)]
pub(crate) struct Origin {
    name: String,
    policies: BTreeMap<String, DisciplineSpec>,
    line: Line,
}

impl Origin {
    /// The policy `name`, which exists, with the policies that it refers to.
    fn of(name: &str, all: &BTreeMap<String, DisciplineSpec>, line: Line) -> Self {
        let mut policies = BTreeMap::new();
        let mut names = vec![name];
        while let Some(name) = names.pop() {
            let Some((name, spec)) = all.get_key_value(name) else {
                continue;
            };
            if policies.insert(name.clone(), spec.clone()).is_none() {
                names.extend(spec.nested());
            }
        }
        let name = name.to_owned();
        Self {
            name,
            policies,
            line,
        }
    }

    /// Writes the policies, the first without its name.
    pub(crate) fn write(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        let nested = self.policies.iter().filter(|(name, _)| **name != self.name);
        let (longest, counting) = (self.line.longest, self.line.counting);
        write!(
            out,
            "{:?}{longest:?}{counting:?}",
            self.policies.get(&self.name)
        )?;
        nested
            .into_iter()
            .try_for_each(|policy| write!(out, "{policy:?}"))
    }

    /// The engine at `rate`, and warnings.
    pub(crate) fn engine(&self, rate: Rate) -> Result<(Engine, Vec<String>), Problem> {
        resolve_policy(&self.name, &self.policies, self.line.at(rate))
    }
}

/// The engine of the policy `name` for a line, and warnings.
fn resolve_policy(
    name: &str,
    policies: &BTreeMap<String, DisciplineSpec>,
    line: Line,
) -> Result<(Engine, Vec<String>), Problem> {
    let mut warnings = Vec::new();
    let mut at = At::new(&mut warnings);
    let Some(spec) = policies.get(name) else {
        return Err(at.error(
            "",
            name,
            "there is no policy of this name",
            valid_names(name, policies.keys()),
        ));
    };
    let scope = Scope {
        policies,
        name,
        line,
    };
    Sizes::new(policies).check(name)?;
    let engine = at.policy(name, |at| spec.resolve(at, &scope))?;
    Ok((engine, warnings))
}

/// A validated policy for a port of a given rate: names, rates and limits are
/// resolved, and nothing is left that can fail.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// The discipline as built, empty and without flows.
    prototype: Discipline,
    /// What it was resolved from; none without a policy.
    written: Option<Arc<Origin>>,
}

impl Recipe {
    /// Resolves the policy `name` of `policies` for a port with this line; a rate stands for one
    /// that adds nothing to packets of up to 1500 bytes.
    ///
    /// Beside the recipe come warnings: what is allowed but may surprise.
    ///
    /// # Errors
    /// If the policy, or one nested in it, does not exist or cannot be built.
    pub fn resolve(
        name: &str,
        policies: &BTreeMap<String, DisciplineSpec>,
        line: impl Into<Line>,
    ) -> Result<(Self, Vec<String>), Problem> {
        let line = line.into();
        let (engine, warnings) = resolve_policy(name, policies, line)?;
        let origin = Arc::new(Origin::of(name, policies, line));
        let recipe = Self {
            prototype: Discipline::new(engine, Some(origin.clone())),
            written: Some(origin),
        };
        Ok((recipe, warnings))
    }

    /// Resolves a discipline on its own, without other policies that it might name, for a port that
    /// sends at `rate`. Errors and warnings call it `policies.policy`.
    ///
    /// # Errors
    /// If it cannot be built, or a class of it names a policy.
    pub fn of(spec: DisciplineSpec, line: impl Into<Line>) -> Result<(Self, Vec<String>), Problem> {
        let policies = BTreeMap::from([("policy".to_owned(), spec)]);
        Self::resolve("policy", &policies, line)
    }

    /// Sets a custom AQM for the queue of a leaf, by its name ([`Recipe::leaf_names`]): a FIFO, a
    /// class that is one, or each queue of a fair queue (`drr`, `fq`, `fq-codel`). It replaces the
    /// AQM of the policy.
    ///
    /// # Errors
    /// If there is no such leaf, or it is of a kind that takes no AQM.
    pub fn manage(&mut self, leaf: &str, aqm: Box<dyn CustomAqm>) -> Result<(), Problem> {
        let error = |message: &str, hint| Problem::new("leaves", leaf, message, hint);
        let names = self.leaf_names();
        let Some(found) = names.iter().position(|n| n == leaf) else {
            let hint = valid_names(leaf, names.iter());
            return Err(error("there is no leaf of this name", hint));
        };
        let leaves = self.prototype.leaves_mut();
        match leaves.get_mut(found).map(|l| l.manage(Custom::from(aqm))) {
            Some(true) => Ok(()),
            _ => {
                let hint = "an AQM can be put into fifo, drr, fair, fq, fq-codel, fq-pie and classes with one of these";
                Err(error("its queue takes no AQM", hint.to_owned()))
            }
        }
    }

    /// A FIFO that never overflows in practice: 1 GB.
    pub fn default_fifo() -> Self {
        let bound = Bound {
            bytes: UNLIMITED_BYTES,
            ..Bound::NONE
        };
        Self {
            prototype: Discipline::new(Leaf::fifo(bound, None).into(), None),
            written: None,
        }
    }

    /// A discipline at its start; `flows` are indexed by [`spillgate_core::Packet::flow`]. It
    /// shares nothing with other disciplines.
    pub fn build(&self, flows: &Arc<[FlowKey]>) -> Discipline {
        self.build_sharing(flows, &mut SharedLists::new())
    }

    /// A discipline at its start, for a world of several links. `lists` are the lists that the
    /// links share; use the same for all links.
    pub fn build_sharing(&self, flows: &Arc<[FlowKey]>, lists: &mut SharedLists) -> Discipline {
        let mut d = self.prototype.clone();
        d.attach(flows, lists);
        d
    }

    /// Whether its packets are classified by metadata, as [`Discipline::looks_at_marks`].
    pub fn looks_at_marks(&self) -> bool {
        self.prototype.looks_at_marks()
    }

    /// Writes all that decides what the discipline does, and its leaves' names; the name of the
    /// policy does not. `rate_changes`: it will be [resolved again](crate::Discipline) at other
    /// rates, which its policies as written decide.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_identity(&self, out: &mut dyn fmt::Write, rate_changes: bool) -> fmt::Result {
        self.prototype.write_identity(out, rate_changes)
    }

    /// The policy as a tree, to be shown; none for a port without a policy.
    pub fn policy(&self) -> Option<Policy<'_>> {
        let origin = self.written.as_ref()?;
        Policy::of(&origin.policies, &origin.name, Some(origin.line.into()))
    }

    /// The line that it was resolved for; none for a port without a policy.
    pub fn line(&self) -> Option<Line> {
        self.written.as_ref().map(|origin| origin.line)
    }

    /// What its rates count, where that is not what packets occupy on the link: only class-based
    /// policies have such rates.
    pub fn counting(&self) -> Option<Counting> {
        let policy = self.policy()?;
        let counting = self.line()?.counting;
        let has_rates = policy.spec.has_rates();
        Some(counting).filter(|c| has_rates && !c.is_of_link())
    }

    /// The state of each leaf before the first packet: it tells which averages are kept, and what
    /// AQMs show.
    pub fn gauges(&self) -> Vec<LeafGauges> {
        let leaves = 0..self.prototype.leaves().len();
        let idle = |leaf| self.prototype.gauges(leaf, Time::ZERO);
        leaves.map(idle).collect()
    }

    /// The token buckets before the first packet: [`Discipline::tokens`].
    pub fn tokens(&self) -> Vec<(String, State)> {
        self.prototype.tokens(Time::ZERO)
    }

    /// Whether it decides about packets when they arrive and sends them in order, so that
    /// departures are known then: [`Discipline::decided_at_arrival`].
    pub fn decides_at_arrival(&self) -> bool {
        self.prototype.decided_at_arrival().is_some()
    }

    /// What it takes into account of queues in front of it: [`Discipline::upstream_use`].
    pub fn upstream_use(&self) -> UpstreamUse {
        self.prototype.upstream_use()
    }

    /// The rate to which its shapers hold all packets together, in b/s; none if some packets go
    /// through no shaper.
    pub fn shaped(&self) -> Option<u64> {
        self.prototype.shaped()
    }

    /// Whether it admits flows, not only packets: FAN.
    pub fn admits(&self) -> bool {
        self.prototype.admission(Time::ZERO).is_some()
    }

    /// Names of the leaves, as [`Discipline::leaf_names`].
    pub fn leaf_names(&self) -> Vec<String> {
        self.prototype.leaf_names()
    }

    /// Names of the classes with policers, in the order of [`Discipline::meters`].
    pub fn meter_names(&self) -> impl Iterator<Item = &str> {
        self.prototype.meters().map(|(name, _)| name)
    }

    /// The code points that it may give to packets.
    pub fn marks(&self) -> Vec<Dscp> {
        self.prototype.marks()
    }

    /// By leaf, whether packets of one queue are dropped by their code points: by an AQM with drop
    /// precedences, or by limits of their own.
    pub fn tells_precedences(&self) -> Vec<bool> {
        let mut prototype = self.prototype.clone();
        let mut tells: Vec<bool> = prototype
            .leaves_mut()
            .iter()
            .map(|l| l.tells_precedences())
            .collect();
        tells.resize(self.prototype.leaves().len(), false);
        tells
    }

    /// Upper estimate, in bytes, of the memory of one discipline with all its
    /// queues full, for so many flows. Byte limits count at 64 B a packet; a
    /// limit of 1 GB or more stands for "unlimited" and counts as nothing.
    pub fn memory_bytes(&self, flows: usize) -> u64 {
        self.prototype.memory_bytes(flows)
    }
}

/// Runs `f` somewhere, for tests of what resolves below a policy.
#[cfg(test)]
pub(crate) fn test_at<R>(f: impl FnOnce(&mut At<'_>) -> R) -> R {
    f(&mut At {
        path: "policies.test".to_owned(),
        warnings: &mut Vec::new(),
    })
}
