//! What was found in a capture, by kind.

use crate::decode::{Decoded, Other};
use crate::reader::Record;

/// Counts of records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All records.
    pub records: u64,
    /// Records with an IP packet.
    pub ip: u64,
    /// Of these, IPv6.
    pub ipv6: u64,
    /// Bytes of the IP packets.
    pub ip_bytes: u64,
    /// Of which less was captured than was on the wire (snapshot length).
    pub cut: u64,
    /// Fragments, the first of each packet included.
    pub fragments: u64,
    /// Packets whose ports were not captured.
    pub ports_cut: u64,
    /// Packets whose length had to be taken from the record.
    pub guessed_len: u64,
    /// IP packets above 1500 bytes: jumbo frames, or segments that a network card cut later.
    pub large: u64,
    /// Packets below MPLS labels.
    pub labeled: u64,
    /// Records that are earlier than one before them; they are taken as simultaneous with it.
    pub backwards: u64,
    /// The furthest that such a record lies back, in picoseconds.
    pub most_backwards: u64,
    /// Records without a time; they are taken as simultaneous with the one before.
    pub untimed: u64,
    /// What is no IP packet, in the order of [`Other::ALL`].
    pub other: [u64; Other::ALL.len()],
}

impl Counts {
    /// Takes in a record.
    #[inline]
    pub fn count(&mut self, record: &Record<'_>, decoded: &Decoded) {
        self.records += 1;
        self.cut += u64::from((record.data.len() as u64) < u64::from(record.wire_len));
        match decoded {
            Decoded::Ip(p) => {
                self.ip += 1;
                self.ip_bytes += u64::from(p.len);
                self.ipv6 += u64::from(p.key.src.is_ipv6());
                self.fragments += u64::from(p.fragment);
                self.ports_cut += u64::from(p.ports_cut);
                self.guessed_len += u64::from(p.guessed_len);
                self.large += u64::from(p.len > 1500);
                self.labeled += u64::from(p.labels > 0);
            }
            Decoded::Other(o) => self.other[*o as usize] += 1,
        }
    }

    /// Records without an IP packet.
    pub fn not_ip(&self) -> u64 {
        self.records - self.ip
    }

    /// The kinds of records without an IP packet that occur, with their numbers.
    pub fn others(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Other::ALL
            .iter()
            .map(|(o, name)| (*name, self.other[*o as usize]))
            .filter(|(_, n)| *n > 0)
    }
}
