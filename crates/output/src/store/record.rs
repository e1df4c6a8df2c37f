//! An outcome as bytes: a line of text, a checksum, and a [`Record`] in postcard's format,
//! compressed by snappy.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use spillgate_core::{Digest, Dur, Time};
use spillgate_measure::table::Metric;
use spillgate_measure::{Histogram, Parts, Sampled};
use spillgate_scenario::plan::{SitePlan, WorldPlan};
use spillgate_sim::{Admission, Bounds, Curve, Draining, Outcome, Unsettled, layout, sampled};

const HEAD: &[u8] = b"spillgate run 1\n";
const CHECKSUM: usize = 16;
/// Snappy does not make anything smaller than this many times.
const MOST_COMPRESSED: usize = 22;

/// Why a file does not hold the run that it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// It does not begin as it should.
    #[error("it is no stored run")]
    Head,
    /// Its checksum is another.
    #[error("its checksum is wrong")]
    Checksum,
    /// It cannot be decoded.
    #[error("it cannot be decoded")]
    Coding,
    /// It cannot be of a run of this point.
    #[error("it holds another run")]
    Other,
}

/// What a file holds: an [`Outcome`] as plain numbers, with what else decides which values it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    key: String,
    /// Name, class and nodes of the sites that have values.
    sites: Vec<(String, u16, Vec<u32>)>,
    /// If it was observed: period of the samples, and the links that have some, then the switches,
    /// numbered on.
    sampling: Option<(u64, Vec<u32>)>,
    digest: String,
    events: u64,
    packets: u64,
    values: Vec<f64>,
    /// Index, lower and upper end.
    bounds: Vec<(u32, f64, f64)>,
    delays: Vec<DelayRecord>,
    /// Start, step and values.
    series: Vec<(u64, u64, Vec<f64>)>,
    /// Link, place, depth and time.
    draining: Vec<(u32, String, u64, u64)>,
    /// Class, metric, bias and warm-up.
    unsettled: Vec<(u32, String, f64, Option<u64>)>,
    admissions: Vec<AdmissionRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct DelayRecord {
    bits: u8,
    buckets: Vec<(u32, u64)>,
    sum: u128,
    min: u64,
    max: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct AdmissionRecord {
    link: u32,
    flow: u32,
    answers: bool,
    offered: u64,
    admitted: Option<u64>,
    waited: u64,
    refused: u64,
    refused_total: u64,
    admissions: u32,
    removals: u32,
    timeouts: u32,
}

fn sites(world: &WorldPlan) -> Vec<(String, u16, Vec<u32>)> {
    let plain = |s: &SitePlan| (s.name.clone(), s.class, s.nodes.clone());
    world.sites.iter().map(plain).collect()
}

fn sampling(world: &WorldPlan) -> (u64, Vec<u32>) {
    let links = world.links.len() as u32;
    let switches = world.watched_nodes.iter().map(|s| links + s);
    let watched = world.watched.iter().copied().chain(switches);
    (world.interval.as_ps(), watched.collect())
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut digest = Digest::default();
    digest.word(bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        digest.word(u64::from_le_bytes(word));
    }
    digest.value().to_le_bytes()
}

/// The bytes of a stored run of `world`, with the key under which it is.
pub fn encode(key: &str, outcome: &Outcome, world: &WorldPlan, observed: bool) -> Vec<u8> {
    let plain = postcard::to_allocvec(&record(key, outcome, world, observed)).unwrap_or_default();
    // It fails only for more than 4 GB; what is empty is said to be damaged when it is read.
    let packed = snap::raw::Encoder::new()
        .compress_vec(&plain)
        .unwrap_or_default();
    sealed(&packed)
}

/// The content of a file: the compressed record behind a head and a checksum.
pub fn sealed(packed: &[u8]) -> Vec<u8> {
    [HEAD, &checksum(packed), packed].concat()
}

/// The outcome that [`encode`] made of a run of `world`, with its time series if it is `observed`;
/// none if it was stored without what is wanted now.
///
/// # Errors
/// If the bytes are not of the run of `world` with this key.
pub fn decode(
    key: &str,
    bytes: &[u8],
    world: &WorldPlan,
    observed: bool,
) -> Result<Option<Outcome>, Damage> {
    let rest = bytes.strip_prefix(HEAD).ok_or(Damage::Head)?;
    let (sum, packed) = rest.split_at_checked(CHECKSUM).ok_or(Damage::Checksum)?;
    if sum != checksum(packed) {
        return Err(Damage::Checksum);
    }
    let length = snap::raw::decompress_len(packed).map_err(|_| Damage::Coding)?;
    if length / MOST_COMPRESSED > packed.len() {
        return Err(Damage::Coding);
    }
    let plain = snap::raw::Decoder::new().decompress_vec(packed);
    let plain = plain.map_err(|_| Damage::Coding)?;
    let mut record: Record = postcard::from_bytes(&plain).map_err(|_| Damage::Coding)?;
    if record.key != key {
        return Err(Damage::Other);
    }
    match &record.sampling {
        Some(found) if observed && *found != sampling(world) => return Ok(None),
        None if observed => return Ok(None),
        Some(_) if !observed => {
            record.series.clear();
            record.draining.clear();
            record.unsettled.clear();
        }
        _ => {}
    }
    let wanted = sites(world);
    if wanted.iter().any(|site| !record.sites.contains(site)) {
        return Ok(None);
    }
    let stored = match record.sites == wanted {
        true => Cow::Borrowed(world),
        false => Cow::Owned(WorldPlan {
            sites: record.sites.drain(..).map(site).collect(),
            ..world.clone()
        }),
    };
    let found = outcome(record, &stored).ok_or(Damage::Other)?;
    Ok(Some(match stored {
        Cow::Borrowed(_) => found,
        Cow::Owned(stored) => rearranged(found, &stored, world),
    }))
}

fn site((name, class, nodes): (String, u16, Vec<u32>)) -> SitePlan {
    SitePlan { name, class, nodes }
}

fn record(key: &str, outcome: &Outcome, world: &WorldPlan, observed: bool) -> Record {
    let delays = |h: &Histogram| {
        let Parts {
            bits,
            buckets,
            sum,
            min,
            max,
        } = h.parts();
        DelayRecord {
            bits,
            buckets,
            sum,
            min,
            max,
        }
    };
    let admission = |a: &Admission| AdmissionRecord {
        link: a.link,
        flow: a.flow,
        answers: a.answers,
        offered: a.offered.as_ps(),
        admitted: a.admitted.map(Time::as_ps),
        waited: a.waited.as_ps(),
        refused: a.refused,
        refused_total: a.refused_total,
        admissions: a.admissions,
        removals: a.removals,
        timeouts: a.timeouts,
    };
    let Outcome {
        values,
        bounds,
        class_delays,
        series,
        draining,
        unsettled,
        admissions,
        digest,
        events,
        packets,
    } = outcome;
    Record {
        key: key.to_owned(),
        sites: sites(world),
        sampling: observed.then(|| sampling(world)),
        digest: digest.clone(),
        events: *events,
        packets: *packets,
        values: values.clone(),
        bounds: bounds.iter().map(|b| (b.at, b.low, b.high)).collect(),
        delays: class_delays.iter().map(delays).collect(),
        series: series
            .iter()
            .map(|c| (c.start.as_ps(), c.step.as_ps(), c.v.clone()))
            .collect(),
        draining: draining
            .iter()
            .map(|d| (d.link, d.place.clone(), d.burst, d.lasts.as_ps()))
            .collect(),
        unsettled: unsettled
            .iter()
            .map(|u| {
                let warmup = u.warmup.map(Dur::as_ps);
                (u.class as u32, u.metric.name().to_owned(), u.bias, warmup)
            })
            .collect(),
        admissions: admissions.iter().map(admission).collect(),
    }
}

/// The outcome of a run of `world`; none if it cannot be one.
fn outcome(record: Record, world: &WorldPlan) -> Option<Outcome> {
    let keys = layout(world).keys.len();
    let columns = match record.series.is_empty() {
        true => Vec::new(),
        false => sampled(world),
    };
    let fits = record.values.len() == keys
        && record.bounds.iter().all(|b| (b.0 as usize) < keys)
        && record.bounds.is_sorted_by(|a, b| a.0 < b.0)
        && record.delays.len() == world.classes.len()
        && record.series.len() == columns.len();
    if !fits {
        return None;
    }
    let (links, flows) = (world.links.len(), world.flows.len());
    let delays = |d: DelayRecord| {
        Histogram::from_parts(&Parts {
            bits: d.bits,
            buckets: d.buckets,
            sum: d.sum,
            min: d.min,
            max: d.max,
        })
    };
    let curve = |((start, step, v), (place, sampled)): (_, (_, Sampled))| Curve {
        place,
        metric: sampled.name(),
        unit: sampled.unit(),
        start: Time::from_ps(start),
        step: Dur::from_ps(step),
        v,
    };
    let draining = |(link, place, burst, lasts): (u32, String, u64, u64)| {
        let lasts = Dur::from_ps(lasts);
        ((link as usize) < links).then_some(Draining {
            link,
            place,
            burst,
            lasts,
        })
    };
    let unsettled = |(class, metric, bias, warmup): (u32, String, f64, Option<u64>)| {
        let class = class as usize;
        let metric = Metric::from_name(&metric)?;
        (class < world.classes.len()).then_some(Unsettled {
            class,
            metric,
            bias,
            warmup: warmup.map(Dur::from_ps),
        })
    };
    let admission = |a: AdmissionRecord| {
        let known = (a.link as usize) < links && (a.flow as usize) < flows;
        known.then_some(Admission {
            link: a.link,
            flow: a.flow,
            answers: a.answers,
            offered: Time::from_ps(a.offered),
            admitted: a.admitted.map(Time::from_ps),
            waited: Dur::from_ps(a.waited),
            refused: a.refused,
            refused_total: a.refused_total,
            admissions: a.admissions,
            removals: a.removals,
            timeouts: a.timeouts,
        })
    };
    Some(Outcome {
        values: record.values,
        bounds: record
            .bounds
            .into_iter()
            .map(|(at, low, high)| Bounds { at, low, high })
            .collect(),
        class_delays: record
            .delays
            .into_iter()
            .map(delays)
            .collect::<Option<_>>()?,
        series: record.series.into_iter().zip(columns).map(curve).collect(),
        draining: record
            .draining
            .into_iter()
            .map(draining)
            .collect::<Option<_>>()?,
        unsettled: record
            .unsettled
            .into_iter()
            .map(unsettled)
            .collect::<Option<_>>()?,
        admissions: record
            .admissions
            .into_iter()
            .map(admission)
            .collect::<Option<_>>()?,
        digest: record.digest,
        events: record.events,
        packets: record.packets,
    })
}

/// An outcome in the layout of a world with fewer sites than it was stored with, or in another
/// order.
fn rearranged(found: Outcome, from: &WorldPlan, to: &WorldPlan) -> Outcome {
    let (old, new) = (layout(from), layout(to));
    let names = |l: &spillgate_measure::table::Layout, i: usize| {
        let key = l.keys[i];
        (key.scope, l.name(&key).to_owned(), key.metric)
    };
    let places: BTreeMap<_, _> = (0..new.keys.len()).map(|i| (names(&new, i), i)).collect();
    let mut values = vec![f64::NAN; new.keys.len()];
    let mut moved = BTreeMap::new();
    for (i, value) in found.values.iter().enumerate() {
        if let Some(&place) = places.get(&names(&old, i)) {
            values[place] = *value;
            moved.insert(i as u32, place as u32);
        }
    }
    let bounds = found.bounds.iter().filter_map(|b| {
        let at = *moved.get(&b.at)?;
        Some(Bounds { at, ..*b })
    });
    let mut bounds: Vec<_> = bounds.collect();
    bounds.sort_by_key(|b| b.at);
    Outcome {
        values,
        bounds,
        ..found
    }
}
