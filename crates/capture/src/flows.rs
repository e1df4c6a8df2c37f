//! Flows of a capture, numbered.
//!
//! A flow is a five-tuple with a DSCP: classes may look at any of it. Flows are reported in groups:
//! all together, by DSCP, or by five-tuple. Open addressing with a hash of our own: one probe or
//! two for a packet, and numbers by first appearance on every machine.

use spillgate_core::Dscp;

use crate::packet::{IpPacket, Key};

/// How flows are put together for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// All packets are one.
    All,
    /// One for each DSCP.
    #[default]
    Dscp,
    /// One for each five-tuple.
    Flow,
}

/// A flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Addresses, protocol, ports.
    pub key: Key,
    /// Its DSCP.
    pub dscp: Dscp,
    /// Number of its group.
    pub group: u32,
}

/// There are more flows than were allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableFull;

/// Flows by number.
#[derive(Clone, Debug)]
pub struct FlowTable {
    grouping: Grouping,
    limit: usize,
    entries: Vec<Entry>,
    /// Numbers of flows plus one, 0 for a free place; a power of two long.
    places: Vec<u32>,
    /// By DSCP, the group plus one.
    by_dscp: [u32; 64],
    groups: u32,
    /// Of groups by five-tuple: flows of each that have another DSCP find the group here.
    tuples: Option<Box<Self>>,
}

impl FlowTable {
    /// A table of at most `limit` flows.
    pub fn new(grouping: Grouping, limit: u32) -> Self {
        Self {
            grouping,
            limit: limit as usize,
            entries: Vec::new(),
            places: vec![0; 64],
            by_dscp: [0; 64],
            groups: 0,
            tuples: match grouping {
                Grouping::Flow => Some(Box::new(Self::new(Grouping::All, limit))),
                _ => None,
            },
        }
    }

    /// The number of a packet's flow, if it has one.
    #[inline]
    pub fn find(&self, packet: &IpPacket) -> Option<u32> {
        self.place(&packet.key, packet.dscp).ok()
    }

    /// The number of a packet's flow, a new one if need be.
    ///
    /// # Errors
    /// If there are as many as are allowed.
    #[inline]
    pub fn number(&mut self, packet: &IpPacket) -> Result<u32, TableFull> {
        match self.place(&packet.key, packet.dscp) {
            Ok(number) => Ok(number),
            Err(place) => self.add(packet.key, packet.dscp, place),
        }
    }

    #[inline]
    fn place(&self, key: &Key, dscp: Dscp) -> Result<u32, usize> {
        let mask = self.places.len() - 1;
        let mut at = (key.hash() ^ u64::from(dscp.value()).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            as usize
            & mask;
        loop {
            match self.places[at] {
                0 => return Err(at),
                n => {
                    let entry = &self.entries[n as usize - 1];
                    if entry.key == *key && entry.dscp == dscp {
                        return Ok(n - 1);
                    }
                }
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn add(&mut self, key: Key, dscp: Dscp, place: usize) -> Result<u32, TableFull> {
        if self.entries.len() >= self.limit {
            return Err(TableFull);
        }
        let group = match (self.grouping, &mut self.tuples) {
            (Grouping::All, _) => 0,
            (Grouping::Dscp, _) => {
                let known = &mut self.by_dscp[usize::from(dscp.value() & 63)];
                if *known == 0 {
                    *known = self.groups + 1;
                }
                *known - 1
            }
            (Grouping::Flow, Some(tuples)) => match tuples.place(&key, Dscp::DEFAULT) {
                Ok(number) => number,
                Err(at) => tuples.add(key, Dscp::DEFAULT, at)?,
            },
            (Grouping::Flow, None) => 0,
        };
        self.groups = self.groups.max(group + 1);
        self.entries.push(Entry { key, dscp, group });
        self.places[place] = self.entries.len() as u32;
        if self.entries.len() * 2 > self.places.len() {
            self.grow();
        }
        Ok(self.entries.len() as u32 - 1)
    }

    fn grow(&mut self) {
        let len = self.places.len() * 2;
        self.places.clear();
        self.places.resize(len, 0);
        for i in 0..self.entries.len() {
            let Entry { key, dscp, .. } = self.entries[i];
            if let Err(at) = self.place(&key, dscp) {
                self.places[at] = i as u32 + 1;
            }
        }
    }

    /// The flows, in order of first appearance.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many groups there are; they are numbered in order of first appearance.
    pub fn groups(&self) -> u32 {
        self.groups
    }

    /// How flows are grouped.
    pub fn grouping(&self) -> Grouping {
        self.grouping
    }

    /// What the group that begins with this flow is called: nothing for all, the DSCP, or the
    /// five-tuple.
    pub fn label(&self, leader: &Entry) -> String {
        match self.grouping {
            Grouping::All => String::new(),
            Grouping::Dscp => leader.dscp.to_string(),
            Grouping::Flow => leader.key.to_string(),
        }
    }

    /// The first flow of each group.
    pub fn leaders(&self) -> Vec<Entry> {
        let mut leaders: Vec<Entry> = Vec::with_capacity(self.groups as usize);
        for e in &self.entries {
            if e.group as usize == leaders.len() {
                leaders.push(*e);
            }
        }
        leaders
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(&self) -> u64 {
        let own = self.entries.len() * size_of::<Entry>() + self.places.len() * 4;
        own as u64 + self.tuples.as_ref().map_or(0, |t| t.memory_bytes())
    }
}
