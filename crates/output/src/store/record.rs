//! A run as bytes: MessagePack with the names of its fields, compressed by snappy. Numbers belong
//! to [`Names`](super::names::Names).
//!
//! A field that this version does not know is passed over, and one that an earlier version did not
//! write is empty.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use spillgate_core::Dur;
use spillgate_measure::table::Metric;
use spillgate_measure::{PackedHistogram, Sampled};
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

/// A run. Times are in picoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    #[serde(with = "spillgate_core::stored::doubles")]
    pub(super) values: Vec<f64>,
    #[serde(default)]
    pub(super) bounds: Vec<Bounds>,
    /// Of the classes in the order of the names.
    #[serde(default)]
    pub(super) delays: Vec<PackedHistogram>,
    /// If it was observed.
    #[serde(default)]
    pub(super) sampling: Option<Sampling>,
    #[serde(default)]
    pub(super) series: Vec<Curve>,
    #[serde(default)]
    draining: Vec<Draining>,
    #[serde(default)]
    unsettled: Vec<Unsettled>,
    #[serde(default)]
    admissions: Vec<Admission>,
}

/// How a run was sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sampling {
    #[serde(with = "spillgate_core::stored::ps")]
    interval: Dur,
    links: Vec<String>,
    nodes: Vec<String>,
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
            interval: world.interval,
            links: world.watched.iter().map(link).collect(),
            nodes: nodes.map(|n| world.nodes[*n as usize].clone()).collect(),
        }
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
        let outcome = outcome.clone();
        Self {
            names,
            point: point.to_owned(),
            run,
            seed,
            digest: outcome.digest,
            events: outcome.events,
            packets: outcome.packets,
            values: (&outcome.values).into(),
            bounds: outcome.bounds,
            delays: outcome.class_delays,
            sampling: observed.then(|| Sampling::of(world)),
            series: outcome.series,
            draining: outcome.draining,
            unsettled: outcome.unsettled,
            admissions: outcome.admissions,
        }
    }

    /// The outcome of a run of `world`, with its time series if it is to be `observed`; none if it
    /// was stored without what is wanted now.
    pub(super) fn outcome(
        mut self,
        places: &Places,
        world: &WorldPlan,
        observed: bool,
    ) -> Result<Option<Outcome>, Damage> {
        if !places.has_sites || observed && self.sampling != Some(Sampling::of(world)) {
            return Ok(None);
        }
        let [classes, links, flows] = &places.own;
        if self.values.len() != places.stored || self.delays.len() != classes.len() {
            return Err(Damage::Other);
        }
        let value = |at: &Option<u32>| at.map_or(f64::NAN, |at| self.values[at as usize]);
        let values: Vec<f64> = places.values.iter().map(value).collect();
        let mut bounds = Vec::with_capacity(self.bounds.len());
        for (at, stored) in (0_u32..).zip(&places.values) {
            // Both are ascending where all is as it was stored.
            let Some(stored) = stored else { continue };
            if let Ok(b) = self.bounds.binary_search_by_key(stored, |b| b.at) {
                bounds.push(Bounds {
                    at,
                    ..self.bounds[b]
                });
            }
        }
        let delays = |class: &Option<u32>| {
            let stored = class.and_then(|c| self.delays.get(c as usize));
            stored.cloned().ok_or(Damage::Other)
        };
        let class_delays = places
            .classes
            .iter()
            .map(delays)
            .collect::<Result<_, _>>()?;
        if !observed {
            self.series.clear();
            self.draining.clear();
            self.unsettled.clear();
        }
        // What a later version samples besides is nothing that this one shows.
        self.series
            .retain(|c| Sampled::from_name(&c.metric).is_some());
        self.unsettled
            .retain(|u| Metric::from_name(&u.metric).is_some());
        let here = |n: &mut u32, among: &[Option<u32>]| {
            let known = among.get(*n as usize).copied().flatten();
            *n = known.ok_or(Damage::Other)?;
            Ok(())
        };
        for a in &mut self.admissions {
            here(&mut a.link, links)?;
            here(&mut a.flow, flows)?;
        }
        for d in &mut self.draining {
            here(&mut d.link, links)?;
        }
        for u in &mut self.unsettled {
            here(&mut u.class, classes)?;
        }
        Ok(Some(Outcome {
            values: values.into(),
            bounds,
            class_delays,
            series: self.series,
            draining: self.draining,
            unsettled: self.unsettled,
            admissions: self.admissions,
            digest: self.digest,
            events: self.events,
            packets: self.packets,
        }))
    }
}
