//! Packets that are sent at given times: as a scenario, and what a port makes of them.

use std::any::Any;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use spillgate_bounds::Feed;
use spillgate_capture::Opener;
use spillgate_core::{Dropped, Packet, Time};
use spillgate_events::WinnerTree;
use spillgate_scenario::plan::WorldPlan;
use spillgate_scenario::schema::Scenario;
use spillgate_scenario::{Files, Options, load};
use spillgate_sim::tap::{FlowInfo, Place as LostAt, PortView, Seen, Tap};
use spillgate_sim::{Stop, World};

use super::Place;
use crate::pcapng::{Sender, written};

/// The capture beside the scenario.
pub const PACKETS: &str = "packets.pcapng";
/// The seed of its only run.
pub(super) const SEED: u64 = 1;
/// When it begins: the measured period needs a warm-up.
const START: &str = "1 us";
const START_PS: u64 = 1_000_000;

/// A packet that is to come to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The index of its flow among those over the port.
    pub feed: usize,
    /// When, in picoseconds.
    pub at: u64,
    /// The length of the IP packet in bytes.
    pub len: u16,
}

/// What became of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    pub(super) feed: usize,
    /// Its number within its flow.
    pub(super) seq: u32,
    pub(super) leaf: u16,
    pub(super) arrived: u64,
    /// When it left the queue, for the transmit ring or the line; none: it was dropped or stays.
    pub(super) taken: Option<u64>,
    /// When its transmission ended.
    pub(super) end: Option<u64>,
}

/// A scenario that sends these packets.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// The scenario, in YAML.
    pub(super) text: String,
    /// The capture.
    pub(super) packets: Vec<u8>,
}

/// The scenario whose traffic is replaced.
pub(super) struct Bench<'a> {
    pub(super) world: &'a WorldPlan,
    pub(super) link: u32,
    pub(super) feeds: &'a [Feed],
    /// Its point, without traffic.
    base: Value,
    /// What the network of `world` is.
    network: String,
    place: Place<'a>,
    /// The bound in picoseconds.
    pub(super) bound: u64,
}

/// What a failed trial says.
pub(super) type Trial = Result<Vec<Passed>, String>;

impl<'a> Bench<'a> {
    pub(super) fn new(
        scenario: &Scenario,
        world: &'a WorldPlan,
        (link, feeds): (u32, &'a [Feed]),
        place: Place<'a>,
        bound: u64,
    ) -> Result<Self, String> {
        let mut base = serde_json::to_value(scenario).map_err(|e| e.to_string())?;
        if let Value::Object(keys) = &mut base {
            // What is about other traffic.
            for key in ["sla", "verdicts", "voice", "description"] {
                keys.remove(key);
            }
        }
        if let Some(Value::Object(topology)) = base.get_mut("topology") {
            topology.remove("failures");
        }
        base["runs"] = json!({"count": 1, "seed": SEED});
        Ok(Self {
            world,
            link,
            feeds,
            base,
            network: network(world),
            place,
            bound,
        })
    }

    /// What a packet of `len` bytes takes from its source to the port, where nothing waits.
    pub(super) fn before(&self, feed: usize, len: u16) -> u64 {
        let path = &self.feeds[feed].path;
        let mut sum = 0;
        for pair in path.windows(2) {
            let link = &self.world.links[pair[0] as usize];
            let sends = link.rate.tx_time(link.overhead.wire_len(len));
            let passing = self.world.passing(link.to);
            sum += (sends + link.delay + passing).as_ps();
        }
        sum
    }

    /// The longest of these times.
    pub(super) fn offset(&self) -> u64 {
        let longest = |i: usize| self.before(i, *self.feeds[i].lengths.end());
        (0..self.feeds.len()).map(longest).max().unwrap_or(0)
    }

    /// When the packets leave their sources, so that they come to the port when they are to, or
    /// as soon after as the links before let them.
    pub(super) fn at_sources(&self, sent: &[Sent]) -> Vec<Sent> {
        let offset = self.offset();
        let mut order: Vec<Sent> = sent.to_vec();
        order.sort_by_key(|s| s.at);
        // By first link when it is free.
        let mut free: BTreeMap<u32, u64> = BTreeMap::new();
        for s in &mut order {
            let path = &self.feeds[s.feed].path;
            s.at += offset - self.before(s.feed, s.len).min(offset);
            if path.len() > 1 {
                let slowest = path[..path.len() - 1].iter().map(|l| {
                    let link = &self.world.links[*l as usize];
                    link.rate.tx_time(link.overhead.wire_len(s.len)).as_ps()
                });
                let free = free.entry(path[0]).or_default();
                s.at = s.at.max(*free);
                *free = s.at + slowest.max().unwrap_or(0);
            }
        }
        order.sort_by_key(|s| s.at);
        order
    }

    /// The flows that send, and their rows.
    fn rows(&self, sent: &[Sent]) -> Vec<usize> {
        let mut rows: Vec<usize> = sent.iter().map(|s| s.feed).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    fn name(&self, feed: usize) -> String {
        let feed = &self.feeds[feed];
        let name = &self.world.flows[feed.flow].name;
        if feed.answers {
            format!("acknowledgments of {name}")
        } else {
            name.to_string()
        }
    }

    /// The scenario that sends these packets, given at their sources by time.
    pub(super) fn made(&self, sent: &[Sent], title: &str, lasts: u64) -> Result<Made, String> {
        let rows = self.rows(sent);
        let named = |i: &usize| format!("flow {}", self.name(*i));
        let senders: Vec<Sender> = rows
            .iter()
            .map(|i| Sender {
                name: named(i),
                key: self.feeds[*i].key,
            })
            .collect();
        let begin = sent.iter().map(|s| s.at).min().unwrap_or(0);
        let packets = sent.iter().enumerate().map(|(n, s)| {
            let row = rows.partition_point(|r| *r < s.feed);
            let mut packet = Packet::new(row as u32, n as u32, s.len);
            packet.sent = Time::from_ps(s.at - begin);
            packet.dscp = self.feeds[s.feed].dscp;
            packet.ecn = self.world.flows[self.feeds[s.feed].flow].ecn;
            packet
        });
        let packets = written(title, &senders, packets).map_err(|e| e.to_string())?;
        let node = |id: u32| &self.world.nodes[id as usize];
        let traffic = rows.iter().map(|i| {
            let feed = &self.feeds[*i];
            let flow = &self.world.flows[feed.flow];
            let (from, to) = match feed.answers {
                true => (flow.to, flow.from),
                false => (flow.from, flow.to),
            };
            json!({"capture": {
                "name": self.name(*i),
                "file": PACKETS,
                "from": node(from),
                "to": node(to),
                "start": START,
                "class": self.world.classes[usize::from(flow.class)],
                "group": "all",
                "only": {"interface": named(i)},
            }})
        });
        let mut scenario = self.base.clone();
        scenario["name"] = title.into();
        scenario["traffic"] = traffic.collect();
        // Whole microseconds, and not nothing.
        let micros = lasts / 1_000_000 + 1;
        scenario["measurement"] = json!({
            "warmup": START,
            "duration": format!("{micros} us"),
            // The packets that wait longest leave last.
            "grace": format!("{} us", self.bound / 500_000 + 1_000),
            "interval": format!("{} us", micros.div_ceil(100)),
        });
        Ok(Made {
            text: yaml(title, &scenario),
            packets,
        })
    }

    /// Its world.
    pub(super) fn load(&self, made: &Made) -> Result<Arc<WorldPlan>, String> {
        let files = Beside {
            made,
            path: self.place.path,
            packets: self.place.path.with_file_name(PACKETS),
            files: self.place.files,
        };
        let options = Options {
            confine: self.place.confine,
            ..Options::default()
        };
        let loaded = load(self.place.path, &files, self.place.importer, &options);
        let world = &loaded.map_err(|e| e.to_string())?.plan.variants[0].world;
        if network(world) != self.network {
            return Err("it depends on what replaces parts of an imported configuration, which no scenario with other traffic can say".to_owned());
        }
        Ok(Arc::clone(world))
    }

    /// Sends packets, which are given by the times at which they are to come to the port.
    pub(super) fn run(&self, sent: &[Sent]) -> Trial {
        let sent = self.at_sources(sent);
        let begin = sent.first().map_or(0, |s| s.at);
        let last = sent.last().map_or(0, |s| s.at) - begin;
        let made = self.made(&sent, "trial", last)?;
        let world = self.load(&made)?;
        let watch = Watch {
            link: self.link,
            rows: self.rows(&sent),
            ..Watch::default()
        };
        let mut run = World::<WinnerTree>::tapped(&world, SEED, 0, false, Box::new(watch));
        while run.run(1 << 16) != Stop::Done {}
        if let Some(why) = run.fault() {
            return Err(why.to_string());
        }
        let tap = run.into_tap().map(Tap::into_any);
        let Some(Ok(watch)) = tap.map(|t| t.downcast::<Watch>()) else {
            return Err("the run has lost its tap".to_owned());
        };
        // As the times were given: the run begins with the first packet at its source.
        let offset = self.offset();
        let as_given = |t: u64| (t + begin).saturating_sub(offset + START_PS);
        let mut passed = watch.passed;
        for p in &mut passed {
            p.arrived = as_given(p.arrived);
            p.taken = p.taken.map(as_given);
            p.end = p.end.map(as_given);
        }
        Ok(passed)
    }
}

/// All that decides what ports and nodes do.
fn network(world: &WorldPlan) -> String {
    let mut out = String::new();
    for link in &world.links {
        let ring = link.tx_ring.packets;
        out += &format!("{} {} {} {ring} ", link.name, link.rate, link.overhead);
        // Writing to a text does not fail.
        let _ = link.discipline.write_identity(&mut out, false);
    }
    for stage in world.stages.iter() {
        let _ = stage.write_identity(&mut out);
    }
    out
}

/// The keys of a scenario in their usual order.
const ORDER: [&str; 7] = [
    "schema_version",
    "name",
    "topology",
    "policies",
    "traffic",
    "measurement",
    "runs",
];

/// A block for each of the first keys, one line for each value in them.
fn yaml(title: &str, scenario: &Value) -> String {
    let mut out = format!("# {title}\n");
    let Value::Object(keys) = scenario else {
        return out;
    };
    let place = |key: &String| ORDER.iter().position(|o| o == key);
    let mut keys: Vec<_> = keys.iter().collect();
    keys.sort_by_key(|(key, _)| place(key).unwrap_or(2));
    for (key, value) in keys {
        match value {
            Value::Object(parts) if !parts.is_empty() && key != "measurement" && key != "runs" => {
                out += &format!("{key}:\n");
                for (name, value) in parts {
                    out += &format!("  {}: {value}\n", json!(name));
                }
            }
            Value::Array(items) if !items.is_empty() => {
                out += &format!("{key}:\n");
                for item in items {
                    out += &format!("  - {item}\n");
                }
            }
            _ => out += &format!("{key}: {value}\n"),
        }
    }
    out
}

/// The files of the scenario, with what was made in place of its own.
struct Beside<'a> {
    made: &'a Made,
    path: &'a Path,
    packets: std::path::PathBuf,
    files: &'a dyn Files,
}

impl Files for Beside<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == self.path {
            Ok(self.made.text.clone().into_bytes())
        } else {
            self.files.read(path)
        }
    }

    fn opener(&self, path: &Path) -> io::Result<Arc<dyn Opener>> {
        if path == self.packets {
            Ok(Arc::new(Arc::<[u8]>::from(&self.made.packets[..])))
        } else {
            self.files.opener(path)
        }
    }

    fn lies_in(&self, path: &Path, folder: &Path) -> bool {
        path == self.path || path == self.packets || self.files.lies_in(path, folder)
    }
}

/// Watches the port of one link.
#[derive(Default)]
struct Watch {
    link: u32,
    /// By flow of the plan.
    rows: Vec<usize>,
    flows: Vec<FlowInfo>,
    /// Of those at the port the place in `passed`, by flow and number.
    waiting: BTreeMap<(u32, u32), usize>,
    passed: Vec<Passed>,
}

impl Watch {
    fn of(&mut self, seen: &Seen<'_>) -> Option<&mut Passed> {
        let at = self.waiting.get(&(seen.packet.flow, seen.packet.seq))?;
        self.passed.get_mut(*at)
    }
}

impl Tap for Watch {
    fn begin(&mut self, flows: &[FlowInfo]) {
        self.flows = flows.to_vec();
    }

    fn offered(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if port.link != self.link {
            return;
        }
        let p = seen.packet;
        self.waiting.insert((p.flow, p.seq), self.passed.len());
        self.passed.push(Passed {
            feed: self.rows[self.flows[p.flow as usize].of as usize],
            seq: p.seq,
            leaf: p.leaf,
            arrived: port.now.as_ps(),
            taken: None,
            end: None,
        });
    }

    fn ringed(&mut self, now: Time, link: u32, seen: Seen<'_>) {
        if link == self.link {
            if let Some(p) = self.of(&seen) {
                p.taken = Some(now.as_ps());
            }
        }
    }

    fn served(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if port.link == self.link {
            let (now, end) = (port.now.as_ps(), port.free_at.as_ps());
            if let Some(p) = self.of(&seen) {
                p.taken = p.taken.or(Some(now));
                p.end = Some(end);
            }
            self.waiting.remove(&(seen.packet.flow, seen.packet.seq));
        }
    }

    fn lost(&mut self, _: Time, place: LostAt, _: &Dropped, seen: Seen<'_>) {
        if matches!(place, LostAt::Port(link, _) if link == self.link) {
            self.waiting.remove(&(seen.packet.flow, seen.packet.seq));
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
