//! The tap that writes packets down.

use std::any::Any;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use spillgate_core::{Dropped, Time};
use spillgate_events::WinnerTree;
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::tap::{FlowInfo, Place, PortView, Seen, Tap};
use spillgate_sim::{Stop, World};

use super::comment::{self, CommentNames};
use super::headers::{Around, headers};
use super::writer::{Direction, Frame, LinkType, Writer};
use super::{Point, Selection};

/// What was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Packets in the file.
    pub packets: u64,
    /// Packets that would have been recorded beyond the limit.
    pub left_out: u64,
    /// Fingerprint of the run.
    pub digest: String,
}

/// Repeats one run and writes the selected packets to a new file; `title` says in the file what
/// was run. None if `cancelled` says so meanwhile.
///
/// # Errors
/// What the file system says; the file is then incomplete.
pub fn record(
    plan: &Arc<WorldPlan>,
    seed: u64,
    run: u32,
    selection: &Selection,
    title: &str,
    path: &Path,
    cancelled: &dyn Fn() -> bool,
) -> io::Result<Option<Recorded>> {
    const BUDGET: u64 = 1 << 16;
    let mut writer = Writer::new(BufWriter::with_capacity(1 << 18, File::create(path)?));
    let program = concat!("Spillgate ", env!("CARGO_PKG_VERSION"));
    writer.section(program, title)?;
    // Raw IP has no place for labels.
    let link = match plan.stages.mpls() {
        Some(_) => LinkType::Ethernet,
        None => LinkType::Raw,
    };
    for (l, point) in &selection.points {
        let name = format!("{}:{}", plan.links[*l as usize].name, point.name());
        writer.interface(link, selection.snaplen, 9, &name, point.description())?;
    }
    let tap = Recorder {
        plan: Arc::clone(plan),
        leaves: plan
            .links
            .iter()
            .map(|l| l.discipline.leaf_names())
            .collect(),
        selection: selection.clone(),
        flows: Vec::new(),
        link,
        writer,
        headers: Vec::with_capacity(256),
        comment: String::with_capacity(256),
        packets: 0,
        left_out: 0,
        error: None,
    };
    let mut world = World::<WinnerTree>::tapped(plan, seed, run, false, Box::new(tap));
    while world.run(BUDGET) != Stop::Done {
        if cancelled() {
            return Ok(None);
        }
    }
    let digest = world.digest();
    let tap = world.into_tap().map(Tap::into_any);
    let Some(Ok(mut tap)) = tap.map(|t| t.downcast::<Recorder<BufWriter<File>>>()) else {
        return Ok(None);
    };
    if let Some(e) = tap.error.take() {
        return Err(e);
    }
    tap.writer.flush()?;
    Ok(Some(Recorded {
        packets: tap.packets,
        left_out: tap.left_out,
        digest,
    }))
}

struct Recorder<W> {
    plan: Arc<WorldPlan>,
    /// By link, then leaf.
    leaves: Vec<Vec<String>>,
    selection: Selection,
    flows: Vec<FlowInfo>,
    link: LinkType,
    writer: Writer<W>,
    headers: Vec<u8>,
    comment: String,
    packets: u64,
    left_out: u64,
    /// The first error; nothing is written after it.
    error: Option<io::Error>,
}

impl<W: Write> Recorder<W> {
    /// The interface of a point, if its packets are recorded at `now`.
    fn interface(&self, link: u32, point: Point, now: Time) -> Option<u32> {
        if now < self.selection.from || now >= self.selection.until || self.error.is_some() {
            return None;
        }
        let at = self.selection.points.iter();
        let at = at.clone().position(|p| *p == (link, point))?;
        u32::try_from(at).ok()
    }

    /// Writes a packet whose comment `more` completes.
    fn write(
        &mut self,
        now: Time,
        link: u32,
        point: Point,
        seen: Seen<'_>,
        classified: bool,
        more: impl FnOnce(&mut String),
    ) {
        let Some(interface) = self.interface(link, point, now) else {
            return;
        };
        if self.packets >= self.selection.packets {
            self.left_out += 1;
            return;
        }
        let (p, plan) = (seen.packet, &*self.plan);
        let info = &self.flows[p.flow as usize];
        let flow = &plan.flows[info.of as usize];
        let on = &plan.links[link as usize];
        let leaf = self.leaves[link as usize].get(usize::from(p.leaf));
        let words = CommentNames {
            flow: &flow.name,
            class: &plan.classes[usize::from(flow.class)],
            link: &on.name,
            leaf: leaf.map(String::as_str).filter(|_| classified),
        };
        comment::begin(&mut self.comment, &words, p, info.answers);
        more(&mut self.comment);
        let around = Around {
            link: self.link,
            nodes: (on.from, on.to),
            labels: seen.labels,
        };
        let len = headers(&mut self.headers, p, &info.key, seen.segment, &around);
        let direction = match point {
            Point::In => Direction::Inbound,
            Point::Out => Direction::Outbound,
            Point::Drops => Direction::Unknown,
        };
        let done = self.writer.packet(&Frame {
            interface,
            ticks: now.as_ps() / 1000,
            headers: &self.headers,
            kept: len.min(self.selection.snaplen),
            len,
            direction,
            comment: &self.comment,
        });
        match done {
            Ok(()) => self.packets += 1,
            Err(e) => self.error = Some(e),
        }
    }
}

impl<W: Write + Send + 'static> Tap for Recorder<W> {
    fn begin(&mut self, flows: &[FlowInfo]) {
        self.flows = flows.to_vec();
    }

    fn offered(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        let found = port.discipline.leaves()[usize::from(seen.packet.leaf)].backlog();
        self.write(port.now, port.link, Point::In, seen, true, |comment| {
            comment::queue(comment, found.0, found.1);
        });
    }

    fn served(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        self.write(port.now, port.link, Point::Out, seen, true, |comment| {
            comment::waited(comment, seen.packet, port.now);
        });
    }

    fn lost(&mut self, now: Time, place: Place, dropped: &Dropped, seen: Seen<'_>) {
        let (link, classified) = match place {
            Place::Port(link, _) => (link, true),
            Place::Input(link, ..) | Place::Kept(link, _) | Place::Wire(link) => (link, false),
            Place::Node => return,
        };
        self.write(now, link, Point::Drops, seen, classified, |comment| {
            comment::lost(comment, &place, dropped);
        });
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
