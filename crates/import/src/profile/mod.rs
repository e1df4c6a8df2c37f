//! Measures captures: rates, bursts and sizes by DSCP, class or flow, and sources that fit them.
//!
//! The file is read twice, as a stream: first to know how long it is, which groups it has and at
//! which mean rates; then to measure them. Memory grows with the groups that are measured, not with
//! the file.

mod fit;
mod group;
mod shape;
mod yaml;

use std::io::Read;

use serde::Serialize;
use spillgate_capture::{
    CaptureError, Counts, Filter, FlowTable, Grouping, IpPacket, Opener, Packets, Selection,
    remarks,
};

pub use fit::{Fit, FitCheck};
pub use group::{Classes, GroupBy};
pub use shape::{Bucket, Dispersion, Peak, Shape, SizeCount};
pub use yaml::scenario as profile_scenario;

use shape::Meter;

/// The grouping of packets.
#[derive(Clone, Debug)]
pub struct ProfileOptions {
    /// How.
    pub by: GroupBy,
    /// Which packets.
    pub only: Filter,
    /// How many groups are measured, those with the most bytes first.
    pub top: usize,
    /// How many groups may be counted at all.
    pub max_groups: u32,
}

/// A capture, measured.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The file.
    pub file: String,
    /// Its format.
    pub format: &'static str,
    /// Its interfaces: name and link type.
    pub interfaces: Vec<(String, String)>,
    /// Records in the file.
    pub records: u64,
    /// IP packets that were measured or counted.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Records without an IP packet by kind.
    pub not_ip: Vec<(&'static str, u64)>,
    /// Time of the first record, in seconds since 1970.
    pub begin: f64,
    /// From the first record to the last, in seconds.
    pub length: f64,
    /// The kind of the groups: `dscp`, `class` or `flow`.
    pub by: &'static str,
    /// The groups, those with the most bytes first.
    pub groups: Vec<Group>,
    /// Groups that were counted but not measured, and their bytes.
    pub omitted: (u64, u64),
    /// Warnings about the results.
    pub remarks: Vec<String>,
}

/// Packets that belong together.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// The DSCP, the class or the five-tuple.
    pub name: String,
    /// The DSCP of most of its packets.
    pub dscp: String,
    /// Five-tuples in it.
    pub flows: u64,
    /// What was measured.
    pub shape: Shape,
    /// The source that fits best; none for too few packets.
    pub fit: Option<Fit>,
}

/// Why a capture was not measured.
#[derive(Clone, Debug)]
pub enum ProfileError {
    /// The file cannot be read.
    Capture(CaptureError),
    /// It has none of the selected packets.
    Nothing(Box<Counts>),
    /// It has more groups than are allowed.
    TooMany(u32),
}

impl From<CaptureError> for ProfileError {
    fn from(e: CaptureError) -> Self {
        Self::Capture(e)
    }
}

/// First pass: totals of each group.
#[derive(Clone, Debug, Default)]
struct Total {
    packets: u64,
    bytes: u64,
    /// Packets by DSCP.
    dscp: Vec<(u8, u64)>,
}

/// Measures a capture.
///
/// # Errors
/// If the file cannot be read, is damaged, has no packets, or has too many groups.
pub fn profile(
    file: &str,
    opener: &dyn Opener,
    options: &ProfileOptions,
) -> Result<Profile, ProfileError> {
    let selection = Selection {
        only: options.only.clone(),
        ..Selection::default()
    };
    let open = || -> Result<Packets<Box<dyn Read + Send>>, CaptureError> {
        Packets::new(opener.open().map_err(|e| CaptureError::from_io(&e))?)
    };
    let mut packets = open()?;
    let mut groups = group::Groups::new(&options.by, options.max_groups);
    let mut flows = FlowTable::new(Grouping::All, options.max_groups);
    let mut totals: Vec<Total> = Vec::new();
    // Group and bytes of each flow: a five-tuple with a DSCP belongs to one group.
    let mut of_flow: Vec<(usize, u64)> = Vec::new();
    while let Some((_, packet)) = packets.next(&selection)? {
        let number = groups
            .number(&packet)
            .ok_or(ProfileError::TooMany(options.max_groups))?;
        if totals.len() <= number {
            totals.resize_with(number + 1, Total::default);
        }
        count(&mut totals[number], &packet);
        // Beyond the limit flows are no longer told apart.
        if let Ok(flow) = flows.number(&packet) {
            let flow = flow as usize;
            if flow == of_flow.len() {
                of_flow.push((number, 0));
            }
            of_flow[flow].1 += u64::from(packet.len);
        }
    }
    let counts = packets.counts().clone();
    let length = packets.now();
    if totals.is_empty() {
        return Err(ProfileError::Nothing(Box::new(counts)));
    }
    let mut order: Vec<usize> = (0..totals.len())
        .filter(|i| totals[*i].packets > 0)
        .collect();
    order.sort_by_key(|i| (std::cmp::Reverse(totals[*i].bytes), *i));
    let measured = order.len().min(options.top.max(1));
    let mut meter_of = vec![usize::MAX; totals.len()];
    let mut meters: Vec<Meter> = Vec::with_capacity(measured);
    for (k, i) in order[..measured].iter().enumerate() {
        meter_of[*i] = k;
        meters.push(Meter::new(length, totals[*i].bytes));
    }
    let interfaces = packets.interfaces();
    let interfaces = interfaces
        .iter()
        .map(|i| (i.name.clone(), i.link.to_string()));
    let mut profile = Profile {
        file: file.to_owned(),
        format: packets.format().name(),
        interfaces: interfaces.collect(),
        records: counts.records,
        packets: totals.iter().map(|t| t.packets).sum(),
        bytes: totals.iter().map(|t| t.bytes).sum(),
        not_ip: counts.others().collect(),
        begin: packets.begin().map_or(0.0, |t| t.as_secs_f64()),
        length: length as f64 / 1e12,
        by: options.by.name(),
        groups: Vec::with_capacity(measured),
        omitted: (
            (order.len() - measured) as u64,
            order[measured..].iter().map(|i| totals[*i].bytes).sum(),
        ),
        remarks: remarks(&counts, packets.cut_short()),
    };
    let mut packets = open()?;
    while let Some((at, packet)) = packets.next(&selection)? {
        // A file that has grown meanwhile has groups and times that were not counted.
        let known = groups
            .number(&packet)
            .and_then(|n| meter_of.get(n).copied());
        if let Some(meter) = known.and_then(|k| meters.get_mut(k)) {
            if at > length {
                break;
            }
            meter.packet(at, packet.len);
        }
    }
    for (i, meter) in order[..measured].iter().zip(meters) {
        let total = &totals[*i];
        let shape = meter.finish();
        let dscp = total
            .dscp
            .iter()
            .max_by_key(|(d, n)| (*n, std::cmp::Reverse(*d)));
        let bytes = of_flow.iter().filter(|(g, _)| g == i).map(|(_, b)| *b);
        let (flows, alike) = effective(bytes);
        profile.groups.push(Group {
            name: groups.name(*i),
            dscp: spillgate_core::Dscp::new(dscp.map_or(0, |d| d.0))
                .unwrap_or_default()
                .to_string(),
            flows,
            fit: fit::fit(&shape, alike),
            shape,
        });
    }
    Ok(profile)
}

fn count(total: &mut Total, packet: &IpPacket) {
    total.packets += 1;
    total.bytes += u64::from(packet.len);
    let d = packet.dscp.value();
    match total.dscp.iter_mut().find(|(known, _)| *known == d) {
        Some((_, n)) => *n += 1,
        None => total.dscp.push((d, 1)),
    }
}

/// The number of flows, and the equivalent number of flows with equal rates: the square of the sum
/// over the sum of squares.
fn effective(flows: impl Iterator<Item = u64>) -> (u64, u32) {
    let (mut n, mut sum, mut squares) = (0, 0.0, 0.0);
    for bytes in flows {
        n += 1;
        sum += bytes as f64;
        squares += bytes as f64 * bytes as f64;
    }
    let alike = if squares > 0.0 {
        (sum * sum / squares + 0.5) as u32
    } else {
        1
    };
    (n, alike)
}
