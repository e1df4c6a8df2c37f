//! The lines of a circuit of ATM that say what cells it may send, and what is in its frames.

use spillgate_core::{Dur, Rate};
use spillgate_nodes::atm::{CbrSpec, ContractSpec, UbrSpec, VbrSpec};

use super::args::Args;
use super::ast::{Encapsulation, Inside};
use super::fault::{Fault, Refusal, code};
use super::lexer::Word;

/// Cells that may leave at the peak rate where `vbr-nrt` and `vbr-rt` do not say.
pub(crate) const DEFAULT_MBS: u64 = 94;

/// The largest rate of a circuit that is taken, in kbit/s.
pub(crate) const MOST_KBPS: u64 = 10_000_000;

/// A command that says a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    Cbr,
    Ubr,
    /// `ubr+`.
    UbrPlus,
    NrtVbr,
    RtVbr,
}

impl Category {
    /// The category of its contract.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cbr => "cbr",
            Self::Ubr | Self::UbrPlus => "ubr",
            Self::NrtVbr => "nrt-vbr",
            Self::RtVbr => "rt-vbr",
        }
    }
}

/// What follows such a command, and what of it has no effect.
pub(crate) fn contract(
    args: &mut Args<'_>,
    category: Category,
    lost: &mut Vec<&str>,
) -> Result<ContractSpec, Refusal> {
    const PCR: &str = "a peak cell rate in kbit/s";
    let spec = match category {
        Category::Cbr => ContractSpec::Cbr(CbrSpec {
            pcr: kbps(args.number(PCR, 1..=MOST_KBPS)?)?,
            cdvt: Dur::ZERO,
        }),
        Category::NrtVbr | Category::RtVbr => {
            let real_time = category == Category::RtVbr;
            let pcr = args.number(PCR, 1..=MOST_KBPS)?;
            let word = args.peek();
            let scr = args.number("a sustainable cell rate in kbit/s", 1..=MOST_KBPS)?;
            let mbs = args.try_number("a maximum burst size in cells", 1..=65535)?;
            vbr(pcr, scr, mbs.unwrap_or(DEFAULT_MBS), real_time, word)?
        }
        Category::Ubr | Category::UbrPlus => {
            let pcr = args.try_number(PCR, 1..=MOST_KBPS)?;
            let mcr = match (category, pcr) {
                (Category::UbrPlus, Some(pcr)) => minimum(args, pcr)?,
                _ => 0,
            };
            ContractSpec::Ubr(UbrSpec {
                pcr: pcr.map(kbps).transpose()?,
                mdcr: (mcr > 0).then(|| kbps(mcr)).transpose()?,
                cdvt: Dur::ZERO,
            })
        }
    };
    if args.try_number("a rate", 0..=MOST_KBPS)?.is_some() {
        lost.push("rates of the way in are those of switched circuits");
        while args.try_number("a rate", 0..=MOST_KBPS)?.is_some() {}
    }
    args.finish()?;
    Ok(spec)
}

/// The minimum cell rate of `ubr+`, in kbit/s.
fn minimum(args: &mut Args<'_>, pcr: u64) -> Result<u64, Refusal> {
    let word = args.peek();
    let mcr = args.number("a minimum cell rate in kbit/s", 0..=MOST_KBPS)?;
    match word.filter(|_| mcr > pcr) {
        Some(word) => Err(above(word, "minimum cell rate", pcr)),
        None => Ok(mcr),
    }
}

/// A contract of VBR; `word`: where the sustainable rate stands.
pub(crate) fn vbr(
    pcr: u64,
    scr: u64,
    mbs: u64,
    real_time: bool,
    word: Option<Word<'_>>,
) -> Result<ContractSpec, Refusal> {
    if let Some(word) = word.filter(|_| scr > pcr) {
        return Err(above(word, "sustainable cell rate", pcr));
    }
    let spec = VbrSpec {
        pcr: kbps(pcr)?,
        scr: kbps(scr)?,
        mbs: mbs as u32,
        cdvt: Dur::ZERO,
    };
    Ok(if real_time {
        ContractSpec::RtVbr(spec)
    } else {
        ContractSpec::NrtVbr(spec)
    })
}

/// The error for a rate above the peak cell rate.
fn above(word: Word<'_>, what: &str, pcr: u64) -> Refusal {
    let message = format!("the {what} is above the peak cell rate, {pcr} kb/s");
    Fault::new(code::RANGE, word.column, message)
        .found(word.text)
        .hint(format!(
            "write at most {pcr}, or a larger peak cell rate before it"
        ))
        .into()
}

fn kbps(n: u64) -> Result<Rate, Refusal> {
    Rate::from_bps(n * 1000).ok_or_else(|| Refusal::NotUnderstood("the rate is 0".to_owned()))
}

/// What follows `encapsulation`, and what of it is not modelled.
pub(crate) fn encapsulation(
    args: &mut Args<'_>,
) -> Result<(Encapsulation, Option<&'static str>), Refusal> {
    const KINDS: [(&str, Encapsulation); 8] = [
        ("aal5auto", Encapsulation::Auto),
        ("aal5autoppp", Encapsulation::Auto),
        ("aal5ciscoppp", Encapsulation::CiscoPpp),
        ("aal5mux", Encapsulation::Mux(None)),
        ("aal5mux-ip", Encapsulation::Mux(None)),
        ("aal5nlpid", Encapsulation::Nlpid),
        ("aal5snap", Encapsulation::Snap),
        ("qsaal", Encapsulation::Other),
    ];
    const INSIDE: [(&str, Inside); 4] = [
        ("bridge-dot1q", Inside::Bridged),
        ("bridge-dot3", Inside::Bridged),
        ("ppp", Inside::Ppp),
        ("pppoe-client", Inside::Pppoe),
    ];
    const OTHERS: [&str; 5] = ["aal0", "aal1", "aal2", "aal34", "aal34smds"];
    let word = args.peek();
    let what = "aal5snap, aal5mux and a protocol, or aal5ciscoppp";
    let kind = match args.keyword(&KINDS, what) {
        Ok(kind) => kind,
        Err(refusal) => match word {
            Some(w) if OTHERS.contains(&w.text.to_ascii_lowercase().as_str()) => {
                Encapsulation::Other
            }
            _ => return Err(refusal),
        },
    };
    let taken = match kind {
        Encapsulation::Mux(_) => return Ok((Encapsulation::Mux(args.try_exact(&INSIDE)), None)),
        Encapsulation::Snap => return Ok((kind, None)),
        Encapsulation::CiscoPpp => {
            "the headers of Cisco's PPP are not modelled: taken as aal5mux ppp"
        }
        Encapsulation::Nlpid => "headers with an NLPID are not modelled: taken as aal5snap",
        Encapsulation::Auto => {
            "what the other end begins with decides on the router: taken as aal5snap"
        }
        Encapsulation::Other => "only frames of AAL5 are modelled: taken as aal5snap",
    };
    Ok((kind, Some(taken)))
}
