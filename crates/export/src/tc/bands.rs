//! A policy of priorities and shares as bands of `ets` or `prio`.
//!
//! Priority classes are strict bands in the order of their levels; `ets` serves the others by
//! deficit round robin, their quanta being in proportion to what they are guaranteed, so that
//! each has at least its share of what priorities leave. Nothing limits the rate: the device's own
//! is that of the policy.

use std::fmt::Write as _;

use spillgate_core::Rate;
use spillgate_queueing::spec::ClassSpec;
use spillgate_queueing::{Class, PacketSet, Policy};
use spillgate_scenario::{Diagnostic, Diagnostics};

use super::{Entry, LEAST_TURN, Scheduler, Script, Target, actions, dscps, queue};
use crate::{codes, place};

/// Bands that either discipline has at most.
const MOST: usize = 16;
/// Priorities of packets in Linux, each of which is given a band.
const PRIORITIES: usize = 16;

/// A class with a queue.
struct Band<'a> {
    /// Its place among the classes.
    index: usize,
    class: &'a ClassSpec,
    /// Its level among those that go first, from 1.
    level: Option<u8>,
    /// What it is guaranteed; the whole rate for a class that has nothing, and for priority.
    rate: Rate,
    /// Its part in the division; none for a class for which the others leave nothing.
    share: Option<Rate>,
    place: String,
}

impl Script<'_> {
    /// Writes a policy as bands.
    ///
    /// # Errors
    /// Classes with policies or shapers of their own, more classes than bands, and for `prio`
    /// several classes without priority.
    pub(super) fn bands(&mut self, policy: &Policy<'_>, rate: Rate) -> Result<(), Diagnostics> {
        let name = policy.name;
        self.note_turns(policy);
        let classes = policy.classes();
        let mut bands = Vec::new();
        for Class {
            index,
            spec: class,
            division,
            ..
        } in &classes
        {
            let place = place(name, &class.name);
            if class.policy.is_some() || division.shape.is_some() {
                let what = if class.policy.is_some() {
                    "a policy of its own"
                } else {
                    "a shaper"
                };
                return Err(self.refused(&place, &format!("has {what}")));
            }
            if division.queued {
                bands.push(Band {
                    index: *index,
                    class,
                    level: division.level,
                    rate: division.guaranteed.unwrap_or(rate),
                    share: division.guaranteed.filter(|_| !division.spare),
                    place,
                });
            }
        }
        // Strict bands by level, the others as they are written; class-default is last.
        bands.sort_by_key(|b| (b.level.is_none(), b.level, b.index));
        self.check(name, &bands)?;
        let strict = bands.iter().filter(|b| b.level.is_some()).count();
        for pair in bands[..strict]
            .windows(2)
            .filter(|p| p[0].level == p[1].level)
        {
            let reason = format!(
                "bands are strict: class {} goes before it, which has the same level",
                pair[0].class.name
            );
            self.notes.at(&pair[1].place).add(reason);
        }
        let kind = self.scheduler.name();
        self.unlimited(kind, rate, &format!("policy {name}"));
        let default = bands.iter().rposition(|b| b.level.is_none());
        self.default = minor(default.unwrap_or(bands.len() - 1));
        self.root(&command(self.scheduler, &bands, strict, self.default));
        let mut targets = vec![None; classes.len()];
        for (i, band) in bands.iter().enumerate() {
            targets[band.index] = Some(Target::Leaf(minor(i)));
            self.band(band, minor(i), &classes[band.index].division);
        }
        let mut entries = Vec::new();
        for (
            Class {
                spec: class,
                division,
                ..
            },
            target,
        ) in classes.iter().zip(targets)
        {
            let place = place(name, &class.name);
            let steps = self
                .actions
                .steps(class, division, &mut self.notes.at(&place));
            let unsaid = self.source.unsaid(&class.name, class.matching.as_ref());
            entries.push(Entry {
                place,
                unsaid: unsaid.map(str::to_owned),
                matching: class.matching.clone(),
                target,
                steps,
            });
        }
        self.nodes.push(entries);
        self.walk(0, &PacketSet::plain(), &[], 0);
        self.lines.append(&mut self.actions.lines);
        self.lines.append(&mut self.filter_lines);
        Ok(())
    }

    fn check(&self, name: &str, bands: &[Band<'_>]) -> Result<(), Diagnostics> {
        let place = format!("policy {name}");
        if bands.is_empty() || bands.len() > MOST {
            let what = format!(
                "has {} classes with queues, and there are {MOST} bands",
                bands.len()
            );
            return Err(self.refused(&place, &what));
        }
        let mut shares = bands.iter().filter(|b| b.level.is_none());
        if let (Scheduler::Prio, Some(a), Some(b)) = (self.scheduler, shares.next(), shares.next())
        {
            let what = format!(
                "divides what priorities leave between {} and {}",
                a.class.name, b.class.name
            );
            return Err(self.refused(&place, &what));
        }
        Ok(())
    }

    fn refused(&self, place: &str, what: &str) -> Diagnostics {
        let kind = self.scheduler.name();
        let other = if self.scheduler == Scheduler::Prio {
            "ets or htb"
        } else {
            "htb"
        };
        Diagnostic::error(
            codes::NO_BANDS,
            format!("{place} {what}: {kind} cannot say that"),
        )
        .found(kind)
        .hint(format!("write it with {other}"))
        .into()
    }

    /// The queue of a band.
    fn band(&mut self, band: &Band<'_>, minor: u16, division: &spillgate_queueing::Division) {
        if let Some((admitted, burst)) = division.priority.filter(|_| !actions::polices(band.class))
        {
            let reason = format!(
                "priority above its rate of {admitted} (burst {burst} B) is not policed: {} serves it before all others",
                self.scheduler.name()
            );
            self.notes.at(&band.place).add(reason);
        }
        let qdisc = queue::leaf(
            band.class,
            self.line(band.rate),
            dscps(band.class.matching.as_ref()),
            &mut self.notes.at(&band.place),
        );
        self.lines.push(super::comment(&band.place));
        self.lines.push(format!(
            "tc qdisc add dev {} parent 1:{minor:x} handle {minor:x}0: {qdisc}",
            self.device
        ));
    }
}

/// The number of the class of a band.
fn minor(band: usize) -> u16 {
    u16::try_from(band + 1).unwrap_or(u16::MAX)
}

/// The queueing discipline of the bands; packets that no filter takes go to that of `default`.
fn command(scheduler: Scheduler, bands: &[Band<'_>], strict: usize, default: u16) -> String {
    let priomap = vec![(default - 1).to_string(); PRIORITIES].join(" ");
    if scheduler == Scheduler::Prio {
        // It has two bands at least.
        return format!("prio bands {} priomap {priomap}", bands.len().max(2));
    }
    let mut text = format!("ets bands {}", bands.len());
    if strict > 0 {
        let _ = write!(text, " strict {strict}");
    }
    let shares = &bands[strict..];
    let least = shares.iter().filter_map(|b| b.share).min();
    if !shares.is_empty() {
        text.push_str(" quanta");
        for band in shares {
            let times = match (band.share, least) {
                (Some(share), Some(least)) => share.bps() as f64 / least.bps() as f64,
                _ => 1.0,
            };
            // A whole packet at least, rounded to bytes; the field has 32 bits.
            let quantum = (LEAST_TURN as f64 * times + 0.5).min(f64::from(u32::MAX)) as u64;
            let _ = write!(text, " {quantum}");
        }
    }
    let _ = write!(text, " priomap {priomap}");
    text
}
