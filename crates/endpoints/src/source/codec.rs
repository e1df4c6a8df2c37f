//! Speech codecs: what a frame holds, how long it is, and what a pause sends.
//!
//! Sizes are those of RTP payloads: RFC 3551 section 4.5 for the codecs of
//! ITU-T and GSM, RFC 3952 for iLBC, RFC 4867 octet-aligned for AMR, RFC 7587
//! for Opus. Delays count speech only, not the time of computing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Rate};

/// From one line per codec: the enum and the list of names.
macro_rules! codecs {
    ($($kind:literal: $variant:ident, $summary:literal;)+) => {
        /// A speech codec.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Codec {
            $(
                #[doc = concat!($summary, ".")]
                #[serde(rename = $kind)]
                $variant,
            )+
        }

        /// Every codec: its name in scenarios and a summary of one line.
        pub const CODECS: &[(&str, &str)] = &[$(($kind, $summary)),+];

        impl Codec {
            /// Every codec, in the order of [`CODECS`].
            pub const ALL: &[Self] = &[$(Self::$variant),+];
        }
    };
}

codecs! {
    "g711": G711, "G.711 A-law or µ-law, 64 kb/s, packets of 20 ms unless said otherwise";
    "g722": G722, "G.722 wideband, 64 kb/s, 20 ms";
    "g723": G723, "G.723.1, 6.3 or 5.3 kb/s, frames of 30 ms";
    "g726": G726, "G.726 ADPCM, 16, 24, 32 (default) or 40 kb/s, 20 ms";
    "g728": G728, "G.728, 16 kb/s, 30 ms";
    "g729": G729, "G.729, 8 kb/s, frames of 10 ms, 20 ms";
    "g729a": G729a, "G.729 annex A: packets like those of g729, less to compute, rated a little lower";
    "gsm": Gsm, "GSM full rate, 13 kb/s, frames of 20 ms";
    "gsm-efr": GsmEfr, "GSM enhanced full rate, 12.2 kb/s, frames of 20 ms";
    "ilbc": Ilbc, "iLBC, 15.2 kb/s in frames of 20 ms (default) or 13.33 kb/s in frames of 30 ms";
    "amr": Amr, "AMR, 4.75 to 12.2 kb/s (default), frames of 20 ms";
    "amr-wb": AmrWb, "AMR-WB (G.722.2), 6.6 to 23.85 kb/s, default 12.65, frames of 20 ms";
    "opus": Opus, "Opus, 6 to 510 kb/s, default 24, 20 ms; constant rate, or variable with `vbr`";
}

/// Shorthand: `n` milliseconds.
const fn ms(n: u64) -> Dur {
    Dur::from_ps(n * 1_000_000_000)
}

const TENTHS: u64 = 100_000_000;

/// One bit rate of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodecMode {
    /// In bit/s as it is commonly written.
    pub(super) bps: u64,
    /// Length of a frame.
    pub(super) frame: Dur,
    /// Speech bits of a frame.
    pub(super) bits: u32,
}

const fn mode(bps: u64, frame: Dur, bits: u32) -> CodecMode {
    CodecMode { bps, frame, bits }
}

const ADPCM: [CodecMode; 4] = [
    mode(32_000, ms(1), 32),
    mode(16_000, ms(1), 16),
    mode(24_000, ms(1), 24),
    mode(40_000, ms(1), 40),
];
/// RFC 3952 section 3.
const ILBC: [CodecMode; 2] = [mode(15_200, ms(20), 304), mode(13_330, ms(30), 400)];
const G723: [CodecMode; 2] = [mode(6_300, ms(30), 192), mode(5_300, ms(30), 160)];
/// 3GPP TS 26.101 table 2.
const AMR: [CodecMode; 8] = [
    mode(12_200, ms(20), 244),
    mode(10_200, ms(20), 204),
    mode(7_950, ms(20), 159),
    mode(7_400, ms(20), 148),
    mode(6_700, ms(20), 134),
    mode(5_900, ms(20), 118),
    mode(5_150, ms(20), 103),
    mode(4_750, ms(20), 95),
];
/// 3GPP TS 26.201 table 2.
const AMR_WB: [CodecMode; 9] = [
    mode(12_650, ms(20), 253),
    mode(6_600, ms(20), 132),
    mode(8_850, ms(20), 177),
    mode(14_250, ms(20), 285),
    mode(15_850, ms(20), 317),
    mode(18_250, ms(20), 365),
    mode(19_850, ms(20), 397),
    mode(23_050, ms(20), 461),
    mode(23_850, ms(20), 477),
];

/// What is sent in a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Noise {
    /// RTP payload in bytes; none: a packet like those of speech.
    pub(super) payload: Option<u16>,
    /// How often after the one at the beginning; none: no more.
    pub(super) every: Option<Dur>,
}

impl Codec {
    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        CODECS[self as usize].0
    }

    /// The codec of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|c| c.name() == name)
    }

    /// Its bit rates, the default first; empty where any is possible ([`Codec::Opus`]).
    pub(super) fn modes(self) -> &'static [CodecMode] {
        match self {
            Self::G711 | Self::G722 => const { &[mode(64_000, ms(1), 64)] },
            Self::G723 => &G723,
            Self::G726 => &ADPCM,
            // Vectors of 0.625 ms and 10 bits: four make whole bytes (RFC 3551 section 4.5.5).
            Self::G728 => const { &[mode(16_000, Dur::from_ps(25 * TENTHS), 40)] },
            Self::G729 | Self::G729a => const { &[mode(8_000, ms(10), 80)] },
            Self::Gsm => const { &[mode(13_000, ms(20), 264)] },
            Self::GsmEfr => const { &[mode(12_200, ms(20), 248)] },
            Self::Ilbc => &ILBC,
            Self::Amr => &AMR,
            Self::AmrWb => &AMR_WB,
            Self::Opus => &[],
        }
    }

    /// Speech in a packet unless the user says otherwise: what Cisco's gateways send, else 20 ms.
    pub(super) fn default_packetization(self, frame: Dur) -> Dur {
        match self {
            Self::G723 | Self::G728 => ms(30),
            _ => frame.max(ms(20)),
        }
    }

    /// The rate unless the user says otherwise.
    pub(super) fn default_rate(self) -> Rate {
        const OPUS: Rate = Rate::from_bps(24_000).unwrap();
        let first = self.modes().first();
        first.and_then(|m| Rate::from_bps(m.bps)).unwrap_or(OPUS)
    }

    /// Speech beyond the packet's own that the encoder waits for.
    ///
    /// G.729 clause 3.2, G.723.1 clause 2.1, RFC 3951 section 3 (iLBC by frame), 3GPP TS 26.090
    /// and 26.190 (5 ms), RFC 6716 section 2 and the 4 ms that the reference encoder adds. Filters
    /// of sample-based codecs, a few ms at most, are left out.
    pub(super) fn lookahead(self, frame: Dur) -> Dur {
        match self {
            Self::G711 | Self::G722 | Self::G726 | Self::G728 | Self::Gsm | Self::GsmEfr => {
                Dur::ZERO
            }
            Self::G723 => Dur::from_ps(75 * TENTHS),
            Self::G729 | Self::G729a | Self::Amr | Self::AmrWb => ms(5),
            Self::Ilbc if frame > ms(20) => ms(10),
            Self::Ilbc => ms(5),
            Self::Opus => Dur::from_ps(65 * TENTHS),
        }
    }

    /// What its silence suppression sends in a pause.
    ///
    /// G.729 annex B (15 bits) and G.723.1 annex A send again when the noise changes, which is
    /// not modelled. RFC 3389 with the ten coefficients of G.711 appendix II for codecs without a
    /// scheme of their own, which says nothing of repetition. GSM 06.31: a whole frame every
    /// 480 ms. 3GPP TS 26.093: every 160 ms; RFC 4867 octet-aligned, 39 or 40 bits and two bytes.
    /// RFC 6716 section 2.1.9: one coded frame in 400 ms.
    pub(super) fn noise(self) -> Noise {
        let (payload, every) = match self {
            Self::G711 | Self::G722 | Self::G726 | Self::G728 | Self::Ilbc => (Some(11), None),
            Self::G723 => (Some(4), None),
            Self::G729 | Self::G729a => (Some(2), None),
            Self::Gsm => (Some(33), Some(ms(480))),
            Self::GsmEfr => (Some(31), Some(ms(480))),
            Self::Amr | Self::AmrWb => (Some(7), Some(ms(160))),
            Self::Opus => (None, Some(ms(400))),
        };
        Noise { payload, every }
    }

    /// RTP payload of `frames` frames in bytes.
    pub(super) fn payload(self, mode: CodecMode, frames: u32) -> u32 {
        match self {
            // A mode request, and an entry of the table of contents for each frame.
            Self::Amr | Self::AmrWb => 1 + frames * (1 + mode.bits.div_ceil(8)),
            _ => (frames * mode.bits).div_ceil(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_the_enum() {
        for (codec, (name, _)) in Codec::ALL.iter().zip(CODECS) {
            assert_eq!(serde_json::to_value(codec).unwrap(), *name);
            assert_eq!((codec.name(), Codec::by_name(name)), (*name, Some(*codec)));
        }
    }

    /// A mode's bits over its frame are its rate, but for rounding as it is usually written.
    #[test]
    fn rates_are_those_of_the_frames() {
        for codec in Codec::ALL {
            for m in codec.modes() {
                let bps = f64::from(m.bits) / m.frame.as_secs_f64();
                // Names leave out the bits that fill frames up to whole bytes: 6.3 kb/s are 6.4.
                assert!((bps / m.bps as f64 - 1.0).abs() < 0.02, "{codec:?} {m:?}");
                let noise = codec.noise().every.map_or(m.frame, |e| e);
                assert_eq!(noise.as_ps() % m.frame.as_ps(), 0);
            }
        }
    }
}
