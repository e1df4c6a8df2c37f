//! A run as bytes: MessagePack with the names of its fields, compressed by snappy. Numbers belong
//! to [`Names`](super::names::Names).
//!
//! A field that this version does not know is passed over, and one that an earlier version did not
//! write is empty.

use std::fmt;
use std::io;

use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use spillgate_core::{Dur, Time};
use spillgate_measure::table::Metric;
use spillgate_measure::{Histogram, Parts, Sampled};
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::{Admission, Bounds, Curve, Draining, Outcome, Unsettled};

use super::names::Places;

/// Snappy does not make anything smaller than this many times.
const MOST_COMPRESSED: usize = 22;

/// Why a frame does not hold the run that it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// Its checksum is another.
    #[error("its checksum is wrong")]
    Checksum,
    /// It cannot be decoded.
    #[error("it cannot be decoded")]
    Coding,
    /// What its numbers are about is not known.
    #[error("the names that it refers to are missing")]
    Names,
    /// It cannot be of a run of this point.
    #[error("it holds another run")]
    Other,
}

/// The content of a frame.
pub(super) fn packed(it: &impl Serialize) -> io::Result<Vec<u8>> {
    let plain = rmp_serde::to_vec_named(it).map_err(io::Error::other)?;
    let packed = snap::raw::Encoder::new().compress_vec(&plain);
    packed.map_err(io::Error::other)
}

/// What the content of a frame is.
pub(super) fn unpacked<T: DeserializeOwned>(content: &[u8]) -> Result<T, Damage> {
    let length = snap::raw::decompress_len(content).map_err(|_| Damage::Coding)?;
    if length / MOST_COMPRESSED > content.len() {
        return Err(Damage::Coding);
    }
    let plain = snap::raw::Decoder::new().decompress_vec(content);
    let plain = plain.map_err(|_| Damage::Coding)?;
    rmp_serde::from_slice(&plain).map_err(|_| Damage::Coding)
}

/// Numbers as bytes, eight each, little-endian.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Doubles(pub(super) Vec<f64>);

impl Serialize for Doubles {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|x| x.to_le_bytes()).collect();
        to.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Doubles {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Doubles;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("doubles as bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Doubles, E> {
                if bytes.len() % 8 != 0 {
                    return Err(E::invalid_length(bytes.len(), &self));
                }
                let double = |b: &[u8]| b.try_into().map_or(f64::NAN, f64::from_le_bytes);
                Ok(Doubles(bytes.chunks_exact(8).map(double).collect()))
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The frame with its names, as 32 hexadecimal digits.
    pub(super) names: String,
    /// What it was called, for readers: nothing depends on these three.
    pub(super) point: String,
    pub(super) run: u32,
    pub(super) seed: u64,
    pub(super) digest: String,
    pub(super) events: u64,
    pub(super) packets: u64,
    pub(super) values: Doubles,
    #[serde(default)]
    pub(super) bounds: Vec<BoundsRecord>,
    #[serde(default)]
    pub(super) delays: Vec<DelayRecord>,
    /// If it was observed.
    #[serde(default)]
    pub(super) sampling: Option<Sampling>,
    #[serde(default)]
    pub(super) series: Vec<SeriesRecord>,
    #[serde(default)]
    draining: Vec<DrainingRecord>,
    #[serde(default)]
    unsettled: Vec<UnsettledRecord>,
    #[serde(default)]
    admissions: Vec<AdmissionRecord>,
}

/// How a run was sampled. Times are in picoseconds, here and below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sampling {
    interval: u64,
    links: Vec<String>,
    nodes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BoundsRecord {
    pub(super) value: u32,
    low: f64,
    high: f64,
}

/// The delays of a class in the order of the names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DelayRecord {
    bits: u8,
    buckets: Vec<u32>,
    counts: Vec<u64>,
    /// High and low half.
    sum: (u64, u64),
    min: u64,
    max: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SeriesRecord {
    #[serde(rename = "where")]
    place: String,
    pub(super) metric: String,
    start: u64,
    step: u64,
    pub(super) values: Doubles,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct DrainingRecord {
    link: u32,
    #[serde(rename = "where")]
    place: String,
    burst: u64,
    lasts: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct UnsettledRecord {
    class: u32,
    pub(super) metric: String,
    bias: f64,
    warmup: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AdmissionRecord {
    link: u32,
    flow: u32,
    acknowledgments: bool,
    offered: u64,
    admitted: Option<u64>,
    waited: u64,
    refused: u64,
    refused_total: u64,
    admissions: u32,
    removals: u32,
    timeouts: u32,
}

impl Sampling {
    fn of(world: &WorldPlan) -> Self {
        let link = |l: &u32| world.links[*l as usize].name.clone();
        let holding: Vec<_> = world.holding.iter().collect();
        let nodes = world
            .watched_nodes
            .iter()
            .flat_map(|n| &holding[*n as usize].nodes);
        Self {
            interval: world.interval.as_ps(),
            links: world.watched.iter().map(link).collect(),
            nodes: nodes.map(|n| world.nodes[*n as usize].clone()).collect(),
        }
    }
}

impl From<&Histogram> for DelayRecord {
    fn from(h: &Histogram) -> Self {
        let Parts {
            bits,
            buckets,
            sum,
            min,
            max,
        } = h.parts();
        let (buckets, counts) = buckets.into_iter().unzip();
        Self {
            bits,
            buckets,
            counts,
            sum: ((sum >> 64) as u64, sum as u64),
            min,
            max,
        }
    }
}

impl DelayRecord {
    fn histogram(&self) -> Option<Histogram> {
        let pairs = self
            .buckets
            .iter()
            .copied()
            .zip(self.counts.iter().copied());
        let parts = Parts {
            bits: self.bits,
            buckets: pairs.collect(),
            sum: u128::from(self.sum.0) << 64 | u128::from(self.sum.1),
            min: self.min,
            max: self.max,
        };
        let paired = self.buckets.len() == self.counts.len();
        paired.then(|| Histogram::from_parts(&parts)).flatten()
    }
}

impl Record {
    /// The record of a run of `world`, whose names these are.
    pub(super) fn of(
        (point, run, seed): (&str, u32, u64),
        names: String,
        outcome: &Outcome,
        world: &WorldPlan,
        observed: bool,
    ) -> Self {
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
        Self {
            names,
            point: point.to_owned(),
            run,
            seed,
            digest: digest.clone(),
            events: *events,
            packets: *packets,
            values: Doubles(values.clone()),
            bounds: bounds
                .iter()
                .map(|b| BoundsRecord {
                    value: b.at,
                    low: b.low,
                    high: b.high,
                })
                .collect(),
            delays: class_delays.iter().map(DelayRecord::from).collect(),
            sampling: observed.then(|| Sampling::of(world)),
            series: series
                .iter()
                .map(|c| SeriesRecord {
                    place: c.place.clone(),
                    metric: c.metric.to_owned(),
                    start: c.start.as_ps(),
                    step: c.step.as_ps(),
                    values: Doubles(c.v.clone()),
                })
                .collect(),
            draining: draining
                .iter()
                .map(|d| DrainingRecord {
                    link: d.link,
                    place: d.place.clone(),
                    burst: d.burst,
                    lasts: d.lasts.as_ps(),
                })
                .collect(),
            unsettled: unsettled
                .iter()
                .map(|u| UnsettledRecord {
                    class: u.class as u32,
                    metric: u.metric.name().to_owned(),
                    bias: u.bias,
                    warmup: u.warmup.map(Dur::as_ps),
                })
                .collect(),
            admissions: admissions
                .iter()
                .map(|a| AdmissionRecord {
                    link: a.link,
                    flow: a.flow,
                    acknowledgments: a.answers,
                    offered: a.offered.as_ps(),
                    admitted: a.admitted.map(Time::as_ps),
                    waited: a.waited.as_ps(),
                    refused: a.refused,
                    refused_total: a.refused_total,
                    admissions: a.admissions,
                    removals: a.removals,
                    timeouts: a.timeouts,
                })
                .collect(),
        }
    }

    /// The outcome of a run of `world`, with its time series if it is to be `observed`; none if it
    /// was stored without what is wanted now.
    pub(super) fn outcome(
        self,
        places: &Places,
        world: &WorldPlan,
        observed: bool,
    ) -> Result<Option<Outcome>, Damage> {
        if !places.has_sites || observed && self.sampling != Some(Sampling::of(world)) {
            return Ok(None);
        }
        let [classes, links, flows] = &places.own;
        if self.values.0.len() != places.stored || self.delays.len() != classes.len() {
            return Err(Damage::Other);
        }
        let value = |at: &Option<u32>| at.map_or(f64::NAN, |at| self.values.0[at as usize]);
        let values: Vec<f64> = places.values.iter().map(value).collect();
        let known = |among: &[Option<u32>], n: u32| {
            among
                .get(n as usize)
                .copied()
                .flatten()
                .ok_or(Damage::Other)
        };
        let mut bounds = Vec::with_capacity(self.bounds.len());
        for (at, stored) in (0_u32..).zip(&places.values) {
            // Both are ascending where all is as it was stored.
            let Some(stored) = stored else { continue };
            if let Ok(b) = self.bounds.binary_search_by_key(stored, |b| b.value) {
                let BoundsRecord { low, high, .. } = self.bounds[b];
                bounds.push(Bounds { at, low, high });
            }
        }
        let delays = |class: &Option<u32>| {
            let stored = class.and_then(|c| self.delays.get(c as usize));
            stored
                .ok_or(Damage::Other)?
                .histogram()
                .ok_or(Damage::Other)
        };
        let class_delays = places
            .classes
            .iter()
            .map(delays)
            .collect::<Result<_, _>>()?;
        let admission = |a: AdmissionRecord| {
            Ok(Admission {
                link: known(links, a.link)?,
                flow: known(flows, a.flow)?,
                answers: a.acknowledgments,
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
        let admissions = self.admissions.into_iter().map(admission);
        let admissions = admissions.collect::<Result<_, _>>()?;
        let (mut series, mut draining, mut unsettled) = (Vec::new(), Vec::new(), Vec::new());
        if observed {
            for c in self.series {
                // What a later version samples besides is nothing that this one shows.
                let Some(sampled) = Sampled::from_name(&c.metric) else {
                    continue;
                };
                series.push(Curve {
                    place: c.place,
                    metric: sampled.name(),
                    unit: sampled.unit(),
                    start: Time::from_ps(c.start),
                    step: Dur::from_ps(c.step),
                    v: c.values.0,
                });
            }
            for d in self.draining {
                draining.push(Draining {
                    link: known(links, d.link)?,
                    place: d.place,
                    burst: d.burst,
                    lasts: Dur::from_ps(d.lasts),
                });
            }
            for u in self.unsettled {
                let Some(metric) = Metric::from_name(&u.metric) else {
                    continue;
                };
                unsettled.push(Unsettled {
                    class: known(classes, u.class)? as usize,
                    metric,
                    bias: u.bias,
                    warmup: u.warmup.map(Dur::from_ps),
                });
            }
        }
        Ok(Some(Outcome {
            values,
            bounds,
            class_delays,
            series,
            draining,
            unsettled,
            admissions,
            digest: self.digest,
            events: self.events,
            packets: self.packets,
        }))
    }
}
