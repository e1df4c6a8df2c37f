//! The arguments of one command, read one after the other.

use spillgate_core::suggest::nearest;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use spillgate_core::{Dscp, Percent, Rate};

use super::ast::{At, Origin};
use super::fault::{Fault, Refusal, code, unmodelled};
use super::keyword::{Found, Table, find};
use super::lexer::{Line, Word, Words};

/// Names of IP precedence (RFC 791), by value.
const PRECEDENCES: [(&str, u8); 8] = [
    ("routine", 0),
    ("priority", 1),
    ("immediate", 2),
    ("flash", 3),
    ("flash-override", 4),
    ("critical", 5),
    ("internet", 6),
    ("network", 7),
];

/// What a keyword means, or why it is not modelled.
pub(crate) type Modelled<T> = Result<T, &'static str>;

/// The words of a command that have not been read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args<'a> {
    words: Words<'a>,
}

impl<'a> Args<'a> {
    pub(crate) fn new(words: Words<'a>) -> Self {
        Self { words }
    }

    /// The line that the command stands on.
    pub(crate) fn line(&self) -> Line<'a> {
        self.words.line()
    }

    /// The unread words.
    pub(crate) fn words(&self) -> Words<'a> {
        self.words
    }

    /// The unread part of the line, as written.
    pub(crate) fn rest(&self) -> &'a str {
        self.words.rest()
    }

    /// The next word, unread.
    pub(crate) fn peek(&self) -> Option<Word<'a>> {
        self.words.peek()
    }

    /// The next word, if there is one.
    pub(crate) fn next(&mut self) -> Option<Word<'a>> {
        self.words.next()
    }

    /// The next word; `what` it should be, for the error.
    pub(crate) fn word(&mut self, what: &str) -> Result<Word<'a>, Refusal> {
        self.words.next().ok_or_else(|| {
            Fault::new(
                code::MISSING,
                self.words.end_column(),
                "an argument is missing",
            )
            .found(self.line().text())
            .hint(format!("write {what} here"))
            .into()
        })
    }

    /// A name: any printable characters.
    pub(crate) fn name(&mut self, what: &str) -> Result<Word<'a>, Refusal> {
        let word = self.word(what)?;
        if word.unclosed {
            let fault = word.fault(code::UNEXPECTED, "the quote is never closed");
            let hint = "close the name with a second quote on the same line";
            return Err(fault.hint(hint).into());
        }
        if word.text.is_empty() {
            let fault = word
                .fault(code::UNEXPECTED, "the name is empty")
                .found("\"\"");
            return Err(fault.hint(format!("write {what} here")).into());
        }
        Ok(word)
    }

    /// One of the keywords of `table`; `what` they are, for the error.
    pub(crate) fn keyword<T: Copy + PartialEq>(
        &mut self,
        table: &Table<T>,
        what: &str,
    ) -> Result<T, Refusal> {
        let word = self.word(what)?;
        match find(table, word.text) {
            Found::Exact(t) | Found::Prefix(t) => Ok(t),
            Found::Ambiguous(names) => Err(ambiguous(word, &names)),
            Found::None => Err(unexpected(word, what)),
        }
    }

    /// One of the keywords of `table`, if one comes next; else nothing is read.
    pub(crate) fn try_keyword<T: Copy + PartialEq>(&mut self, table: &Table<T>) -> Option<T> {
        let mut ahead = self.words;
        match find(table, ahead.next()?.text) {
            Found::Exact(t) | Found::Prefix(t) => {
                self.words = ahead;
                Some(t)
            }
            _ => None,
        }
    }

    /// One of the keywords of `table` in full, if one comes next; else nothing is read.
    pub(crate) fn try_exact<T: Copy + PartialEq>(&mut self, table: &Table<T>) -> Option<T> {
        let mut ahead = self.words;
        match find(table, ahead.next()?.text) {
            Found::Exact(t) => {
                self.words = ahead;
                Some(t)
            }
            _ => None,
        }
    }

    /// One of the keywords of `table`, or why it is not modelled; `what` they are, for the error.
    pub(crate) fn modelled<T: Copy + PartialEq>(
        &mut self,
        table: &Table<Modelled<T>>,
        what: &str,
    ) -> Result<T, Refusal> {
        self.keyword(table, what)?.or_else(unmodelled)
    }

    /// Whether one of these words (in full or abbreviated, with spaces between) comes next; it is
    /// read then.
    pub(crate) fn take(&mut self, words: &'static str) -> bool {
        let mut words = words.split_ascii_whitespace();
        words.any(|w| self.try_keyword(&[(w, ())]).is_some())
    }

    /// The same of a word in full.
    pub(crate) fn take_exact(&mut self, words: &'static str) -> bool {
        let mut words = words.split_ascii_whitespace();
        words.any(|w| self.try_exact(&[(w, ())]).is_some())
    }

    /// Whether a word comes next that begins with a digit.
    pub(crate) fn at_number(&self) -> bool {
        self.peek().is_some_and(Word::is_number)
    }

    /// A value, and more while `more` of them follow.
    pub(crate) fn several<T>(
        &mut self,
        value: impl Fn(&mut Self) -> Result<T, Refusal>,
        more: impl Fn(&Self) -> bool,
    ) -> Result<Vec<T>, Refusal> {
        let mut values = vec![value(self)?];
        while more(self) {
            values.push(value(self)?);
        }
        Ok(values)
    }

    /// Values to the end of the line.
    pub(crate) fn all<T>(
        &mut self,
        value: impl Fn(&mut Self) -> Result<T, Refusal>,
    ) -> Result<Vec<T>, Refusal> {
        self.several(value, |args| args.peek().is_some())
    }

    /// A name, and where it stands.
    pub(crate) fn named(&mut self, what: &str) -> Result<At<'a, &'a str>, Refusal> {
        let name = self.name(what)?;
        Ok(Origin::new(self.line(), name.column).at(name.text))
    }

    /// A whole number in `range`.
    pub(crate) fn number(
        &mut self,
        what: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, Refusal> {
        let word = self.word(what)?;
        number(word, what, range)
    }

    /// The next word as a whole number in `range`, if it begins with a digit; else nothing is read.
    pub(crate) fn try_number(
        &mut self,
        what: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, Refusal> {
        self.at_number()
            .then(|| self.number(what, range))
            .transpose()
    }

    /// A percentage 1..=100, as a fraction.
    pub(crate) fn percent(&mut self) -> Result<Percent, Refusal> {
        let p = self.number("a percentage", 1..=100)?;
        Ok(Percent(p as f64 / 100.0))
    }

    /// A rate in bit/s; `k`, `m` or `g` behind the number scale it by powers of 1000, as does
    /// the unit that IOS XR writes behind it.
    pub(crate) fn bits_per_second(&mut self) -> Result<Rate, Refusal> {
        const WHAT: &str = "a rate in bit/s";
        let word = self.word(WHAT)?;
        let bad = || unexpected(word, "a rate in bit/s such as 1000000, 1000k or 1m");
        let scales = [('k', 1e3), ('m', 1e6), ('g', 1e9)];
        let last = word.text.chars().last().map(|c| c.to_ascii_lowercase());
        let scale = scales.iter().find(|(c, _)| Some(*c) == last);
        let bps = match scale {
            None => self.scaled(word, WHAT, 1)?,
            Some((_, scale)) => {
                let digits = &word.text[..word.text.len() - 1];
                let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                let n: f64 = digits.parse().map_err(|_| bad())?;
                if !plain {
                    return Err(bad());
                }
                let bps = n * scale + 0.5;
                if !(1.0..=MAX_BPS as f64).contains(&bps) {
                    return Err(out_of_range(word, WHAT, 1..=MAX_BPS));
                }
                bps as u64
            }
        };
        Rate::from_bps(bps).ok_or_else(bad)
    }

    /// A rate in kbit/s.
    pub(crate) fn kilobits_per_second(&mut self) -> Result<Rate, Refusal> {
        const WHAT: &str = "a rate in kbit/s";
        let word = self.word(WHAT)?;
        let bps = self.scaled(word, WHAT, 1000)?;
        Rate::from_bps(bps).ok_or_else(|| unexpected(word, WHAT))
    }

    /// The number `word` in bit/s, in the unit that follows or else in `unit`.
    fn scaled(&mut self, word: Word<'_>, what: &str, unit: u64) -> Result<u64, Refusal> {
        const UNITS: [(&str, u64); 4] = [
            ("bps", 1),
            ("kbps", 1000),
            ("mbps", 1_000_000),
            ("gbps", 1_000_000_000),
        ];
        let unit = self.try_exact(&UNITS).unwrap_or(unit);
        Ok(number(word, what, 1..=MAX_BPS / unit)? * unit)
    }

    /// A DSCP by name or number.
    pub(crate) fn dscp(&mut self) -> Result<Dscp, Refusal> {
        const WHAT: &str = "a DSCP: 0 to 63, ef, af11 to af43, cs1 to cs7 or default";
        let word = self.word(WHAT)?;
        word.text.parse().map_err(|_| {
            if word.text.bytes().all(|b| b.is_ascii_digit()) {
                out_of_range(word, "a DSCP", 0..=63)
            } else {
                with_nearest(unexpected_fault(word, WHAT), word.text, Dscp::names())
            }
        })
    }

    /// The EXP bits of a label.
    pub(crate) fn exp(&mut self) -> Result<u8, Refusal> {
        Ok(self.number("the EXP bits of a label", 0..=7)? as u8)
    }

    /// The priority of an 802.1Q tag.
    pub(crate) fn cos(&mut self) -> Result<u8, Refusal> {
        Ok(self.number("a CoS", 0..=7)? as u8)
    }

    /// A QoS group: 0 to 99 on IOS, to 511 on IOS XR.
    pub(crate) fn qos_group(&mut self) -> Result<u16, Refusal> {
        Ok(self.number("a QoS group", 0..=511)? as u16)
    }

    /// An IP precedence by name or number.
    pub(crate) fn precedence(&mut self) -> Result<u8, Refusal> {
        const WHAT: &str = "an IP precedence: 0 to 7, or routine to network";
        match self.try_number("an IP precedence", 0..=7)? {
            Some(n) => Ok(n as u8),
            None => self.keyword(&PRECEDENCES, WHAT),
        }
    }

    /// An IPv4 address in dotted decimals.
    pub(crate) fn address(&mut self, what: &str) -> Result<Ipv4Addr, Refusal> {
        let word = self.word(what)?;
        word.text.parse().map_err(|_| unexpected(word, what))
    }

    /// Checks that nothing is left.
    pub(crate) fn finish(&mut self) -> Result<(), Refusal> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err(unexpected(word, "nothing more")),
        }
    }
}

/// The largest rate that is taken: 1 Tb/s.
const MAX_BPS: u64 = 1_000_000_000_000;

fn number(word: Word<'_>, what: &str, range: RangeInclusive<u64>) -> Result<u64, Refusal> {
    if word.text.is_empty() || !word.text.bytes().all(|b| b.is_ascii_digit()) {
        let (from, to) = (range.start(), range.end());
        return Err(unexpected(word, &format!("{what}, {from} to {to}")));
    }
    match word.text.parse() {
        Ok(n) if range.contains(&n) => Ok(n),
        _ => Err(out_of_range(word, what, range)),
    }
}

fn unexpected_fault(word: Word<'_>, what: &str) -> Fault {
    let message = format!("`{}` does not fit here", word.text);
    let fault = word.fault(code::UNEXPECTED, message);
    fault.hint(format!("write {what} here"))
}

/// The error for a word where `what` should stand.
pub(crate) fn unexpected(word: Word<'_>, what: &str) -> Refusal {
    unexpected_fault(word, what).into()
}

/// The error for a number outside `range`.
pub(crate) fn out_of_range(word: Word<'_>, what: &str, range: RangeInclusive<u64>) -> Refusal {
    let (from, to) = (range.start(), range.end());
    let fault = word.fault(code::RANGE, format!("`{}` is out of range", word.text));
    fault.hint(format!("write {what}, {from} to {to}")).into()
}

/// The error for an abbreviation of several keywords.
pub(crate) fn ambiguous(word: Word<'_>, names: &[&str]) -> Refusal {
    let fault = word.fault(code::AMBIGUOUS, format!("`{}` is ambiguous", word.text));
    fault
        .hint(format!("write one of {}", names.join(", ")))
        .into()
}

fn with_nearest<'n>(
    mut fault: Fault,
    found: &str,
    names: impl Iterator<Item = &'n str>,
) -> Refusal {
    if let Some(near) = nearest(found, names) {
        fault.hint = format!("did you mean `{near}`? {}", fault.hint);
    }
    fault.into()
}
