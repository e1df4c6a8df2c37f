//! Worst cases as packets: arrivals that come near the bound of a queue, found with the engine.
//!
//! What a bound adds up is constructed: greedy sources that begin together, the longest packet just
//! in front, a full queue, others that always have packets. Where what comes first is up to a
//! scheduler, the burst is tried at many instants of its cycle, and the worst is kept; it is the
//! largest found, not the largest there is. All of it is a scenario that replays a capture, so that
//! `spillgate run` shows the same again.
//!
//! Flows with an arrival curve keep it. Those without (TCP, random gaps, captures) send any packets
//! of their longest length, as their bound allows for. Nothing is random.
//!
//! Complexity: some dozens of runs for a queue, each of up to 150,000 packets.

mod greedy;
mod shape;
mod trial;

use std::path::Path;

use serde_json::Value;
use spillgate_bounds::{Feed, Hop, feeds};
use spillgate_core::Dur;
use spillgate_scenario::plan::WorldPlan;
use spillgate_scenario::schema::Scenario;
use spillgate_scenario::{Files, Importer};
use spillgate_sim::explain::{Question, explain};

use crate::explanation;
use shape::{Phases, Shape, Stage};
use trial::{Bench, Passed};
pub use trial::{PACKETS, Sent};

/// Instants at which a burst is tried.
const INSTANTS: usize = 24;
/// The same for each beginning of another flow.
const FEWER: usize = 8;
/// Of how many flows with queues of their own the worst is sought.
const FLOWS: usize = 3;
/// Most packets of all that is tried once the usual shapes are.
const EFFORT: usize = 200_000;
/// Nothing more is tried where at most this part of the bound is missing.
const NEAR: u64 = 200;

/// The worst arrivals at a queue that were found.
#[derive(Clone, Debug)]
pub struct Worst {
    /// The longest time from arrival until a packet has been sent.
    pub reached: Dur,
    /// The bound of that.
    pub bound: Dur,
    /// Why it is less than the bound, if it is by more than a hundredth.
    pub gap: Option<String>,
    /// The flow of the packet, and its number in it.
    pub flow: String,
    /// Its number in its flow.
    pub number: u32,
    /// What happened to it, as `spillgate explain` says it.
    pub story: Value,
    /// The scenario, in YAML, with [`PACKETS`] beside it.
    pub scenario: String,
    /// The capture that it replays.
    pub packets: Vec<u8>,
    /// The packets of it as they leave their sources, by time.
    pub sent: Vec<Sent>,
    /// How many arrivals were tried.
    pub tried: usize,
}

/// Where a scenario comes from.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The scenario's file.
    pub path: &'a Path,
    /// Where its files are.
    pub files: &'a dyn Files,
    /// Reads the configurations that it names.
    pub importer: &'a dyn Importer,
    /// Refuses files outside its folder.
    pub confine: bool,
}

/// Arrivals that come near the bound of a queue of `world`, which is the point `scenario`; none if
/// `cancelled` says so meanwhile.
///
/// # Errors
/// Why no packets could be made: there is no bound, or the traffic cannot be expressed.
pub fn worst(
    scenario: &Scenario,
    world: &WorldPlan,
    hop: &Hop,
    place: Place<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Option<Worst>, String> {
    let bound = hop.bound.as_ref().map_err(ToString::to_string)?;
    let feeds = feeds(world, hop.link);
    let at = (hop.link, &feeds[..]);
    let bench = Bench::new(scenario, world, at, place, bound.delay.as_ps())?;
    let stage = stage(world, hop, &feeds, bound.delay);
    let mut search = Search {
        bench,
        stage,
        best: None,
        tried: 0,
        effort: 0,
        cancelled,
    };
    match search.all(hop).and_then(|()| search.finish(hop)) {
        Ok(found) => Ok(Some(found)),
        Err(Ending::Cancelled) => Ok(None),
        Err(Ending::Failed(why)) => Err(why),
    }
}

/// Why a search ends early.
enum Ending {
    Cancelled,
    Failed(String),
}

impl From<String> for Ending {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

type Step<T> = Result<T, Ending>;

fn stage<'a>(world: &WorldPlan, hop: &Hop, feeds: &'a [Feed], bound: Dur) -> Stage<'a> {
    let plan = &world.links[hop.link as usize];
    let keys = world.flows.iter().map(|f| f.key).collect();
    let discipline = plan.discipline.build(&keys);
    let leaves = plan.discipline.leaf_names().len();
    let slowest = |f: &Feed| {
        let before = f.path[..f.path.len() - 1].iter();
        before.map(|l| world.links[*l as usize].rate).min()
    };
    Stage {
        feeds,
        leaf: hop.leaf,
        flow: None,
        rate: plan.rate,
        ring: plan.tx_ring.packets,
        bound: bound.as_ps(),
        limits: (0..leaves).map(|l| discipline.limit(l)).collect(),
        wire: feeds
            .iter()
            .map(|f| plan.overhead.wire_len(*f.lengths.end()).max(1))
            .collect(),
        access: feeds.iter().map(slowest).collect(),
    }
}

/// The worst packet so far, and what was sent.
struct Best {
    took: u64,
    packet: Passed,
    sent: Vec<Sent>,
    passed: Vec<Passed>,
}

struct Search<'a> {
    bench: Bench<'a>,
    stage: Stage<'a>,
    best: Option<Best>,
    tried: usize,
    /// Packets since the count began.
    effort: usize,
    cancelled: &'a dyn Fn() -> bool,
}

impl Search<'_> {
    /// Tries packets; what became of them, none if it was cancelled.
    fn attempt(&mut self, sent: Vec<Sent>) -> Step<Vec<Passed>> {
        if (self.cancelled)() {
            return Err(Ending::Cancelled);
        }
        if sent.is_empty() {
            return Ok(Vec::new());
        }
        self.tried += 1;
        let passed = self.bench.run(&sent)?;
        let own = passed.iter().filter(|p| self.stage.has(p));
        let took = |p: &Passed| p.end.map_or(0, |end| end - p.arrived);
        let worst = own.max_by_key(|p| took(p)).copied();
        if let Some(packet) = worst {
            let took = took(&packet);
            let is_better = |b: &Best| took > b.took || took == b.took && sent.len() < b.sent.len();
            if self.best.as_ref().is_none_or(is_better) {
                self.best = Some(Best {
                    took,
                    packet,
                    sent,
                    passed: passed.clone(),
                });
            }
        }
        Ok(passed)
    }

    fn shape(&mut self, shape: Shape, phases: &Phases) -> Step<Vec<Passed>> {
        let sent = self.stage.packets(shape, phases);
        self.effort += sent.len();
        self.attempt(sent)
    }

    /// Whether at most the `part`-th part of the bound is missing.
    fn is_within(&self, part: u64) -> bool {
        let best = self.best.as_ref().map_or(0, |b| b.took);
        self.stage.bound - best.min(self.stage.bound) <= self.stage.bound / part
    }

    /// Tries all shapes, for each of some flows where flows have queues of their own.
    fn all(&mut self, hop: &Hop) -> Step<()> {
        let flows = hop.flows();
        if flows.is_empty() {
            return self.shapes();
        }
        for flow in flows.into_iter().take(FLOWS) {
            self.stage.flow = Some(flow);
            self.shapes()?;
            if self.is_within(NEAR) {
                break;
            }
        }
        Ok(())
    }

    fn shapes(&mut self) -> Step<()> {
        let usual = Phases::new();
        let mut fronts: Vec<Option<usize>> = self.stage.fronts().into_iter().map(Some).collect();
        fronts.push(None);
        for front in fronts {
            for others_first in [true, false] {
                let shape = Shape::Quiet {
                    front,
                    others_first,
                };
                self.shape(shape, &usual)?;
                if self.is_within(10_000) {
                    return self.tighten();
                }
            }
        }
        if !self.is_within(NEAR) {
            self.shape(Shape::Steady, &usual)?;
        }
        self.busy(&usual, INSTANTS)?;
        self.other_phases()?;
        self.tighten()
    }

    /// Tries the burst at instants at which others have had packets for long.
    fn busy(&mut self, phases: &Phases, instants: usize) -> Step<()> {
        for own in [false, true] {
            let end = 2 * self.stage.prelude();
            if self.is_within(NEAR) {
                break;
            }
            let passed = self.shape(Shape::Busy { at: end, own }, phases)?;
            for at in self.instants(&passed, own).into_iter().take(instants) {
                self.shape(Shape::Busy { at, own }, phases)?;
            }
        }
        Ok(())
    }

    /// Tries other beginnings of the others, one after the other, and keeps those that are worse.
    fn other_phases(&mut self) -> Step<()> {
        let mut kept = Phases::new();
        self.effort = 0;
        for (feed, phase) in self.stage.phases() {
            if self.is_within(NEAR) || self.effort > EFFORT {
                break;
            }
            let before = self.best.as_ref().map_or(0, |b| b.took);
            let mut phases = kept.clone();
            phases.insert(feed, phase);
            self.busy(&phases, FEWER)?;
            if self.best.as_ref().is_some_and(|b| b.took > before) {
                kept = phases;
            }
        }
        Ok(())
    }

    /// Right after packets began to leave before the burst: the last of each queue, and of the own
    /// one.
    fn instants(&self, passed: &[Passed], own: bool) -> Vec<u64> {
        let end = 2 * self.stage.prelude();
        let begun = passed
            .iter()
            .filter_map(|p| Some((p.taken?, self.stage.has(p))));
        let mut begun: Vec<(u64, bool)> = begun
            .filter(|(t, _)| (end / 2..end).contains(t))
            .filter(|(_, is_own)| !own || *is_own)
            .collect();
        begun.sort_unstable();
        let last = begun.iter().rev();
        last.map(|(t, _)| t + 1).collect()
    }

    /// Takes away what is not needed, and brings packets forward to where there was room.
    fn tighten(&mut self) -> Step<()> {
        for ways in [(true, false), (true, false), (false, false), (false, true)] {
            let Some(best) = &self.best else { break };
            if !self.stage.has(&best.packet) {
                break;
            }
            let sent = self
                .stage
                .tightened(&best.sent, &best.passed, &best.packet, ways);
            self.attempt(sent)?;
        }
        Ok(())
    }

    /// The best as a scenario, with its story.
    fn finish(self, hop: &Hop) -> Step<Worst> {
        let Some(best) = &self.best else {
            return Err("none of its flows can send its longest packet"
                .to_owned()
                .into());
        };
        let (world, feeds) = (self.bench.world, self.stage.feeds);
        let feed = &feeds[best.packet.feed];
        let sent = self.bench.at_sources(&best.sent);
        let begin = sent.first().map_or(0, |s| s.at);
        let last = sent.last().map_or(0, |s| s.at) - begin;
        let queue = format!("{}/{}", world.links[hop.link as usize].name, hop.name);
        let title = format!("The worst case found of queue {queue}");
        let made = self.bench.made(&sent, &title, last)?;
        let again = self.bench.load(&made)?;
        let mut rows: Vec<usize> = sent.iter().map(|s| s.feed).collect();
        rows.sort_unstable();
        rows.dedup();
        let row = rows.partition_point(|r| *r < best.packet.feed) as u32;
        let question = Question {
            groups: vec![vec![row]],
            worst: 1,
            at: Some(hop.link),
            number: Some(best.packet.seq),
            ..Question::default()
        };
        let answer = explain(&again, 1, 0, &question, self.cancelled).ok_or(Ending::Cancelled)?;
        let flow = again.flows[row as usize].name.to_string();
        let told = explanation(&again, std::slice::from_ref(&flow), &answer);
        let (bound, reached) = (self.stage.bound, best.took);
        Ok(Worst {
            reached: Dur::from_ps(reached),
            bound: Dur::from_ps(bound),
            gap: (u128::from(reached) * 100 < u128::from(bound) * 99 || reached > bound)
                .then(|| self.why(feed, hop)),
            flow,
            number: best.packet.seq,
            story: told["groups"][0]["packets"][0].clone(),
            scenario: made.text,
            packets: made.packets,
            sent,
            tried: self.tried,
        })
    }

    /// Why the bound was not reached.
    fn why(&self, feed: &Feed, hop: &Hop) -> String {
        if self
            .best
            .as_ref()
            .is_some_and(|b| b.took > self.stage.bound)
        {
            return "it is above the bound, an error of this program: please report it".to_owned();
        }
        let late = feed.path.len() > 1;
        let by_limit = hop
            .bound
            .as_ref()
            .is_ok_and(|b| b.from == spillgate_bounds::From::Limit);
        let limit = self.stage.limits[usize::from(hop.leaf)];
        let whole = limit.bytes.is_none_or(|b| {
            let own = self.stage.feeds.iter().zip(&self.stage.wire);
            let mut own = own.filter(|(f, _)| f.leaf == hop.leaf);
            own.any(|(_, len)| b % u64::from(*len) == 0)
        });
        if late {
            "its packets come over other links, where they wait for each other; the bound holds for all that these links may do".to_owned()
        } else if by_limit && !whole {
            "packets of these lengths do not fill its limit in bytes".to_owned()
        } else {
            format!(
                "the bound takes packets of others for a fluid and adds up their worst orders, which did not come together in {} tries",
                self.tried
            )
        }
    }
}
