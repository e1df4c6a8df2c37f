//! The keywords for what a link adds to a packet.
//!
//! They are those of CAKE and mean what its parser (`tc/q_cake.c` of iproute2) makes of them, one
//! after the other: `overhead N`, `conservative` and `raw` set the bytes, others add to what is
//! there. Beside them stand three words of our own. Where tc lets a later word silently take back
//! what an earlier one says, this is an error.

use super::{Cells, Overhead};
use crate::Problem;
use crate::units::parse_size;

/// A keyword.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// How it is written.
    pub name: &'static str,
    /// What it says of the link.
    pub summary: &'static str,
    /// What it does to the bytes added to a packet.
    pub bytes: Bytes,
    /// The shortest frame that it sets, in bytes.
    pub mpu: Option<u16>,
    /// The cells that it sets.
    pub cells: Option<Cells>,
    /// Whether it is from CAKE.
    pub of_cake: bool,
}

/// What a keyword does to the bytes added to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bytes {
    /// Nothing.
    Keep,
    /// It adds so many.
    Add(i16),
    /// It sets them.
    Set(i16),
    /// It takes back all that is said before, the cells included.
    Reset,
}

impl Word {
    const fn cake(name: &'static str, summary: &'static str, bytes: Bytes) -> Self {
        Self {
            name,
            summary,
            bytes,
            mpu: None,
            cells: None,
            of_cake: true,
        }
    }

    const fn own(self) -> Self {
        Self {
            of_cake: false,
            ..self
        }
    }

    const fn mpu(self, mpu: u16) -> Self {
        Self {
            mpu: Some(mpu),
            ..self
        }
    }

    const fn cells(self, cells: Cells) -> Self {
        Self {
            cells: Some(cells),
            ..self
        }
    }

    /// Whether it says how packets are wrapped, of which a link has one way.
    fn wraps(&self) -> bool {
        matches!(self.bytes, Bytes::Add(_)) && self.name != VLAN
    }
}

const VLAN: &str = "ether-vlan";
use Bytes::{Add, Keep, Reset, Set};
use Cells::{Atm, Ptm};

/// The keywords without a number. Sources of the bytes: RFC 2684 (AAL5: trailer 8 B; LLC and SNAP
/// 8 B, of bridged Ethernet 10 B with padding, 2 B with VC multiplexing), RFC 2364 (PPP 2 B, with
/// LLC 6 B), RFC 2516 (PPPoE 6 B, PPP 2 B), IEEE 802.3 (header 14 B, FCS 4 B, preamble and
/// delimiter 8 B, gap 12 B; PTM 4 B), IEEE 802.1Q (4 B), RFC 1662 (PPP in HDLC-like framing: flag,
/// address, control, protocol 2 B, FCS 2 B).
#[rustfmt::skip]
pub const WORDS: [Word; 22] = [
    Word::cake("raw", "The IP packet, nothing else; first, if other words follow.", Reset),
    Word::cake("none", "The same.", Reset).own(),
    Word::cake("ethernet", "Ethernet as it occupies the wire: header, FCS, preamble and gap.", Add(38)).mpu(84),
    Word::cake("ethernet-frame", "Ethernet without preamble and gap.", Add(18)).mpu(64).own(),
    Word::cake(VLAN, "A tag of 802.1Q; may stand several times.", Add(4)),
    Word::cake("docsis", "Ethernet as cable modems are shaped: header and FCS.", Add(18)).mpu(64).cells(Cells::None),
    Word::cake("ppp", "PPP on a serial line, one flag between packets.", Add(7)).own(),
    Word::cake("pppoe-ptm", "PPPoE on VDSL2.", Add(30)).cells(Ptm),
    Word::cake("bridged-ptm", "Ethernet on VDSL2.", Add(22)).cells(Ptm),
    Word::cake("ipoa-vcmux", "IP in AAL5 with VC multiplexing.", Add(8)).cells(Atm),
    Word::cake("ipoa-llcsnap", "IP in AAL5 with LLC and SNAP.", Add(16)).cells(Atm),
    Word::cake("bridged-vcmux", "Ethernet without FCS in AAL5 with VC multiplexing.", Add(24)).cells(Atm),
    Word::cake("bridged-llcsnap", "Ethernet without FCS in AAL5 with LLC and SNAP.", Add(32)).cells(Atm),
    Word::cake("pppoa-vcmux", "PPP in AAL5 with VC multiplexing.", Add(10)).cells(Atm),
    Word::cake("pppoa-llc", "PPP in AAL5 with LLC.", Add(14)).cells(Atm),
    Word::cake("pppoe-vcmux", "PPPoE in AAL5 with VC multiplexing.", Add(32)).cells(Atm),
    Word::cake("pppoe-llcsnap", "PPPoE in AAL5 with LLC and SNAP.", Add(40)).cells(Atm),
    Word::cake("conservative", "More than links are likely to have: a cell and its header.", Set(48)).cells(Atm),
    Word::cake("atm", "Cells of ATM: 53 B for each 48 B or part of them.", Keep).cells(Atm),
    Word::cake("ptm", "The code of PTM: a byte for each 64 B or part of them.", Keep).cells(Ptm),
    Word::cake("noatm", "Neither cells nor PTM.", Keep).cells(Cells::None),
    Word::cake("via-ethernet", "Nothing, as in CAKE, which shows it.", Keep),
];

/// The keywords with a number: name, what it says, and its range in tc, in bytes.
pub const NUMBERS: [(&str, &str, std::ops::RangeInclusive<i16>); 2] = [
    (
        "overhead",
        "With a number N from -64 to 256: bytes added to every packet, set anew.",
        -64..=256,
    ),
    (
        "mpu",
        "With a number N from 0 to 256: the shortest frame in bytes, what is added included.",
        0..=256,
    ),
];

/// Every keyword and what it says, for lists of them.
pub fn all() -> Vec<(&'static str, &'static str)> {
    let words = WORDS.iter().map(|w| (w.name, w.summary));
    let numbers = NUMBERS.iter().map(|(name, summary, _)| (*name, *summary));
    words.chain(numbers).collect()
}

/// What was said so far.
#[derive(Default)]
struct Said<'t> {
    bytes: i16,
    mpu: u16,
    /// The cells, and the word that sets them.
    cells: Option<(Cells, &'t str)>,
    /// The word for the way packets are wrapped.
    wrapped: Option<&'t str>,
    /// The last `overhead N` and `mpu N`.
    numbers: [Option<i16>; 2],
    first: Option<&'t str>,
}

/// Why words are no overhead: what is wrong, and what would be right.
type Wrong = (String, String);

impl<'t> Said<'t> {
    /// A number is set anew by `by`, which is an error if it was given and is another.
    fn anew(&self, which: usize, by: &str, value: i16) -> Result<(), Wrong> {
        let name = NUMBERS[which].0;
        match self.numbers[which] {
            Some(before) if before != value => Err((
                format!("`{name} {before}` and `{by}` contradict each other"),
                format!("leave one out, or write `{name} {before}` behind `{by}`"),
            )),
            _ => Ok(()),
        }
    }

    fn number(&mut self, which: usize, text: Option<&'t str>) -> Result<(), Wrong> {
        let (name, _, range) = &NUMBERS[which];
        let hint = || {
            let (from, to) = (range.start(), range.end());
            format!("write `{name} N` with N from {from} to {to} bytes")
        };
        let Some(text) = text else {
            return Err((format!("a number is missing behind `{name}`"), hint()));
        };
        let value = text.parse().ok().filter(|n| range.contains(n));
        let Some(value) = value else {
            return Err((format!("`{text}` is not a number for `{name}`"), hint()));
        };
        if let Some(before) = self.numbers[which].filter(|b| *b != value) {
            let problem = format!("`{name} {before}` and `{name} {value}` contradict each other");
            return Err((problem, "leave one of them out".to_owned()));
        }
        self.numbers[which] = Some(value);
        match which {
            0 => self.bytes = value,
            _ => self.mpu = value.unsigned_abs(),
        }
        Ok(())
    }

    fn word(&mut self, word: &Word, text: &'t str) -> Result<(), Wrong> {
        if word.bytes == Reset {
            return match self.first {
                None => Ok(()),
                Some(before) => Err((
                    format!("`{text}` takes back `{before}` before it: they contradict each other"),
                    format!("leave one out, or write `{text}` first"),
                )),
            };
        }
        if let (Some(cells), Some((other, before))) = (word.cells, self.cells) {
            if cells != other {
                return Err((
                    format!(
                        "`{before}` and `{text}` contradict each other: {} and {}",
                        other.word(),
                        cells.word()
                    ),
                    "leave one of them out".to_owned(),
                ));
            }
        }
        if word.wraps() {
            if let Some(before) = self.wrapped {
                return Err((
                    format!(
                        "`{before}` and `{text}` contradict each other: a link wraps packets in one way"
                    ),
                    format!("leave one out, or write the bytes with `{}`", NUMBERS[0].0),
                ));
            }
            self.wrapped = Some(text);
        }
        match word.bytes {
            Add(n) => self.bytes = self.bytes.saturating_add(n),
            Set(n) => {
                self.anew(0, text, n)?;
                self.bytes = n;
            }
            Keep | Reset => {}
        }
        if let Some(mpu) = word.mpu {
            self.anew(1, text, mpu as i16)?;
            self.mpu = mpu;
        }
        self.cells = word.cells.map(|c| (c, text)).or(self.cells);
        Ok(())
    }
}

/// Reads what a link adds to a packet: bytes such as `18 B`, or keywords.
///
/// # Errors
/// A word or a number that is none, and words that contradict each other.
pub fn parse_overhead(text: &str) -> Result<Overhead, Problem> {
    let error = |(problem, hint): Wrong| Problem::new("", text, problem, hint);
    if text
        .trim_start()
        .starts_with(|c: char| !c.is_ascii_alphabetic())
        || text.trim().is_empty()
    {
        return bytes(text).map_err(error);
    }
    let mut said = Said::default();
    let mut words = text.split_ascii_whitespace();
    while let Some(text) = words.next() {
        if let Some(which) = NUMBERS.iter().position(|(name, ..)| *name == text) {
            said.number(which, words.next()).map_err(error)?;
        } else if let Some(word) = WORDS.iter().find(|w| w.name == text) {
            said.word(word, text).map_err(error)?;
        } else {
            return Err(error((
                format!("`{text}` is not a keyword of `overhead`"),
                hint(),
            )));
        }
        said.first.get_or_insert(text);
    }
    // Or it could not be written as a number.
    let (bytes, most) = (said.bytes, *NUMBERS[0].2.end());
    if bytes > most {
        let problem = format!("{bytes} B are above {most} B a packet");
        return Err(error((problem, hint())));
    }
    let cells = said.cells.map_or(Cells::None, |(c, _)| c);
    Ok(Overhead::new(bytes, said.mpu, cells))
}

/// Bytes with their unit.
fn bytes(text: &str) -> Result<Overhead, Wrong> {
    let bytes = parse_size(text).map_err(|e| (e.message, hint()))?;
    match i16::try_from(bytes) {
        Ok(n) if n.unsigned_abs() <= Overhead::MOST => Ok(Overhead::new(n, 0, Cells::None)),
        _ => Err((format!("it is above {} B a packet", Overhead::MOST), hint())),
    }
}

/// What would be valid.
fn hint() -> String {
    let words = WORDS.iter().map(|w| w.name);
    let numbers = NUMBERS.iter().map(|(name, ..)| *name);
    let words: Vec<&str> = words.collect();
    let numbers: Vec<String> = numbers.map(|n| format!("{n} N")).collect();
    format!(
        "write bytes a packet such as 24 B, or words in a row: {}, {}",
        words.join(", "),
        numbers.join(", ")
    )
}

/// What a text must look like, as a regular expression for the JSON Schema.
pub(crate) fn pattern() -> String {
    let words: Vec<&str> = WORDS.iter().map(|w| w.name).collect();
    let one = format!(r"({}|overhead\s+-?[0-9]+|mpu\s+[0-9]+)", words.join("|"));
    format!(r"^\s*([0-9][0-9_.]*\s*([kMG]?B|bytes?)|{one}(\s+{one})*)\s*$")
}
