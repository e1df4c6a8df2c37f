//! How the rate of a server goes, as it will run.

use std::fmt;

use spillgate_core::{Dur, Rate, RateOrZero};
use spillgate_queueing::Contract;

use crate::schema::{CellPhase, VcSpec};

/// How the rate of a server goes.
#[derive(Clone, Debug, PartialEq)]
pub enum RateProcess {
    /// Rates from given times on.
    Steps {
        /// Rising times, the first of them 0, and the rates from then on; none for 0.
        steps: Vec<(Dur, Option<Rate>)>,
        /// After which it begins again; none: the last rate, which is not 0, holds for ever.
        period: Option<Dur>,
        /// It is recorded, not written.
        recorded: bool,
    },
    /// Times at which [`OPPORTUNITY`] bytes can leave.
    Opportunities {
        /// Times that do not fall.
        at: Vec<Dur>,
        /// After which they begin again: the last of them.
        period: Dur,
    },
    /// The link's rate and another one, for exponentially distributed times of these means.
    OnOff {
        /// The link's rate.
        on_rate: Rate,
        /// The other one; none for 0.
        off_rate: Option<Rate>,
        /// Mean time with the link's rate.
        on: Dur,
        /// Mean time with the other.
        off: Dur,
    },
    /// Cells of ATM, as early as their contract allows.
    Cells {
        /// The rate of the line.
        line: Rate,
        /// The key of the contract.
        category: &'static str,
        /// What it allows.
        contract: Contract,
        /// Whether cells wait until it does.
        shaped: bool,
        /// When the line begins to send after a pause.
        phase: CellPhase,
        /// The name of the line, at the sending node, that it shares with other circuits; none: its
        /// own.
        shares: Option<String>,
        /// Which circuit it is.
        vc: Option<VcSpec>,
        /// The name of the node behind ATM switches at which it ends; none: wherever packets leave
        /// the switches.
        far_end: Option<String>,
    },
}

/// Bytes that can leave at each delivery opportunity of a Mahimahi trace.
pub const OPPORTUNITY: u32 = 1500;

impl fmt::Display for RateProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steps {
                steps,
                period,
                recorded,
            } => {
                let rates = || steps.iter().map(|(_, r)| RateOrZero(*r));
                let most = rates().max_by_key(|r| r.bps()).unwrap_or_default();
                let least = rates().min_by_key(|r| r.bps()).unwrap_or_default();
                let what = if *recorded { "trace" } else { "schedule" };
                write!(f, "{what} of {} rates, {least} to {most}", steps.len())?;
                period.map_or(Ok(()), |p| write!(f, ", every {p}"))
            }
            Self::Opportunities { at, period } => {
                let bits = at.len() as f64 * f64::from(OPPORTUNITY) * 8.0;
                let mean = bits / period.as_secs_f64() / 1e6;
                write!(f, "trace of {period}, {mean:.2} Mb/s on average")
            }
            Self::Cells {
                category,
                contract,
                shaped,
                shares,
                vc,
                far_end,
                ..
            } => {
                let how = if *shaped { "" } else { "not shaped to " };
                f.write_str("ATM")?;
                vc.iter().try_for_each(|vc| write!(f, " {vc}"))?;
                shares.iter().try_for_each(|l| write!(f, " on {l}"))?;
                far_end.iter().try_for_each(|n| write!(f, " to {n}"))?;
                write!(f, ", {how}{category}, PCR {}", contract.pcr())?;
                if let Some((scr, mbs)) = contract.burst() {
                    write!(f, ", SCR {scr}, MBS {mbs} cells")?;
                }
                match (contract.minimum_rate(), contract.frames()) {
                    (Some(mcr), Some((mbs, mfs))) => {
                        write!(f, ", MCR {mcr}, MBS {mbs} cells, MFS {mfs} cells")
                    }
                    (Some(mdcr), None) => write!(f, ", MDCR {mdcr}"),
                    _ => Ok(()),
                }
            }
            Self::OnOff {
                off_rate, on, off, ..
            } => write!(
                f,
                "on for {on}, {} for {off} on average",
                RateOrZero(*off_rate)
            ),
        }
    }
}
