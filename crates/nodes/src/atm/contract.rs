//! ATM traffic contracts as they are written.
//!
//! Sources: ATM Forum TM 4.1 sections 2 and 4 (service categories, conformance, GFR), its addendum
//! af-tm-0150 (the minimum desired cell rate of UBR), ITU-T I.371. Rates count cells of 53 bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Rate};

use super::category::{Contract, Promise};
use spillgate_core::Problem;

/// Most tolerance of a peak cell rate.
const MOST_CDVT: Dur = Dur::from_secs(1);

spillgate_core::family! {
    /// The traffic contract of a virtual circuit, by service category.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub written enum ContractSpec by spec;

    /// Constant bit rate: a peak cell rate that is guaranteed.
    "cbr": Cbr(CbrSpec);
    /// Variable bit rate in real time: a peak and a sustainable cell rate.
    "rt-vbr": RtVbr(VbrSpec);
    /// Variable bit rate: a peak and a sustainable cell rate.
    "nrt-vbr": NrtVbr(VbrSpec);
    /// Unspecified bit rate: a peak cell rate without a guarantee, perhaps a minimum desired cell
    /// rate (UBR+).
    "ubr": Ubr(UbrSpec);
    /// Guaranteed frame rate: a minimum cell rate for whole frames, and a peak cell rate.
    "gfr": Gfr(GfrSpec);
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
    /// The cell delay variation tolerance (CDVT): how much earlier than the PCR has it a cell may
    /// leave, at most 1 s. Default 0 s.
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
    /// The cell delay variation tolerance (CDVT): how much earlier than the PCR has it a cell may
    /// leave, at most 1 s. Default 0 s.
    #[serde(default)]
    pub cdvt: Dur,
}

/// A peak cell rate that is not guaranteed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UbrSpec {
    /// The peak cell rate (PCR) in bits of cells of 53 bytes, at most the rate of the link.
    /// Default: that rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcr: Option<Rate>,
    /// The minimum desired cell rate (MDCR), at most `pcr`: ports whose service knows categories
    /// give it to the circuit. Routers call UBR with it UBR+, and the rate MCR. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mdcr: Option<Rate>,
    /// The cell delay variation tolerance (CDVT): how much earlier than the PCR has it a cell may
    /// leave, at most 1 s. Default 0 s.
    pub cdvt: Dur,
}

/// A minimum cell rate that is guaranteed to whole frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GfrSpec {
    /// The peak cell rate (PCR) in bits of cells of 53 bytes, at most the rate of the link.
    /// Default: that rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcr: Option<Rate>,
    /// The minimum cell rate (MCR), at most `pcr`.
    pub mcr: Rate,
    /// The maximum burst size (MBS): cells at the PCR that the minimum rate covers, at least 1.
    #[schemars(range(min = 1))]
    pub mbs: u32,
    /// The maximum frame size (MFS) in cells, at least 1 and at least what a packet of the link's
    /// `mtu` takes: longer frames do not conform.
    #[schemars(range(min = 1))]
    pub mfs: u32,
    /// The cell delay variation tolerance (CDVT) of both rates: how much earlier a cell may leave,
    /// at most 1 s. Default 0 s.
    #[serde(default)]
    pub cdvt: Dur,
}

impl ContractSpec {
    /// The contract on a line of this rate; the path of an error begins with the category.
    pub fn resolve(&self, line: Rate) -> Result<Contract, Problem> {
        let contract = self.contract(line);
        let (pcr, cdvt) = (contract.pcr, contract.cdvt);
        let at = |key: &str| format!("{}.{key}", self.kind());
        if pcr > line {
            let message = format!("the peak cell rate is above the rate of the link, {line}");
            return Err(Problem::new(
                at("pcr"),
                pcr,
                message,
                format!("write at most {line}"),
            ));
        }
        if cdvt > MOST_CDVT {
            let hint = "usual values are 10 us to 1 ms";
            return Err(Problem::new(
                at("cdvt"),
                cdvt,
                "a tolerance above 1 s",
                hint,
            ));
        }
        let slower = match contract.promise {
            Promise::Peak | Promise::Desired(None) => None,
            Promise::Sustained { scr, .. } => Some(("scr", "sustainable", scr)),
            Promise::Desired(Some(mdcr)) => Some(("mdcr", "minimum desired", mdcr)),
            Promise::Frames { mcr, .. } => Some(("mcr", "minimum", mcr)),
        };
        if let Some((key, name, rate)) = slower.filter(|(.., rate)| *rate > pcr) {
            let message = format!("the {name} cell rate is above the peak cell rate, {pcr}");
            let hint = format!("write at most {pcr}, or a larger `pcr`");
            return Err(Problem::new(at(key), rate, message, hint));
        }
        match contract.promise {
            Promise::Sustained { mbs: 0, .. } => {
                let hint = "write at least 1; 94 is the default of Cisco routers";
                Err(Problem::new(at("mbs"), 0, "no cell could ever leave", hint))
            }
            Promise::Frames { mbs: 0, .. } => {
                let hint = "write at least 1, better twice `mfs`";
                Err(Problem::new(at("mbs"), 0, "no burst is covered", hint))
            }
            Promise::Frames { mfs: 0, .. } => {
                let hint = "write the cells of the longest packet: 32 for 1500 B, 192 for 9180 B";
                Err(Problem::new(at("mfs"), 0, "no frame would conform", hint))
            }
            _ => Ok(contract),
        }
    }

    /// The peak cell rate; none: that of the line.
    pub fn pcr(&self) -> Option<Rate> {
        self.parts().0
    }

    /// The sustainable cell rate and the maximum burst size in cells, of VBR.
    pub fn burst(&self) -> Option<(Rate, u32)> {
        self.parts().2.burst()
    }

    /// The minimum cell rate of GFR, or the minimum desired cell rate of UBR.
    pub fn minimum_rate(&self) -> Option<Rate> {
        self.parts().2.minimum()
    }

    /// The contract as it is written.
    fn contract(&self, line: Rate) -> Contract {
        let (pcr, cdvt, promise) = self.parts();
        Contract {
            pcr: pcr.unwrap_or(line),
            cdvt,
            promise,
        }
    }

    /// The peak cell rate, the tolerance, and what else is promised.
    fn parts(&self) -> (Option<Rate>, Dur, Promise) {
        let sustained = |v: &VbrSpec, is_rt| Promise::Sustained {
            scr: v.scr,
            mbs: v.mbs,
            is_rt,
        };
        match self {
            Self::Cbr(c) => (Some(c.pcr), c.cdvt, Promise::Peak),
            Self::RtVbr(v) => (Some(v.pcr), v.cdvt, sustained(v, true)),
            Self::NrtVbr(v) => (Some(v.pcr), v.cdvt, sustained(v, false)),
            Self::Ubr(u) => (u.pcr, u.cdvt, Promise::Desired(u.mdcr)),
            Self::Gfr(g) => {
                let (mcr, mbs, mfs) = (g.mcr, g.mbs, g.mfs);
                (g.pcr, g.cdvt, Promise::Frames { mcr, mbs, mfs })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CellPriority, Gcra};
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
        for (wrong, wanted) in [
            (
                r#"{"ubr": {"pcr": "1 Mb/s", "mdcr": "2 Mb/s"}}"#,
                "ubr.mdcr",
            ),
            (r#"{"ubr": {"mdcr": "52 Mb/s"}}"#, "ubr.mdcr"),
            (
                r#"{"gfr": {"pcr": "1 Mb/s", "mcr": "2 Mb/s", "mbs": 9, "mfs": 9}}"#,
                "gfr.mcr",
            ),
            (
                r#"{"gfr": {"mcr": "2 Mb/s", "mbs": 0, "mfs": 9}}"#,
                "gfr.mbs",
            ),
            (
                r#"{"gfr": {"mcr": "2 Mb/s", "mbs": 9, "mfs": 0}}"#,
                "gfr.mfs",
            ),
        ] {
            assert_eq!(problem(wrong).0, wanted, "{wrong}");
        }
    }

    fn contract(json: &str) -> Contract {
        let spec: ContractSpec = serde_json::from_str(json).unwrap();
        spec.resolve(Rate::from_bps(51_840_000).unwrap()).unwrap()
    }

    #[test]
    fn categories_have_priorities_and_set_rates_aside() {
        let all = [
            (r#"{"cbr": {"pcr": "4 Mb/s"}}"#, Some(4)),
            (
                r#"{"rt-vbr": {"pcr": "4 Mb/s", "scr": "3 Mb/s", "mbs": 9}}"#,
                Some(3),
            ),
            (
                r#"{"nrt-vbr": {"pcr": "4 Mb/s", "scr": "2 Mb/s", "mbs": 9}}"#,
                Some(2),
            ),
            (
                r#"{"gfr": {"pcr": "4 Mb/s", "mcr": "1 Mb/s", "mbs": 9, "mfs": 4}}"#,
                Some(1),
            ),
            (r#"{"ubr": {"pcr": "4 Mb/s"}}"#, None),
        ];
        let contracts = all.map(|(json, _)| contract(json));
        assert!(contracts.is_sorted_by_key(Contract::priority));
        let aside = contracts.each_ref().map(|c| c.guaranteed());
        let wanted = all.map(|(_, mbps)| mbps.and_then(|m| Rate::from_bps(m * 1_000_000)));
        assert_eq!(aside, wanted);
        // Shapers and policies of UBR and GFR are for the peak.
        assert_eq!(contracts[3].rate().bps(), 4_000_000);
        let ubr = contract(r#"{"ubr": {"mdcr": "424 kb/s", "cdvt": "1 ms"}}"#);
        assert_eq!(ubr.priority(), CellPriority::Minimum);
        let (ms, cdvt) = (Dur::from_ms(1), Dur::from_ms(1));
        assert_eq!(ubr.minimum(), Some(Gcra::new(ms, cdvt)));
    }

    /// TM 4.1: the tolerance of F-GCRA is that of MBS cells at the peak, as with VBR.
    #[test]
    fn the_burst_of_gfr_is_as_that_of_vbr() {
        let gfr = r#"{"gfr": {"pcr": "4.24 Mb/s", "mcr": "424 kb/s", "mbs": 11, "mfs": 5, "cdvt": "3 us"}}"#;
        let gfr = contract(gfr);
        let wanted = Gcra::new(Dur::from_ms(1), Dur::from_us(9_003));
        assert_eq!(gfr.minimum(), Some(wanted));
        assert_eq!((gfr.sustained(), gfr.frames()), (None, Some((11, 5))));
    }

    #[test]
    fn every_category_is_listed() {
        let schema = serde_json::to_value(schemars::schema_for!(ContractSpec)).unwrap();
        let kinds = schema["oneOf"].as_array().unwrap().iter();
        let kinds: Vec<&str> = kinds.map(|k| k["required"][0].as_str().unwrap()).collect();
        let listed: Vec<&str> = ContractSpec::KINDS.iter().map(|k| k.kind).collect();
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
