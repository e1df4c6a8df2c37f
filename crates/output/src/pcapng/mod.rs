//! Packets of a run as a pcapng file, for Wireshark and its like.
//!
//! Source: draft-ietf-opsawg-pcapng (section header, interface description and enhanced packet
//! blocks; options `opt_comment`, `if_name`, `if_description`, `if_tsresol`, `epb_flags`).
//!
//! Each point of a link that is recorded is an interface. Times are simulated time since the start
//! of the run, in nanoseconds (fractions are cut off: readers that take picoseconds are rare).
//! Headers are true; payload is zeros. The comment of each packet says what headers cannot: flow,
//! class, queue, wait, and why it was dropped.
//!
//! Memory: one buffer; the file is written as the run goes on.

mod comment;
mod headers;
mod sent;
mod tap;
mod writer;

use serde::Deserialize;
use spillgate_core::Time;
use spillgate_core::units::parse_dur;
use spillgate_scenario::plan::WorldPlan;

pub(crate) use sent::{Sender, written};
pub use tap::{Recorded, record};

/// Where on a link packets are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// As they arrive at the port, before they are policed or queued.
    In,
    /// As their transmission begins.
    Out,
    /// As they are dropped, at the port or on the wire.
    Drops,
}

impl Point {
    const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::In, "in", "packets that arrive at the port"),
        (Self::Out, "out", "packets whose transmission begins"),
        (
            Self::Drops,
            "drops",
            "packets that are lost at the port or on the link",
        ),
    ];

    fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    fn description(self) -> &'static str {
        Self::ALL[self as usize].2
    }
}

/// What to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// Links with points, in the order of the interfaces.
    pub points: Vec<(u32, Point)>,
    /// From here on.
    pub from: Time,
    /// Until here.
    pub until: Time,
    /// Most packets.
    pub packets: u64,
    /// Most bytes that are kept of one.
    pub snaplen: u32,
}

/// A selection as the user writes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    points: Vec<String>,
    from: Option<String>,
    until: Option<String>,
    packets: u64,
    snaplen: u32,
}

/// Least bytes that are kept of a packet: the longest headers, with Ethernet and two labels.
pub const MIN_SNAPLEN: u32 = 14 + 8 + 60 + 60;
const MAX_SNAPLEN: u32 = 262_144;

impl Selection {
    /// Reads a selection from JSON: `points` (`LINK`, which is its `out` and `drops`, or
    /// `LINK:in`, `LINK:out`, `LINK:drops`), `from` and `until` as times with units, `packets`,
    /// `snaplen`.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(json: &str, plan: &WorldPlan) -> Result<Self, String> {
        let written: Written = serde_json::from_str(json).map_err(|e| e.to_string())?;
        let mut points = Vec::new();
        for text in &written.points {
            for point in self::points(text, plan)? {
                if !points.contains(&point) {
                    points.push(point);
                }
            }
        }
        let time = |what: &str, text: &Option<String>, default| match text {
            None => Ok(default),
            Some(text) => match parse_dur(text) {
                Ok(d) => Ok(Time::ZERO + d),
                Err(e) => Err(format!("`{text}` is not a time to record {what}: {e}")),
            },
        };
        let (from, until) = (
            time("from", &written.from, Time::ZERO)?,
            time("until", &written.until, Time::MAX)?,
        );
        if until <= from {
            return Err(format!(
                "nothing can be recorded from {from} until {until}: the end must come later"
            ));
        }
        if !(MIN_SNAPLEN..=MAX_SNAPLEN).contains(&written.snaplen) {
            return Err(format!(
                "{} B cannot be kept of a packet: write {MIN_SNAPLEN} to {MAX_SNAPLEN}",
                written.snaplen
            ));
        }
        if written.packets == 0 {
            return Err("0 packets cannot be recorded: write 1 or more".to_owned());
        }
        Ok(Self {
            points,
            from,
            until,
            packets: written.packets,
            snaplen: written.snaplen,
        })
    }
}

/// The points of `LINK` or `LINK:POINT`.
fn points(text: &str, plan: &WorldPlan) -> Result<Vec<(u32, Point)>, String> {
    let link = |name: &str| {
        let index = plan.links.iter().position(|l| l.name == name)?;
        u32::try_from(index).ok()
    };
    // A link's name may contain colons.
    if let Some(link) = link(text) {
        return Ok(vec![(link, Point::Out), (link, Point::Drops)]);
    }
    let (name, point) = text.rsplit_once(':').unwrap_or((text, ""));
    let Some(link) = link(name) else {
        let known: Vec<&str> = plan
            .links
            .iter()
            .map(|l| l.name.as_str())
            .take(12)
            .collect();
        return Err(format!(
            "there is no link `{name}`; there are {}",
            known.join(", ")
        ));
    };
    match Point::ALL.iter().find(|(_, n, _)| *n == point) {
        Some((p, _, _)) => Ok(vec![(link, *p)]),
        None => Err(format!(
            "`{point}` is not a point of a link; write {name}:in, {name}:out or {name}:drops"
        )),
    }
}
