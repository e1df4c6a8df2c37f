//! Identifiers of virtual circuits.

use std::fmt;
use std::str::FromStr;

use spillgate_core::Problem;
use spillgate_core::textual;

/// A virtual circuit on a line at a user-network interface (ITU-T I.361), written `VPI/VCI`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VcSpec {
    /// Virtual path identifier.
    pub vpi: u8,
    /// Virtual channel identifier.
    pub vci: u16,
}

impl VcSpec {
    /// The channels below are for signalling and management (ITU-T I.361, ATM Forum UNI 3.1).
    pub const FIRST_FOR_USERS: u16 = 32;
}

impl fmt::Display for VcSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.vpi, self.vci)
    }
}

impl FromStr for VcSpec {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let error = |message: &str, hint: &str| Problem::new("", text, message, hint);
        let is_number = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
        let parts = text.trim().split_once('/');
        let parts = parts.filter(|(vpi, vci)| is_number(vpi) && is_number(vci));
        let Some((vpi, vci)) = parts else {
            return Err(error(
                "this is not VPI/VCI",
                "write two numbers, such as 1/32",
            ));
        };
        let vpi = vpi.parse();
        let vpi = vpi.map_err(|_| error("the VPI is too large", "at a UNI it is from 0 to 255"))?;
        let vci = vci.parse();
        let vci = vci.map_err(|_| error("the VCI is too large", "write one from 32 to 65535"))?;
        Ok(Self { vpi, vci })
    }
}

textual!(
    VcSpec,
    "Vc",
    "a virtual circuit as VPI/VCI, such as 1/32",
    str::parse::<VcSpec>,
    {
        "type": "string",
        "description": "A virtual circuit as VPI/VCI, from 0/1 to 255/65535; a VCI below 32 is reserved.",
        "pattern": r"^\s*[0-9]{1,3}/[0-9]{1,5}\s*$",
        "examples": ["1/32", "0/100"]
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_and_written() {
        for (text, vpi, vci) in [
            ("1/32", 1, 32),
            ("0/100", 0, 100),
            ("255/65535", 255, 65_535),
        ] {
            let vc: VcSpec = text.parse().unwrap();
            assert_eq!(vc, VcSpec { vpi, vci });
            assert_eq!(vc.to_string(), text);
        }
        for wrong in [
            "", "32", "1/", "/32", "1/32/3", "256/32", "1/65536", "a/b", "-1/32", "1/+32",
        ] {
            assert!(wrong.parse::<VcSpec>().is_err(), "{wrong}");
        }
    }
}
