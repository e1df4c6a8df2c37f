//! What the loader needs from outside: files, and importers of router configurations.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_capture::Opener;
use spillgate_core::{Cells, Overhead, Rate, overhead::parse_overhead};
use spillgate_nodes::atm::{ContractSpec, Encapsulation, VcSpec};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Counting, Recipe};

use crate::error::{Diagnostic, Diagnostics};
use crate::offered::Offered;
use crate::originals::Originals;
use crate::plan::{RingFrom, RingPlan, Unmodelled};
use crate::text::MAX_BYTES;

/// Reads a file up to one byte beyond the limit, which tells that it is too long. Endless files
/// such as `/dev/zero` are safe.
///
/// # Errors
/// Those of reading.
pub fn read_bounded(file: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where files come from: a disk, or memory in tests.
pub trait Files {
    /// The content of a file; the beginning of a file that is too long, as [`read_bounded`] gives
    /// it.
    ///
    /// # Errors
    /// Whatever keeps the file from being read; it becomes a located diagnostic.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// How to open a capture, now and when it is replayed. Default: it is held in memory.
    ///
    /// # Errors
    /// Whatever keeps the file from being read; it becomes a located diagnostic.
    fn opener(&self, path: &Path) -> io::Result<Arc<dyn Opener>> {
        Ok(Arc::new(Arc::<[u8]>::from(self.read(path)?)))
    }

    /// Whether a file lies in a folder or below it, after symbolic links are resolved. Default: by
    /// the names alone.
    fn lies_in(&self, path: &Path, folder: &Path) -> bool {
        let (path, folder) = (plain(path), plain(folder));
        let within = |c| matches!(c, Component::Normal(_));
        path.strip_prefix(folder)
            .is_ok_and(|rest| rest.components().all(within))
    }
}

/// A path without `.`, and without `..` that cancels an earlier part.
fn plain(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match (part, found.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => drop(found.pop()),
            (part, _) => found.push(part),
        }
    }
    found
}

/// Files in memory by path.
impl Files for BTreeMap<std::path::PathBuf, Vec<u8>> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.get(path)
            .cloned()
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))
    }
}

/// The platform that gives commands of a router configuration their meaning.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    /// Cisco IOS as its command references describe it, regardless of the release.
    #[default]
    Ios,
    /// Cisco IOS before the hierarchical queueing framework, that is before 12.4(20)T.
    IosPreHqf,
    /// Cisco IOS with the hierarchical queueing framework: 12.4(20)T and later, 15.x.
    IosHqf,
    /// Cisco IOS XE on ASR 1000, ISR 4000 and their kin.
    IosXe,
    /// Cisco IOS XR.
    IosXr,
}

impl Platform {
    /// Every platform.
    pub const ALL: [Self; 5] = [
        Self::Ios,
        Self::IosPreHqf,
        Self::IosHqf,
        Self::IosXe,
        Self::IosXr,
    ];

    /// The name under which scenarios and the command line know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ios => "ios",
            Self::IosPreHqf => "ios-pre-hqf",
            Self::IosHqf => "ios-hqf",
            Self::IosXe => "ios-xe",
            Self::IosXr => "ios-xr",
        }
    }

    /// The platform of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// Turns router configurations into policies.
pub trait Importer {
    /// Reads a Cisco IOS configuration with the meaning that `platform` gives it; `file` is its
    /// name for diagnostics.
    ///
    /// # Errors
    /// Everything in the configuration that is wrong, with file, line and column.
    fn ios(&self, file: &str, bytes: &[u8], platform: Platform) -> Result<Imported, Diagnostics>;

    /// Reads commands of Linux `tc`; `file` is its name for diagnostics.
    ///
    /// # Errors
    /// Everything in the script that is wrong, with file, line and column; by default that it
    /// cannot be read at all.
    fn tc(&self, file: &str, _bytes: &[u8]) -> Result<Imported, Diagnostics> {
        Err(
            Diagnostic::error("E0407", "commands of tc cannot be read here")
                .in_file(file)
                .into(),
        )
    }

    /// Reads the output of `show policy-map interface`; `file` is its name for diagnostics.
    ///
    /// # Errors
    /// Everything in the output that is wrong, with file, line and column; by default that it
    /// cannot be read at all.
    fn offered(&self, file: &str, _bytes: &[u8]) -> Result<Offered, Diagnostics> {
        Err(
            Diagnostic::error("E0407", "outputs of routers cannot be read here")
                .in_file(file)
                .into(),
        )
    }
}

/// The queueing part of a router configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// Policy-maps by name.
    pub policies: BTreeMap<String, DisciplineSpec>,
    /// Interfaces by name.
    pub interfaces: BTreeMap<String, ImportedInterface>,
    /// Lines that have no effect on the simulation.
    pub unmodelled: Vec<Unmodelled>,
    /// Warnings for the user.
    pub warnings: Vec<Diagnostic>,
    /// The `match-any` classes, by the names that they have in policies.
    pub match_any: BTreeSet<String>,
    /// The place of each policy.
    pub places: BTreeMap<String, PolicyPlaces>,
    /// The text of the configuration, as written.
    pub originals: Originals,
    /// The default transmit rings of interfaces.
    pub rings: RingDefaults,
}

/// The default transmit rings of a platform, by the rate of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingDefaults {
    /// Ascending rates in b/s, each with the packets of a ring on a slower line.
    pub below: &'static [(u64, u32)],
    /// The packets of a ring on all faster lines; 0 for no ring.
    pub most: u32,
    /// The source of these numbers.
    pub source: &'static str,
}

impl RingDefaults {
    /// The packets of a ring at this rate, at least 1.
    pub fn at(&self, rate: Rate) -> u32 {
        let slower = self.below.iter().find(|(below, _)| rate.bps() < *below);
        slower.map_or(self.most, |(_, packets)| *packets).max(1)
    }

    /// The ring of an interface or circuit of this rate with an imported policy. If all packets go
    /// through shapers that are no faster than the line, there is no ring: congestion is at the
    /// shapers.
    pub fn ring(&self, platform: Platform, rate: Rate, policy: &Recipe) -> RingPlan {
        if policy.shaped().is_some_and(|shaped| shaped <= rate.bps()) {
            return RingPlan {
                packets: 1,
                from: RingFrom::Shaped,
            };
        }
        match self.at(rate) {
            1 => RingPlan::NONE,
            packets => RingPlan {
                packets,
                from: RingFrom::Platform(platform.name(), self.source),
            },
        }
    }
}

impl Imported {
    /// Finds an interface or circuit, and the name under which it is known. The only circuit of an
    /// interface has the name of the interface, and may also be named with VPI/VCI.
    pub fn interface(&self, name: &str) -> Option<(&str, &ImportedInterface)> {
        if let Some((name, found)) = self.interfaces.get_key_value(name) {
            return Some((name, found));
        }
        let (interface, vc) = name.rsplit_once(' ')?;
        let (name, found) = self.interfaces.get_key_value(interface)?;
        let circuit = found.circuit.as_ref()?;
        let same = vc == circuit.vc.to_string();
        same.then_some((name.as_str(), found))
    }

    /// The configuration with `prefix` before the name of every policy, in references too.
    #[must_use]
    pub(crate) fn prefixed(mut self, prefix: &str) -> Self {
        if prefix.is_empty() {
            return self;
        }
        let named = |name: &str| format!("{prefix}{name}");
        let policies = std::mem::take(&mut self.policies);
        self.policies = policies
            .into_iter()
            .map(|(name, mut spec)| {
                if let DisciplineSpec::ClassBased(spec) = &mut spec {
                    let nested = spec.classes.iter_mut().filter_map(|c| c.policy.as_mut());
                    nested.for_each(|inner| *inner = named(inner));
                }
                (named(&name), spec)
            })
            .collect();
        let places = std::mem::take(&mut self.places);
        self.places = places.into_iter().map(|(n, p)| (named(&n), p)).collect();
        self.originals.renamed(named);
        for interface in self.interfaces.values_mut() {
            let policies = [&mut interface.output_policy, &mut interface.input_policy];
            for (name, _) in policies.into_iter().flatten() {
                *name = named(name);
            }
        }
        self
    }
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Length in characters of what is meant; 0 if unknown.
    pub width: u32,
}

/// Where a policy stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyPlaces {
    /// Where it begins.
    pub spot: Spot,
    /// Its classes in the order of [`spillgate_queueing::spec::ClassBasedSpec::classes`].
    pub classes: Vec<ClassPlaces>,
}

impl PolicyPlaces {
    /// The places of a policy without classes in one line, counted from 1.
    pub fn in_line(line: u32) -> Self {
        let spot = Spot {
            line,
            column: 1,
            width: 0,
        };
        Self {
            spot,
            classes: Vec::new(),
        }
    }
}

/// Where a class of a policy stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassPlaces {
    /// Its `class` line.
    pub spot: Spot,
    /// Where its commands stand, by the key of a scenario that means the same.
    pub keys: BTreeMap<String, Spot>,
}

impl ClassPlaces {
    /// Where a key stands, such as `aqm.wred.dscp`: its own place, or the nearest above it.
    pub fn nearest(&self, key: &str) -> Spot {
        let mut key = key;
        while !key.is_empty() {
            if let Some(spot) = self.keys.get(key) {
                return *spot;
            }
            key = key.rsplit_once('.').map_or("", |(above, _)| above);
        }
        self.spot
    }
}

/// An interface of a router configuration, or a circuit of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedInterface {
    /// Line of its `interface` command, from 1.
    pub line: u32,
    /// Its `bandwidth`, to which percentages in its policy refer.
    pub bandwidth: Option<Rate>,
    /// The policy of its `service-policy output`, and that command's line.
    pub output_policy: Option<(String, u32)>,
    /// The policy-map of its `service-policy input`, and that command's line.
    pub input_policy: Option<(String, u32)>,
    /// The line that configures an 802.1Q tag.
    pub dot1q: Option<u32>,
    /// The VLAN of the tag; none for a trunk, whose frames have several.
    pub vlan: Option<u16>,
    /// Line of its `mpls ip`.
    pub labels: Option<u32>,
    /// The bytes that the platform's rates count.
    pub counted: RouterCounting,
    /// The ATM circuit of this entry, or the only circuit of the interface.
    pub circuit: Option<ImportedCircuit>,
    /// The packets of its `tx-ring-limit`, and where that stands.
    pub tx_ring: Option<(u32, Spot)>,
    /// The names of its circuits if it has several: packets leave by a circuit, not by the
    /// interface.
    pub circuits: Vec<String>,
}

/// The bytes that rates of a router's policies count on an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterCounting {
    /// The bytes; none if unknown, then those of the link.
    pub counting: Counting,
    /// On a link with a smaller overhead they count the link's.
    pub at_most_link: bool,
}

impl RouterCounting {
    /// The bytes that rates count on a link with this overhead.
    pub fn on(self, link: Overhead) -> Counting {
        let known = |o: &Overhead| {
            let more = link.cells() == Cells::None && link.per_packet() < o.per_packet();
            !(self.at_most_link && more)
        };
        Counting {
            policers: self.counting.policers.filter(known),
            queues: self.counting.queues.filter(known),
        }
    }
}

/// A permanent virtual circuit of ATM.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedCircuit {
    /// Its identifier.
    pub vc: VcSpec,
    /// The name that the configuration gives it.
    pub name: Option<String>,
    /// Where it stands.
    pub spot: Spot,
    /// The physical interface, whose line it may share with other circuits.
    pub interface: String,
    /// Its traffic contract and where that stands; none if nothing is said: unspecified bit rate.
    pub contract: Option<(ContractSpec, Spot)>,
    /// The overhead in its frames beside the IP packet, and its place.
    pub framing: (Framing, Spot),
}

/// The overhead in the frames of a circuit beside the IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// The header of RFC 2684 for routed packets.
    Header(Encapsulation),
    /// A keyword of `overhead`.
    Overhead(&'static str),
}

impl Framing {
    /// As a scenario writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Header(encapsulation) => encapsulation.word(),
            Self::Overhead(word) => word,
        }
    }

    /// The overhead of a packet in cells, including the trailer of AAL5.
    pub fn overhead(self) -> Option<Overhead> {
        match self {
            Self::Header(encapsulation) => Some(encapsulation.overhead()),
            Self::Overhead(word) => parse_overhead(word).ok(),
        }
    }
}

/// An importer that refuses every configuration: for scenarios without any.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoImporter;

impl Importer for NoImporter {
    fn ios(&self, file: &str, _: &[u8], _: Platform) -> Result<Imported, Diagnostics> {
        Err(
            Diagnostic::error("E0407", "router configurations cannot be read here")
                .in_file(file)
                .into(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_have_the_names_that_scenarios_write() {
        for platform in Platform::ALL {
            let written = serde_json::to_value(platform).unwrap();
            assert_eq!(written, platform.name());
            assert_eq!(Platform::by_name(platform.name()), Some(platform));
        }
        assert_eq!(Platform::by_name("junos"), None);
    }
}
