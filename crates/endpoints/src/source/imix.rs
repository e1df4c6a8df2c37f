//! Named mixes of packet sizes, and the genomes of RFC 6985.
//!
//! Mixes of traffic generators are given in Ethernet frames with their FCS, as
//! RFC 2544 counts them: the IP packet has [`FRAMING`] bytes less. The weights are those
//! of the Open Traffic Generator API (`flow.size.weight_pairs`), but `cisco` and
//! `tolly`, which are as test equipment names them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Size;

use super::spec::{MAX_PACKET, MIN_PACKET};
use spillgate_core::Problem;

/// What an Ethernet frame has beside the IP packet, in bytes: header and FCS.
const FRAMING: u16 = 18;
/// Most packets of a genome.
const MAX_GENOME: usize = 10_000;
/// The letters of RFC 6985 section 4 and the frames they stand for, in bytes; `z` is the MTU.
const LETTERS: [(char, u16); 10] = [
    ('a', 64),
    ('b', 128),
    ('c', 256),
    ('d', 512),
    ('e', 1024),
    ('f', 1280),
    ('g', 1518),
    ('h', 2112),
    ('i', 9000),
    ('j', 16_000),
];

/// From one line per mix: the enum, its sizes, the list of names.
macro_rules! mixes {
    ($($kind:literal: $variant:ident = $off:expr, [$(($size:literal, $weight:literal)),+], $summary:literal;)+) => {
        /// Internet mixes: sizes of IP packets and how often each occurs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Imix {
            $(
                #[doc = concat!($summary, ".")]
                #[serde(rename = $kind)]
                $variant,
            )+
        }

        /// Every mix: its name in scenarios and a summary of one line.
        pub const MIXES: &[(&str, &str)] = &[$(($kind, $summary)),+];

        impl Imix {
            /// Every mix, in the order of [`MIXES`].
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Sizes of IP packets in bytes, and weights.
            pub fn rows(self) -> &'static [(u16, f64)] {
                match self {
                    $(Self::$variant => const { &[$(($size - $off, $weight)),+] },)+
                }
            }
        }
    };
}

mixes! {
    "simple": Simple = 0, [(40, 7.0), (576, 4.0), (1500, 1.0)],
        "IP packets of 40, 576 and 1500 B, 7 : 4 : 1 (mean 340.3 B)";
    "cisco": Cisco = FRAMING, [(64, 7.0), (594, 4.0), (1518, 1.0)],
        "frames of 64, 594 and 1518 B, 7 : 4 : 1";
    "tester": Tester = FRAMING, [(64, 7.0), (570, 4.0), (1518, 1.0)],
        "frames of 64, 570 and 1518 B, 7 : 4 : 1: the imix of traffic generators";
    "standard": Standard = FRAMING, [(58, 58.67), (62, 2.0), (594, 23.66), (1518, 15.67)],
        "frames of 58, 62, 594 and 1518 B, 58.67 : 2 : 23.66 : 15.67 %";
    "tcp": Tcp = FRAMING, [(90, 58.67), (92, 2.0), (594, 23.66), (1518, 15.67)],
        "frames of 90, 92, 594 and 1518 B, 58.67 : 2 : 23.66 : 15.67 %";
    "ipsec": Ipsec = FRAMING, [(90, 58.67), (92, 2.0), (594, 23.66), (1418, 15.67)],
        "frames of 90, 92, 594 and 1418 B, 58.67 : 2 : 23.66 : 15.67 %: room for a tunnel's headers";
    "ipv6": Ipv6 = FRAMING, [(60, 58.67), (496, 2.0), (594, 23.66), (1518, 15.67)],
        "frames of 60, 496, 594 and 1518 B, 58.67 : 2 : 23.66 : 15.67 %";
    "tolly": Tolly = FRAMING, [(64, 55.0), (78, 5.0), (576, 17.0), (1518, 23.0)],
        "frames of 64, 78, 576 and 1518 B, 55 : 5 : 17 : 23 %";
}

impl Imix {
    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        MIXES[self as usize].0
    }
}

/// A sequence of packet sizes that repeats: the IMIX genome of RFC 6985.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GenomeSpec {
    /// The order of the packets, at most 10000. The letters a to j are frames of 64, 128, 256,
    /// 512, 1024, 1280, 1518, 2112, 9000 and 16000 B, `z` is the MTU, capital letters are
    /// defined in `sizes`; a number repeats the letter after it: `7a4d1g`.
    pub sequence: String,
    /// Frame sizes of the capital letters that the sequence uses.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sizes: BTreeMap<String, Size>,
    /// The IP packet that `z` stands for. Default 1500 B.
    #[serde(default = "mtu")]
    pub mtu: Size,
    /// What a frame has beside the IP packet. Default 18 B, an Ethernet header and FCS; with 0 B
    /// all sizes are IP packets.
    #[serde(default = "framing")]
    pub framing: Size,
}

fn mtu() -> Size {
    Size(1500)
}

fn framing() -> Size {
    Size(u64::from(FRAMING))
}

impl GenomeSpec {
    /// A sequence with all defaults.
    pub(super) fn of(sequence: String) -> Self {
        Self {
            sequence,
            sizes: BTreeMap::new(),
            mtu: mtu(),
            framing: framing(),
        }
    }

    /// The sizes of the IP packets in order.
    ///
    /// # Errors
    /// A letter without a size, a size that no IP packet has, a sequence that is empty or too long.
    pub(super) fn packets(&self) -> Result<Vec<u16>, Problem> {
        for (letter, size) in &self.sizes {
            let mut chars = letter.chars();
            if !matches!((chars.next(), chars.next()), (Some('A'..='Z'), None)) {
                return Err(Problem::new(
                    "sizes",
                    letter,
                    "only a capital letter can be given a size",
                    "write it as {A: 40 B, B: 1500 B}",
                ));
            }
            self.packet(&format!("sizes.{letter}"), size.0)?;
        }
        let mut packets = Vec::new();
        let mut times: Option<usize> = None;
        for letter in self.sequence.chars().filter(|c| !c.is_whitespace()) {
            if let Some(digit) = letter.to_digit(10) {
                // Beyond the limit it no longer matters by how much.
                let so_far = times.unwrap_or(0).min(MAX_GENOME);
                times = Some(10 * so_far + digit as usize);
                continue;
            }
            let len = self.letter(letter)?;
            let n = times.take().unwrap_or(1);
            if n > MAX_GENOME - packets.len() {
                let message = format!("the genome has more than {MAX_GENOME} packets");
                return Err(self.problem(message, "write the shortest sequence that repeats"));
            }
            packets.resize(packets.len() + n, len);
        }
        if times.is_some() {
            return Err(self.problem("a number at the end repeats nothing", SEQUENCE));
        }
        if packets.is_empty() {
            return Err(self.problem("the genome has no packet", SEQUENCE));
        }
        Ok(packets)
    }

    fn problem(&self, message: impl Into<String>, hint: &str) -> Problem {
        let shown: String = self.sequence.chars().take(40).collect();
        Problem::new("sequence", &shown, message, hint)
    }

    /// The IP packet that a letter stands for.
    fn letter(&self, letter: char) -> Result<u16, Problem> {
        if letter == 'z' {
            return self.within("mtu", self.mtu.0, self.mtu.0);
        }
        let standard = LETTERS.iter().find(|(l, _)| *l == letter);
        let own = self.sizes.get(letter.encode_utf8(&mut [0; 4]) as &str);
        match (standard, own) {
            (Some((_, frame)), _) => self.packet("framing", u64::from(*frame)),
            (None, Some(size)) => self.packet(&format!("sizes.{letter}"), size.0),
            (None, None) => {
                let message = format!("the letter `{letter}` has no size");
                let hint = match letter {
                    'A'..='Z' => "give it one under `sizes`, such as {A: 40 B}",
                    _ => SEQUENCE,
                };
                Err(self.problem(message, hint))
            }
        }
    }

    /// The IP packet of a frame.
    fn packet(&self, path: &str, frame: u64) -> Result<u16, Problem> {
        self.within(path, frame, frame.saturating_sub(self.framing.0))
    }

    fn within(&self, path: &str, found: u64, packet: u64) -> Result<u16, Problem> {
        match u16::try_from(packet) {
            Ok(len) if len >= MIN_PACKET => Ok(len),
            _ => Err(Problem::new(
                path,
                Size(found),
                format!(
                    "an IP packet has {MIN_PACKET} to {MAX_PACKET} bytes, this one, framing of {} \
                     taken off, would have {packet}",
                    self.framing
                ),
                "write the size of a frame such as 1518 B; with `framing: 0 B` sizes are IP packets",
            )),
        }
    }
}

const SEQUENCE: &str =
    "write letters a to j or z, or capital letters that `sizes` defines, such as aaaaaaaddddg";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_enum() {
        for (mix, (name, _)) in Imix::ALL.iter().zip(MIXES) {
            assert_eq!(serde_json::to_value(mix).unwrap(), *name);
            assert_eq!(mix.name(), *name);
        }
    }

    #[test]
    fn genomes_are_read_as_the_rfc_writes_them() {
        let packets = |json: &str| {
            let spec: GenomeSpec = serde_json::from_str(json).unwrap();
            spec.packets().map_err(|p| (p.path, p.message))
        };
        assert_eq!(
            packets(r#"{"sequence": "abcdefgz"}"#).unwrap(),
            [46, 110, 238, 494, 1006, 1262, 1500, 1500]
        );
        assert_eq!(
            packets(r#"{"sequence": "2A 1b h", "sizes": {"A": "60 B"}, "framing": "0 B"}"#)
                .unwrap(),
            [60, 60, 128, 2112]
        );
        for (json, path, message) in [
            (r#"{"sequence": ""}"#, "sequence", "no packet"),
            (r#"{"sequence": "0a"}"#, "sequence", "no packet"),
            (r#"{"sequence": "ab3"}"#, "sequence", "repeats nothing"),
            (r#"{"sequence": "10001a"}"#, "sequence", "more than 10000"),
            (
                r#"{"sequence": "99999999999999999999999a"}"#,
                "sequence",
                "more than 10000",
            ),
            (r#"{"sequence": "aKb"}"#, "sequence", "`K` has no size"),
            (r#"{"sequence": "é"}"#, "sequence", "`é` has no size"),
            (
                r#"{"sequence": "a", "sizes": {"a": "40 B"}}"#,
                "sizes",
                "only a capital",
            ),
            (
                r#"{"sequence": "A", "sizes": {"A": "30 B"}}"#,
                "sizes.A",
                "would have 12",
            ),
            (
                r#"{"sequence": "z", "mtu": "1 MB"}"#,
                "mtu",
                "would have 1000000",
            ),
        ] {
            let (at, what) = packets(json).unwrap_err();
            assert!(at == path && what.contains(message), "{json}: {at}: {what}");
        }
    }
}
