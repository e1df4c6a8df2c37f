//! What a scenario says of a call, its rate, and what is wrong with it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Or, Percent, Rate, Size, math, time::PS_PER_SEC};

use super::Chances;
use crate::source::codec::{Codec, CodecMode};
use crate::source::spec::MAX_PACKET;
use spillgate_core::Problem;

/// Largest Opus packet: 120 ms of speech, and frames of at most 1275 B (RFC 6716 section 3.2).
const OPUS_FRAME: u32 = 1275;
/// Opus frames are 2.5, 5, 10, 20, 40 or 60 ms, and a packet has up to 120 ms; in tenths of a ms.
const OPUS_TIMES: [u64; 9] = [25, 50, 100, 200, 400, 600, 800, 1000, 1200];
const TENTH: u64 = PS_PER_SEC / 10_000;
/// Most speech in one packet (RFC 3551 section 4.2 has 200 ms).
const MAX_TIME: Dur = Dur::from_ms(200);

/// One direction of a telephone call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoipSpec {
    /// The codec.
    pub codec: Codec,
    /// Which of the codec's rates, of speech without headers. Default as the list of
    /// codecs says; only for g723, g726, ilbc, amr, amr-wb and opus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitrate: Option<Rate>,
    /// Speech in one packet, a multiple of the codec's frame. Default 20 ms, 30 ms for g723, g728
    /// and ilbc at 13.33 kb/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packetization: Option<Dur>,
    /// Opus with a variable rate: the coefficient of variation of packet sizes (log-normal), above
    /// 0 % and at most 100 %. Default: all packets alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vbr: Option<Percent>,
    /// The headers in front of the speech. Default `ipv4`.
    #[serde(default)]
    pub headers: Headers,
    /// Further bytes in each packet, such as 10 B of SRTP or what a tunnel adds. Default 0 B.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub extra: Size,
    /// Silence suppression: `p59`, `sriram-whitt` or a table. Default: every packet is sent.
    #[serde(
        default,
        deserialize_with = "crate::source::wire::vad",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(with = "Option<Or<VadModel, VadSpec>>")]
    pub vad: Option<VadSpec>,
    /// When the first packet is due after the flow's start; without it, uniform over one packet
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Dur>,
    /// Each packet is moved from its place by up to this share of the packet time, uniformly to
    /// both sides (0 % to 50 %). Default 0 %.
    #[serde(default)]
    pub jitter: Percent,
}

fn is_zero(s: &Size) -> bool {
    s.0 == 0
}

/// What stands in front of the speech of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Headers {
    /// IPv4, UDP and RTP: 20 + 8 + 12 = 40 B.
    #[default]
    Ipv4,
    /// IPv6, UDP and RTP: 60 B.
    Ipv6,
    /// Compressed to 2 B on the link (RFC 2508).
    Crtp,
    /// Compressed to 4 B, UDP checksum included (RFC 2508).
    CrtpChecksum,
}

impl Headers {
    /// Their length in bytes.
    pub fn bytes(self) -> u16 {
        match self {
            Self::Ipv4 => 40,
            Self::Ipv6 => 60,
            Self::Crtp => 2,
            Self::CrtpChecksum => 4,
        }
    }
}

/// Silence suppression: how speech and pauses alternate, and what is sent in a pause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VadSpec {
    /// Mean lengths from the literature. Default `p59`.
    #[serde(default)]
    pub model: VadModel,
    /// Mean length of a talk spurt, the detector's hangover included, in place of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub talk: Option<Dur>,
    /// Mean length of a pause in place of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Dur>,
    /// Payload of a packet of comfort noise, 0 B for none at all. Default by codec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<Size>,
    /// How often comfort noise is repeated in a pause, rounded to packet times. Default by codec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid_every: Option<Dur>,
}

/// Mean lengths of talk spurts and pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VadModel {
    /// ITU-T P.59 table 1: talk spurts of 1.004 s, pauses of 1.587 s.
    #[default]
    P59,
    /// K. Sriram and W. Whitt, IEEE JSAC 4(6), 1986: 352 ms and 650 ms.
    SriramWhitt,
}

impl VadModel {
    fn means(self) -> (Dur, Dur) {
        match self {
            Self::P59 => (Dur::from_ms(1004), Dur::from_ms(1587)),
            Self::SriramWhitt => (Dur::from_ms(352), Dur::from_ms(650)),
        }
    }
}

impl VadSpec {
    /// A model with all defaults.
    pub(in crate::source) fn of(model: VadModel) -> Self {
        Self {
            model,
            ..Self::default()
        }
    }

    /// Mean lengths of talk spurts and pauses.
    pub fn means(&self) -> (Dur, Dur) {
        let (talk, pause) = self.model.means();
        (self.talk.unwrap_or(talk), self.pause.unwrap_or(pause))
    }

    /// The share of the time that is talk, 0..=1.
    pub fn activity(&self) -> f64 {
        let (talk, pause) = self.means();
        talk.as_ps() as f64 / (talk.as_ps() as f64 + pause.as_ps() as f64).max(1.0)
    }
}

impl VoipSpec {
    /// A call with all defaults.
    pub fn of(codec: Codec) -> Self {
        Self {
            codec,
            bitrate: None,
            packetization: None,
            vbr: None,
            headers: Headers::default(),
            extra: Size(0),
            vad: None,
            phase: None,
            jitter: Percent(0.0),
        }
    }

    /// The codec's bit rate, of speech without headers, as it is commonly written.
    pub fn bitrate(&self) -> Rate {
        self.bitrate.unwrap_or_else(|| self.codec.default_rate())
    }

    /// The codec and its rate, such as `g723 5.3 kb/s`.
    pub fn label(&self) -> String {
        format!("{} {}", self.codec.name(), self.bitrate())
    }

    /// The mode of the rate, if the codec has modes and this one.
    fn mode(&self) -> Option<CodecMode> {
        let modes = self.codec.modes();
        let wanted = self.bitrate().bps() as f64;
        // Rates are written with more or fewer digits: 13.3, 13.33 or 13.333 kb/s.
        modes
            .iter()
            .copied()
            .find(|m| (m.bps as f64 / wanted - 1.0).abs() < 0.005)
    }

    /// Length of the codec's frame; of Opus, whose frames are not modelled, the packet's.
    pub fn frame(&self) -> Dur {
        self.mode()
            .or_else(|| self.codec.modes().first().copied())
            .map_or_else(|| self.packetization(), |m| m.frame)
    }

    /// Speech in one packet.
    pub fn packetization(&self) -> Dur {
        self.packetization.unwrap_or_else(|| {
            let frame = self.mode().map_or(Dur::ZERO, |m| m.frame);
            self.codec.default_packetization(frame)
        })
    }

    /// Speech beyond the packet's own that the encoder waits for. The oldest sound in a packet is
    /// [`packetization`](Self::packetization) plus this old when it is sent at the earliest.
    pub fn lookahead(&self) -> Dur {
        self.codec.lookahead(self.frame())
    }

    /// RTP payload of a packet of speech in bytes; the mean if they differ.
    pub fn payload(&self) -> u32 {
        let time = self.packetization().as_ps();
        match self.mode() {
            Some(mode) => {
                let frames = time / mode.frame.as_ps().max(1);
                self.codec.payload(mode, frames.min(10_000) as u32)
            }
            None => {
                let bits = u128::from(self.bitrate().bps()) * u128::from(time);
                (bits / (8 * u128::from(PS_PER_SEC))).min(u128::from(MAX_PACKET)) as u32
            }
        }
    }

    /// The IP packet of a payload, in bytes.
    pub(super) fn packet(&self, payload: u32) -> u16 {
        let len = u64::from(payload) + u64::from(self.headers.bytes()) + self.extra.0.min(1 << 20);
        len.clamp(1, u64::from(MAX_PACKET)) as u16
    }

    /// The packet of speech in bytes, headers included; the mean if they differ.
    pub fn speech_packet(&self) -> u16 {
        self.packet(self.payload())
    }

    /// The chances of silence suppression; none without it.
    pub(super) fn chances(&self) -> Option<Chances> {
        let vad = self.vad.as_ref()?;
        let (talk, pause) = vad.means();
        let (talk, pause) = (talk.as_secs_f64().max(1e-9), pause.as_secs_f64().max(1e-9));
        let time = self.packetization().as_secs_f64();
        let activity = talk / (talk + pause);
        let changed = 1.0 - math::exp(-time * (1.0 / talk + 1.0 / pause));
        let noise = self.codec.noise();
        let sid = match (vad.sid, noise.payload) {
            (Some(Size(0)), _) => None,
            (Some(size), _) => Some(self.packet(size.0.min(u64::from(MAX_PACKET)) as u32)),
            (None, Some(payload)) => Some(self.packet(u32::from(payload))),
            (None, None) => Some(self.speech_packet()),
        };
        let every = vad.sid_every.or(noise.every).map(|every| {
            let places = every.as_secs_f64() / time.max(1e-9) + 0.5;
            (places as u64).max(1)
        });
        Some(Chances {
            activity,
            to_pause: (1.0 - activity) * changed,
            to_talk: activity * changed,
            sid,
            every,
        })
    }

    /// Long-run mean in packets per second, comfort noise included.
    pub fn mean_packets(&self) -> f64 {
        let (speech, noise) = self.shares();
        (speech + noise) / self.packetization().as_secs_f64().max(1e-12)
    }

    /// Of all places of the grid, those with speech and those with comfort noise.
    pub(super) fn shares(&self) -> (f64, f64) {
        let Some(c) = self.chances() else {
            return (1.0, 0.0);
        };
        let a_pause = match c.every {
            Some(m) => 1.0 / (1.0 - math::pow(1.0 - c.to_talk, m as f64)),
            None => 1.0,
        };
        let noise = if c.sid.is_some() {
            c.activity * c.to_pause * a_pause
        } else {
            0.0
        };
        (c.activity, noise)
    }
}

/// The largest payload of a packet of `time`: six frames of 1275 B in 120 ms.
pub(super) fn most_opus(time: Dur) -> u32 {
    let frames = time.as_ps().div_ceil(200 * TENTH).clamp(1, 6);
    frames as u32 * OPUS_FRAME
}

pub(super) fn check_rate(spec: &VoipSpec) -> Result<(), Problem> {
    let (codec, rate) = (spec.codec, spec.bitrate());
    if codec == Codec::Opus {
        if !(6_000..=510_000).contains(&rate.bps()) {
            return Err(Problem::new(
                "bitrate",
                rate,
                "Opus has 6 to 510 kb/s",
                "write a rate such as 24 kb/s",
            ));
        }
        return Ok(());
    }
    if spec.mode().is_none() {
        let known: Vec<String> = codec
            .modes()
            .iter()
            .map(|m| format!("{} kb/s", m.bps as f64 / 1000.0))
            .collect();
        return Err(Problem::new(
            "bitrate",
            rate,
            format!("{} does not have this rate", codec.name()),
            format!("write one of {}", known.join(", ")),
        ));
    }
    Ok(())
}

pub(super) fn check_time(spec: &VoipSpec) -> Result<(), Problem> {
    let time = spec.packetization();
    let error =
        |message: String, hint: &str| Err(Problem::new("packetization", time, message, hint));
    if spec.codec == Codec::Opus {
        if !OPUS_TIMES.iter().any(|t| Dur::from_ps(t * TENTH) == time) {
            return error(
                "an Opus packet cannot have this much speech".to_owned(),
                "write 2.5, 5, 10, 20, 40, 60, 80, 100 or 120 ms",
            );
        }
        return Ok(());
    }
    let frame = spec.frame();
    let whole = time.as_ps() % frame.as_ps() == 0;
    if time.is_zero() || !whole || time > MAX_TIME {
        return error(
            format!(
                "packets of {} have whole frames of {frame}, {MAX_TIME} at most",
                spec.codec.name()
            ),
            "write a multiple of the frame such as 20 ms or 30 ms",
        );
    }
    Ok(())
}

pub(super) fn check_sizes(spec: &VoipSpec) -> Result<(), Problem> {
    if spec.extra.0 > 1000 {
        return Err(Problem::new(
            "extra",
            spec.extra,
            "more than 1000 bytes in front of the speech",
            "write a size such as 10 B",
        ));
    }
    if spec.codec == Codec::Opus && spec.payload() > most_opus(spec.packetization()) {
        return Err(Problem::new(
            "bitrate",
            spec.bitrate(),
            format!(
                "a packet would have {} bytes, more than its frames hold",
                spec.payload()
            ),
            "write a lower rate or a shorter packetization",
        ));
    }
    match spec.vbr {
        Some(cv) if spec.codec != Codec::Opus => Err(Problem::new(
            "vbr",
            cv,
            format!("packets of {} are all alike", spec.codec.name()),
            "leave `vbr` out; it is for opus",
        )),
        Some(cv) if !(cv.0 > 0.0 && cv.0 <= 1.0) => Err(Problem::new(
            "vbr",
            cv,
            "a coefficient of variation outside 0 % to 100 %",
            "write a percentage such as 25 %, or leave `vbr` out for packets all alike",
        )),
        _ => Ok(()),
    }
}
