//! Calls as a user writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Percent, Problem};

use crate::codec::{CODECS, Codec, MISSING_BAND};
use crate::{Beyond, Buffer, EModel, Profile, Scale};

/// A flow that carries speech, and who listens to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VoiceSpec {
    /// Codec, such as `g711`, `g729a`: the defaults of `ie`, `bpl`, `frame`, `look_ahead` and
    /// `packetization`. `spillgate list codecs` names them. Default: that of the source, if it is
    /// one of a codec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub codec: Option<String>,
    /// The scale of the rating: `narrowband` (R up to 100) or `wideband` (up to 129), on which a
    /// narrow-band codec loses 35.8 points. Default: that of the codec; without a codec
    /// `narrowband`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Speech in a packet. Default: the source's, or that of the codec, mostly 20 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packetization: Option<Dur>,
    /// The receiver's de-jitter buffer. Default `fixed: 60 ms`.
    pub jitter_buffer: JitterBufferSpec,
    /// Equipment impairment factor Ie (ITU-T G.113), 0 to 95, on the scale of the rating. Default:
    /// the codec's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 95.0))]
    pub ie: Option<f64>,
    /// Packet-loss robustness factor Bpl (ITU-T G.113), 1 to 100. Default: the codec's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 100.0))]
    pub bpl: Option<f64>,
    /// Length of a frame. Default: the codec's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<Dur>,
    /// What the coder must hear beyond the frame. Default: the codec's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look_ahead: Option<Dur>,
    /// Delay of the rest of the way, which is not simulated: other networks, telephones. Default
    /// 0 ms.
    #[serde(skip_serializing_if = "no_delay")]
    pub beyond_delay: Dur,
    /// Random loss of the rest of the way. Default 0 %.
    #[serde(skip_serializing_if = "no_loss")]
    pub beyond_loss: Percent,
    /// Other parameters of the E-model.
    #[serde(skip_serializing_if = "is_default")]
    pub e_model: EModel,
}

fn no_delay(d: &Dur) -> bool {
    d.is_zero()
}

fn no_loss(p: &Percent) -> bool {
    p.0 == 0.0
}

fn is_default(m: &EModel) -> bool {
    *m == EModel::default()
}

/// A de-jitter buffer. Packets that come too late for it count as lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JitterBufferSpec {
    /// Each talk-spurt is played with the smallest delay so far plus this room, up to 10 s.
    Fixed(Dur),
    /// The room follows the variation of the delay (Ramjee and others, 1994).
    Adaptive(AdaptiveSpec),
}

impl Default for JitterBufferSpec {
    fn default() -> Self {
        Self::Fixed(Dur::from_ms(60))
    }
}

/// A buffer that plays each talk-spurt with the mean delay plus some deviations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveSpec {
    /// Room at the beginning of the call. Default 60 ms.
    pub initial: Dur,
    /// Least room beyond the mean delay. Default 10 ms.
    pub min: Dur,
    /// Most room beyond the smallest delay, up to 10 s. Default 200 ms.
    pub max: Dur,
    /// Weight of the past in the running means for each packet, 0 to below 1. Default 0.998002.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub memory: f64,
    /// Deviations of room beyond the mean, above 0 to 20. Default 4.
    #[schemars(range(min = 0.0, max = 20.0))]
    pub deviations: f64,
}

impl Default for AdaptiveSpec {
    fn default() -> Self {
        Self {
            initial: Dur::from_ms(60),
            min: Dur::from_ms(10),
            max: Dur::from_ms(200),
            memory: 0.998_002,
            deviations: 4.0,
        }
    }
}

/// What a source of speech says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCodec {
    /// Its codec's name.
    pub name: String,
    /// Speech in a packet.
    pub packetization: Dur,
}

/// The longest room of a buffer, and of delays that users state.
const LONGEST: Dur = Dur::from_secs(10);

impl VoiceSpec {
    /// The call with all its values, for a source that may know its codec.
    ///
    /// # Errors
    /// The first value that is wrong or missing.
    pub fn profile(&self, source: Option<&SourceCodec>) -> Result<Profile, Problem> {
        let name = self
            .codec
            .as_deref()
            .or_else(|| source.map(|s| s.name.as_str()));
        let known = name.and_then(Codec::by_name);
        let complete = self.ie.is_some() && self.bpl.is_some();
        if known.is_none() && !complete {
            return Err(unknown(name));
        }
        let of_source = source.filter(|_| self.codec.is_none());
        let packetization = self
            .packetization
            .or_else(|| of_source.map(|s| s.packetization))
            .or_else(|| known.map(|c| c.packetization))
            .unwrap_or(Dur::from_ms(20));
        let scale = self
            .scale
            .or_else(|| known.map(|c| c.scale))
            .unwrap_or_default();
        let of_codec = match known.filter(|_| self.ie.is_none()) {
            Some(c) => Some(c.ie_on(scale).ok_or_else(|| too_wide(c))?),
            None => None,
        };
        let profile = Profile {
            scale,
            codec: known.map_or_else(
                || name.unwrap_or("custom").to_owned(),
                |c| c.name.to_owned(),
            ),
            ie: self.ie.or(of_codec).unwrap_or(0.0),
            bpl: self.bpl.or_else(|| known.map(|c| c.bpl)).unwrap_or(1.0),
            // Of a codec that nobody knows, a packet is a frame.
            frame: self
                .frame
                .or_else(|| known.map(|c| c.frame))
                .unwrap_or(packetization),
            look_ahead: self
                .look_ahead
                .or_else(|| known.map(|c| c.look_ahead))
                .unwrap_or(Dur::ZERO),
            packetization,
            buffer: self.jitter_buffer.buffer(),
            beyond: Beyond {
                delay: self.beyond_delay,
                loss: self.beyond_loss.0,
            },
            model: self.e_model,
        };
        self.check(&profile)?;
        Ok(profile)
    }

    fn check(&self, p: &Profile) -> Result<(), Problem> {
        within("ie", p.ie, 0.0, 95.0)?;
        within("bpl", p.bpl, 1.0, 100.0)?;
        let second = Dur::from_secs(1);
        let least = Dur::from_us(125);
        lasts("packetization", p.packetization, least, second)?;
        lasts("frame", p.frame, Dur::from_us(1), second)?;
        lasts("look_ahead", p.look_ahead, Dur::ZERO, second)?;
        lasts("beyond_delay", p.beyond.delay, Dur::ZERO, LONGEST)?;
        if p.frame > p.packetization {
            let message = format!(
                "a packet of {} holds no whole frame of {}, which lasts {}",
                p.packetization, p.codec, p.frame
            );
            let hint = format!("write a multiple of {}", p.frame);
            return Err(Problem::new(
                "packetization",
                p.packetization,
                message,
                hint,
            ));
        }
        match &self.jitter_buffer {
            JitterBufferSpec::Fixed(room) => {
                lasts("jitter_buffer.fixed", *room, Dur::ZERO, LONGEST)?;
            }
            JitterBufferSpec::Adaptive(a) => a.check()?,
        }
        for (name, value, low, high) in self.e_model.parameters() {
            within(&format!("e_model.{name}"), value, low, high)?;
        }
        if let Some(name) = self.e_model.without_effect(p.scale) {
            let message = format!("the wideband E-model does not know `{name}`");
            let hint = "remove it, or write `scale: narrowband` with a narrow-band codec";
            return Err(Problem::new(format!("e_model.{name}"), "", message, hint));
        }
        Ok(())
    }
}

impl AdaptiveSpec {
    fn check(&self) -> Result<(), Problem> {
        let at = |key| format!("jitter_buffer.adaptive.{key}");
        lasts(&at("max"), self.max, Dur::ZERO, LONGEST)?;
        lasts(&at("initial"), self.initial, Dur::ZERO, self.max)?;
        lasts(&at("min"), self.min, Dur::ZERO, self.max)?;
        // At 1 nothing would ever be learned.
        within(&at("memory"), self.memory, 0.0, 0.999_999)?;
        within(&at("deviations"), self.deviations, 0.01, 20.0)
    }
}

impl JitterBufferSpec {
    fn buffer(&self) -> Buffer {
        match self {
            Self::Fixed(room) => Buffer::Fixed(*room),
            Self::Adaptive(a) => Buffer::Adaptive {
                initial: a.initial,
                least: a.min,
                most: a.max,
                memory: a.memory,
                deviations: a.deviations,
            },
        }
    }
}

fn unknown(name: Option<&str>) -> Problem {
    let names: Vec<&str> = CODECS.iter().map(|c| c.name).collect();
    let hint = format!("write one of {}, or `ie` and `bpl`", names.join(", "));
    match name {
        Some(name) => {
            let message = format!("no planning values are known of a codec `{name}`");
            Problem::new("codec", name, message, hint)
        }
        None => Problem::new("", "", "the codec is missing", hint),
    }
}

/// A wideband codec on the narrow-band scale.
fn too_wide(codec: &Codec) -> Problem {
    let message = format!("{} has no values on the narrow-band scale", codec.name);
    let hint = format!(
        "write `scale: wideband`, on which narrow-band codecs can be rated too ({MISSING_BAND} points lower), or `ie`"
    );
    Problem::new("scale", "", message, hint)
}

fn within(path: &str, value: f64, low: f64, high: f64) -> Result<(), Problem> {
    let message = format!("{value} is outside {low} to {high}");
    let hint = format!("write a number from {low} to {high}");
    Problem::check((low..=high).contains(&value), path, value, &message, &hint)
}

fn lasts(path: &str, value: Dur, low: Dur, high: Dur) -> Result<(), Problem> {
    let message = format!("{value} is outside {low} to {high}");
    let hint = format!("write a time from {low} to {high}");
    Problem::check((low..=high).contains(&value), path, value, &message, &hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(json: &str) -> VoiceSpec {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn values_come_from_the_user_then_the_source_then_the_codec() {
        let source = SourceCodec {
            name: "G729A".to_owned(),
            packetization: Dur::from_ms(40),
        };
        let p = spec("{}").profile(Some(&source)).unwrap();
        assert_eq!(
            (p.codec.as_str(), p.ie, p.packetization),
            ("g729a", 11.0, Dur::from_ms(40))
        );
        let p = spec(r#"{"codec": "g711"}"#).profile(Some(&source)).unwrap();
        assert_eq!(
            (p.codec.as_str(), p.packetization),
            ("g711", Dur::from_ms(20))
        );
        let p = spec(r#"{"packetization": "30 ms", "bpl": 7}"#);
        let p = p.profile(Some(&source)).unwrap();
        assert_eq!(
            (p.ie, p.bpl, p.packetization),
            (11.0, 7.0, Dur::from_ms(30))
        );
        assert_eq!(p.buffer, Buffer::Fixed(Dur::from_ms(60)));
        let p = spec(r#"{"codec": "g722"}"#).profile(None).unwrap();
        assert_eq!((p.scale, p.ie), (Scale::Wideband, 13.0));
        // Beside wideband calls, a telephone of the narrow band.
        let p = spec(r#"{"codec": "g729a", "scale": "wideband", "e_model": {"telr": 55}}"#);
        let p = p.profile(None).unwrap();
        assert_eq!((p.scale, p.ie), (Scale::Wideband, 11.0 + 35.8));
        let p = spec(r#"{"ie": 5, "bpl": 20, "scale": "wideband"}"#);
        assert_eq!(p.profile(None).unwrap().scale, Scale::Wideband);
        let p = spec(r#"{"ie": 5, "bpl": 20, "jitter_buffer": {"adaptive": {}}}"#);
        let p = p.profile(None).unwrap();
        assert_eq!((p.codec.as_str(), p.frame), ("custom", Dur::from_ms(20)));
        assert!(matches!(p.buffer, Buffer::Adaptive { .. }));
    }

    #[test]
    fn wrong_values_are_named() {
        for (json, path) in [
            ("{}", ""),
            (r#"{"codec": "speex"}"#, "codec"),
            (r#"{"codec": "opus", "scale": "narrowband"}"#, "scale"),
            (r#"{"codec": "g722", "e_model": {"slr": 9}}"#, "e_model.slr"),
            (r#"{"codec": "g711", "ie": 96}"#, "ie"),
            (r#"{"codec": "g711", "bpl": 0.5}"#, "bpl"),
            (
                r#"{"codec": "g729", "packetization": "5 ms"}"#,
                "packetization",
            ),
            (
                r#"{"codec": "g711", "beyond_delay": "11 s"}"#,
                "beyond_delay",
            ),
            (
                r#"{"codec": "g711", "jitter_buffer": {"fixed": "11 s"}}"#,
                "jitter_buffer.fixed",
            ),
            (
                r#"{"codec": "g711", "jitter_buffer": {"adaptive": {"initial": "300 ms"}}}"#,
                "jitter_buffer.adaptive.initial",
            ),
            (
                r#"{"codec": "g711", "jitter_buffer": {"adaptive": {"memory": 1}}}"#,
                "jitter_buffer.adaptive.memory",
            ),
            (
                r#"{"codec": "g711", "e_model": {"telr": 70}}"#,
                "e_model.telr",
            ),
        ] {
            let problem = spec(json).profile(None).unwrap_err();
            assert_eq!(problem.path, path, "{json}");
            assert!(!problem.hint.is_empty());
        }
        assert!(serde_json::from_str::<VoiceSpec>(r#"{"codecs": "g711"}"#).is_err());
    }
}
