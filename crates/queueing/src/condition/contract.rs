//! ATM traffic contracts: what cells a virtual circuit may send.
//!
//! Source: ATM Forum TM 4.1 sections 2 and 4 (service categories, conformance), ITU-T I.371. Rates count cells of 53 bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Rate, aal5::CELL};

use super::gcra::Gcra;
use crate::BuildError;

/// Most tolerance of a peak cell rate.
const MOST_CDVT: Dur = Dur::from_secs(1);

/// The traffic contract of a virtual circuit, by service category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContractSpec {
    /// Constant bit rate: the peak cell rate.
    Cbr(CbrSpec),
    /// Variable bit rate for what is in real time.
    RtVbr(VbrSpec),
    /// Variable bit rate for everything else.
    NrtVbr(VbrSpec),
    /// Unspecified bit rate: up to the peak cell rate, without a guarantee.
    Ubr(UbrSpec),
}

impl Default for ContractSpec {
    fn default() -> Self {
        Self::Ubr(UbrSpec::default())
    }
}

/// A peak cell rate that is guaranteed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CbrSpec {
    /// The peak cell rate (PCR) in bits of cells of 53 bytes, at most the rate of the link.
    pub pcr: Rate,
    /// The cell delay variation tolerance (CDVT): how much earlier than the PCR has it a cell may leave, at most 1 s. Default 0 s.
    #[serde(default)]
    pub cdvt: Dur,
}

/// A peak and a sustainable cell rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VbrSpec {
    /// The peak cell rate (PCR) in bits of cells of 53 bytes, at most the rate of the link.
    pub pcr: Rate,
    /// The sustainable cell rate (SCR), at most `pcr`.
    pub scr: Rate,
    /// The maximum burst size (MBS): cells that may leave at the PCR, at least 1.
    #[schemars(range(min = 1))]
    pub mbs: u32,
    /// The cell delay variation tolerance (CDVT): how much earlier than the PCR has it a cell may leave, at most 1 s. Default 0 s.
    #[serde(default)]
    pub cdvt: Dur,
}

/// A peak cell rate that is not guaranteed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UbrSpec {
    /// The peak cell rate (PCR) in bits of cells of 53 bytes, at most the rate of the link. Default: that rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcr: Option<Rate>,
    /// The cell delay variation tolerance (CDVT): how much earlier than the PCR has it a cell may leave, at most 1 s. Default 0 s.
    pub cdvt: Dur,
}

/// A contract with its algorithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    pcr: Rate,
    cdvt: Dur,
    /// The sustainable rate and the maximum burst size.
    sustained: Option<(Rate, u32)>,
}

impl Contract {
    /// A contract that never delays a cell on a line of this rate.
    pub fn whole(line: Rate) -> Self {
        Self {
            pcr: line,
            cdvt: Dur::ZERO,
            sustained: None,
        }
    }

    /// The peak cell rate.
    pub fn pcr(&self) -> Rate {
        self.pcr
    }

    /// The rate that it can keep up: the sustainable rate, or the peak if there is none.
    pub fn rate(&self) -> Rate {
        self.sustained.map_or(self.pcr, |(scr, _)| scr)
    }

    /// The sustainable cell rate and the maximum burst size in cells, if there are any.
    pub fn burst(&self) -> Option<(Rate, u32)> {
        self.sustained
    }

    /// GCRA(1/PCR, CDVT), which every cell must conform to.
    pub fn peak(&self) -> Gcra {
        Gcra::new(self.pcr.tx_time(CELL), self.cdvt)
    }

    /// GCRA(1/SCR, BT + CDVT) with the burst tolerance BT = (MBS − 1)(1/SCR − 1/PCR), if there is a sustainable rate.
    pub fn sustained(&self) -> Option<Gcra> {
        let (scr, mbs) = self.sustained?;
        let (slow, fast) = (scr.tx_time(CELL), self.pcr.tx_time(CELL));
        let tolerance = (slow - fast) * u64::from(mbs.saturating_sub(1));
        Some(Gcra::new(slow, tolerance + self.cdvt))
    }
}

impl ContractSpec {
    /// Every category with what it is.
    pub const KINDS: &[(&str, &str)] = &[
        (
            "cbr",
            "Constant bit rate: a peak cell rate that is guaranteed.",
        ),
        (
            "rt-vbr",
            "Variable bit rate in real time: a peak and a sustainable cell rate.",
        ),
        (
            "nrt-vbr",
            "Variable bit rate: a peak and a sustainable cell rate.",
        ),
        (
            "ubr",
            "Unspecified bit rate: a peak cell rate without a guarantee.",
        ),
    ];

    /// The key of the category.
    pub fn category(&self) -> &'static str {
        match self {
            Self::Cbr(_) => "cbr",
            Self::RtVbr(_) => "rt-vbr",
            Self::NrtVbr(_) => "nrt-vbr",
            Self::Ubr(_) => "ubr",
        }
    }

    /// The contract on a line of this rate; the path of an error begins with the category.
    pub fn resolve(&self, line: Rate) -> Result<Contract, BuildError> {
        let (pcr, cdvt, sustained) = match self {
            Self::Cbr(c) => (c.pcr, c.cdvt, None),
            Self::RtVbr(v) | Self::NrtVbr(v) => (v.pcr, v.cdvt, Some((v.scr, v.mbs))),
            Self::Ubr(u) => (u.pcr.unwrap_or(line), u.cdvt, None),
        };
        let refuse = |key: &str, found: String, message: String, hint: String| BuildError {
            path: format!("{}.{key}", self.category()),
            found,
            message,
            hint,
        };
        if pcr > line {
            let message = format!("the peak cell rate is above the rate of the link, {line}");
            let hint = format!("write at most {line}");
            return Err(refuse("pcr", pcr.to_string(), message, hint));
        }
        if cdvt > MOST_CDVT {
            let message = "a tolerance above 1 s".to_owned();
            let hint = "usual values are 10 us to 1 ms".to_owned();
            return Err(refuse("cdvt", cdvt.to_string(), message, hint));
        }
        if let Some((scr, mbs)) = sustained {
            if scr > pcr {
                let message =
                    format!("the sustainable cell rate is above the peak cell rate, {pcr}");
                let hint = format!("write at most {pcr}, or a larger `pcr`");
                return Err(refuse("scr", scr.to_string(), message, hint));
            }
            if mbs == 0 {
                let message = "no cell could ever leave".to_owned();
                let hint = "write at least 1; 94 is the default of Cisco routers".to_owned();
                return Err(refuse("mbs", mbs.to_string(), message, hint));
            }
        }
        Ok(Contract {
            pcr,
            cdvt,
            sustained,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(yaml: &str) -> (String, String) {
        let spec: ContractSpec = serde_json::from_str(yaml).unwrap();
        let e = spec
            .resolve(Rate::from_bps(51_840_000).unwrap())
            .unwrap_err();
        (e.path, e.message)
    }

    #[test]
    fn contracts_that_cannot_be_are_refused() {
        let (path, message) = problem(r#"{"cbr": {"pcr": "60 Mb/s"}}"#);
        assert_eq!(path, "cbr.pcr");
        assert_eq!(
            message,
            "the peak cell rate is above the rate of the link, 51.84 Mb/s"
        );
        let (path, message) =
            problem(r#"{"nrt-vbr": {"pcr": "1 Mb/s", "scr": "2 Mb/s", "mbs": 9}}"#);
        assert_eq!(path, "nrt-vbr.scr");
        assert_eq!(
            message,
            "the sustainable cell rate is above the peak cell rate, 1 Mb/s"
        );
        let (path, message) =
            problem(r#"{"rt-vbr": {"pcr": "2 Mb/s", "scr": "1 Mb/s", "mbs": 0}}"#);
        assert_eq!(
            (&*path, &*message),
            ("rt-vbr.mbs", "no cell could ever leave")
        );
        let (path, _) = problem(r#"{"ubr": {"cdvt": "2 s"}}"#);
        assert_eq!(path, "ubr.cdvt");
    }

    #[test]
    fn every_category_is_listed() {
        let schema = serde_json::to_value(schemars::schema_for!(ContractSpec)).unwrap();
        let kinds = schema["oneOf"].as_array().unwrap().iter();
        let kinds: Vec<&str> = kinds.map(|k| k["required"][0].as_str().unwrap()).collect();
        let listed: Vec<&str> = ContractSpec::KINDS.iter().map(|k| k.0).collect();
        assert_eq!(kinds, listed);
    }

    /// TM 4.1 example: the tolerance lets MBS cells at the peak, and no more, conform.
    #[test]
    fn the_burst_tolerance_is_that_of_the_standard() {
        let spec =
            r#"{"nrt-vbr": {"pcr": "4.24 Mb/s", "scr": "424 kb/s", "mbs": 11, "cdvt": "3 us"}}"#;
        let spec: ContractSpec = serde_json::from_str(spec).unwrap();
        let contract = spec.resolve(Rate::from_bps(10_000_000).unwrap()).unwrap();
        // 1/PCR is 100 us, 1/SCR 1 ms.
        assert_eq!(
            contract.peak(),
            Gcra::new(Dur::from_us(100), Dur::from_us(3))
        );
        let sustained = Gcra::new(Dur::from_ms(1), Dur::from_us(9_003));
        assert_eq!(contract.sustained(), Some(sustained));
        assert_eq!(contract.rate().bps(), 424_000);
    }
}
