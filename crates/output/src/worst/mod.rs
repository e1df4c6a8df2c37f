//! Worst cases as packets: arrivals that come near the bound of a queue, found with the engine.
//!
//! What a bound adds up is constructed: greedy sources that begin together, the longest packet just
//! in front, a full queue, others that always have packets. Where what comes first is up to a
//! scheduler, others come as its packets leave, in many ways that are tried at a port alone, and
//! the worst is kept; it is the largest found, not the largest there is. All of it is a scenario
//! that replays a capture, so that `spillgate run` shows the same again.
//!
//! Flows with an arrival curve keep it. Those without (TCP, random gaps, captures) send any packets
//! of their longest length, as their bound allows for. Nothing is random.
//!
//! Complexity: a dozen runs for a queue, and at its port alone up to some millions of packets.

mod greedy;
mod paced;
mod port;
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
use spillgate_sim::flow_hash;

use crate::explanation;
use paced::Paced;
use shape::Stage;
use trial::{Bench, Passed, SEED};
pub use trial::{PACKETS, Sent};

/// Of how many flows with queues of their own the worst is sought.
const FLOWS: usize = 3;
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
        overhead: plan.overhead,
        ecn: feeds.iter().map(|f| world.flows[f.flow].ecn).collect(),
        hash: feeds.iter().map(|f| flow_hash(SEED, 0, &f.key)).collect(),
        rate: plan.rate,
        ring: plan.tx_ring.packets,
        bound: bound.as_ps(),
        limits: (0..leaves).map(|l| discipline.limit(l)).collect(),
        wire: feeds
            .iter()
            .map(|f| plan.overhead.wire_len(*f.lengths.end()).max(1))
            .collect(),
        access: feeds.iter().map(slowest).collect(),
        discipline,
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
        // Of flows that are alike one.
        let mut tried = Vec::new();
        for flow in flows {
            let feed = &self.stage.feeds[flow];
            let alike = feed.like();
            if tried.len() == FLOWS || feed.curve.is_none() && tried.contains(&alike) {
                continue;
            }
            tried.push(alike);
            self.stage.flow = Some(flow);
            self.shapes()?;
            if self.is_within(NEAR) {
                break;
            }
        }
        Ok(())
    }

    fn shapes(&mut self) -> Step<()> {
        let mut fronts: Vec<Option<usize>> = self.stage.fronts().into_iter().map(Some).collect();
        fronts.push(None);
        for front in fronts {
            for others_first in [true, false] {
                let sent = self.stage.packets(front, others_first);
                self.attempt(sent)?;
                if self.is_within(10_000) {
                    return self.tighten();
                }
            }
        }
        if !self.is_within(NEAR) {
            let paced = Paced::new(&self.stage).worst();
            self.attempt(paced.unwrap_or_default())?;
        }
        self.tighten()
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
        let answer =
            explain(&again, SEED, 0, &question, self.cancelled).ok_or(Ending::Cancelled)?;
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
            let packets = limit.packets.map_or(u64::MAX, u64::from);
            own.any(|(_, len)| b % u64::from(*len) == 0 || b / u64::from(*len) >= packets)
        });
        let lost = self.best.as_ref().is_some_and(|b| {
            let own = b.passed.iter().filter(|p| p.feed == b.packet.feed);
            let mut before = own.filter(|p| p.seq < b.packet.seq);
            before.any(|p| p.end.is_none())
        });
        if late {
            "its packets come over other links, where they wait for each other; the bound holds for all that these links may do".to_owned()
        } else if by_limit && !whole {
            "packets of these lengths do not fill its limit in bytes".to_owned()
        } else if lost {
            "packets before it are dropped while they wait, on which the bound does not count"
                .to_owned()
        } else if by_limit && self.stage.flow.is_some() {
            format!(
                "packets of others need places, too, in the limit that all queues share, and their worst orders did not come together in {} tries",
                self.tried
            )
        } else {
            format!(
                "the bound takes packets of others for a fluid and adds up their worst orders, which did not come together in {} tries",
                self.tried
            )
        }
    }
}
