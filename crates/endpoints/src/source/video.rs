//! Video: frames in a repeating group of pictures, cut into packets.
//!
//! Frame k is due at `start + k / fps`. Its type is the k-th letter of the group;
//! its size is `m_type X S`: the mean of the type, a random factor of mean 1
//! (log-normal or gamma with the type's coefficient of variation; log-normal
//! sizes of each type were found by M. Krunz and H. Hughes, A traffic model for
//! MPEG-coded VBR streams, SIGMETRICS 1995) and the factor of the scene, of mean
//! 1 too, drawn anew after an exponential time. The means are in proportion to
//! `weights`, and `sum of m_type over the group = 8^-1 rate group / fps`, so the mean
//! rate of IP packets, headers included, is `rate` exactly.
//!
//! A frame is cut into packets of `mtu` and a rest. Fractions of a byte, and
//! a rest too short to be a packet, are carried to the next frame, so nothing
//! is lost. The n packets of a frame leave at once or evenly over a share of
//! the time until the next frame.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Percent, Rate, Rng, Size, Time, math, time::PS_PER_SEC};

use super::cbr::later;
use super::spec::MAX_PACKET;
use super::{Emission, Envelope, Model};
use spillgate_core::Problem;

/// The shortest packet: headers of IPv4, UDP and RTP, and one byte.
const SHORTEST: u16 = 41;
/// The shortest MTU, that of IPv4 hosts (RFC 791 section 3.1).
const LEAST_MTU: u16 = 576;
/// Most frames of a group.
const MAX_GOP: usize = 1000;
/// Mean sizes of frames in bytes. Below, most frames would be carried to the next one.
const LEAST_FRAME: f64 = 100.0;
const MOST_FRAME: f64 = 1e8;
/// Most that a frame may hold, in bytes: far beyond any video, and exact as a float.
const MOST: f64 = 1e12;

/// Frames of random sizes, cut into packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VideoSpec {
    /// Mean rate of the IP packets, headers included.
    pub rate: Rate,
    /// Frames per second, 0.1 to 1000.
    pub fps: f64,
    /// Types of the frames of a group of pictures, in the order of sending: letters I, P and B.
    /// Default `IBBPBBPBBPBB`.
    #[serde(default = "gop")]
    pub gop: String,
    /// Mean sizes of the types in proportion to each other. Default {i: 5, p: 3, b: 1}.
    #[serde(default)]
    pub weights: FrameWeights,
    /// Coefficient of variation of the sizes of frames of one type. Default 25 %.
    #[serde(default = "variation")]
    pub variation: Percent,
    /// How the sizes of frames of one type are distributed.
    #[serde(default)]
    pub distribution: SizeDistribution,
    /// Mean length of a scene, whose frames are all larger or smaller by one log-normal factor.
    /// Default: no scenes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<Dur>,
    /// Coefficient of variation of the factor between scenes. Default 30 %.
    #[serde(default = "between_scenes")]
    pub scene_variation: Percent,
    /// Largest IP packet, at least 576 B. Default 1500 B.
    #[serde(default = "mtu")]
    pub mtu: Size,
    /// The share of the time until the next frame over which the packets of a frame are spread
    /// evenly. Default 0 %: all at once, as fast as the first link takes them.
    #[serde(default)]
    pub spread: Percent,
    /// When the first frame, the group's first, is due after the flow's start. Without it the
    /// video begins anywhere in the group, so that flows are not in step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Dur>,
}

fn gop() -> String {
    "IBBPBBPBBPBB".to_owned()
}

fn variation() -> Percent {
    Percent(0.25)
}

fn between_scenes() -> Percent {
    Percent(0.3)
}

fn mtu() -> Size {
    Size(1500)
}

/// Mean sizes of the types of frames in proportion to each other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameWeights {
    /// Frames that stand alone.
    #[serde(default = "five")]
    pub i: f64,
    /// Frames that refer to the past.
    #[serde(default = "three")]
    pub p: f64,
    /// Frames that refer to both sides.
    #[serde(default = "unit")]
    pub b: f64,
}

fn five() -> f64 {
    5.0
}

fn three() -> f64 {
    3.0
}

fn unit() -> f64 {
    1.0
}

impl Default for FrameWeights {
    fn default() -> Self {
        Self {
            i: five(),
            p: three(),
            b: unit(),
        }
    }
}

/// Distribution of the sizes of frames of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeDistribution {
    /// Log-normal.
    #[default]
    Lognormal,
    /// Gamma.
    Gamma,
}

impl VideoSpec {
    fn weight(&self, letter: char) -> Option<f64> {
        match letter {
            'I' => Some(self.weights.i),
            'P' => Some(self.weights.p),
            'B' => Some(self.weights.b),
            _ => None,
        }
    }

    /// Mean sizes of the frames of a group in bytes.
    fn means(&self) -> Vec<f64> {
        let usable = |w: &f64| w.is_finite() && *w > 0.0;
        let weights = self.gop.chars().map(|l| self.weight(l).filter(usable));
        let weights: Vec<f64> = weights.take(MAX_GOP).map(|w| w.unwrap_or(1.0)).collect();
        // Scaled by the largest first: the sum of finite weights may overflow.
        let largest = weights.iter().fold(0.0, |a: f64, w| a.max(*w));
        let total: f64 = weights.iter().map(|w| w / largest).sum();
        let group = self.frame().clamp(LEAST_FRAME, MOST_FRAME) * weights.len() as f64;
        weights
            .iter()
            .map(|w| w / largest / total * group)
            .collect()
    }

    /// Frames per second, brought into range.
    fn pace(&self) -> f64 {
        let fps = if self.fps.is_finite() { self.fps } else { 1.0 };
        fps.clamp(0.1, 1000.0)
    }

    /// Mean size of a frame in bytes.
    fn frame(&self) -> f64 {
        self.rate.bps() as f64 / 8.0 / self.pace()
    }

    /// The time of a frame.
    fn period(&self) -> Dur {
        Dur::from_ps((PS_PER_SEC as f64 / self.pace() + 0.5) as u64)
    }
}

/// What does not change.
#[derive(Debug)]
struct Movie {
    /// Mean sizes of the frames of a group.
    means: Vec<f64>,
    period: Dur,
    cv: f64,
    distribution: SizeDistribution,
    /// Chance that a frame begins a scene; none without scenes.
    cut: Option<f64>,
    scene_cv: f64,
    mtu: u16,
    /// Share of the period over which packets are spread, in units of 2^-32.
    spread: u64,
    phase: Option<Dur>,
}

#[derive(Clone, Debug)]
pub(super) struct Video {
    movie: Arc<Movie>,
    /// When the current frame is due; none once time is exhausted.
    frame: Option<Time>,
    /// The next frame's place in the group.
    next: usize,
    /// Factor of the scene.
    scene: f64,
    /// Bytes owed beyond the current frame's packets, below the shortest packet but for a frame
    /// that is about to be cut.
    owed: f64,
    /// Bytes of the current frame that are still to be sent.
    left: u64,
    /// Packets of the current frame, and those sent.
    packets: u64,
    sent: u64,
    begun: bool,
}

impl Video {
    fn begin(&mut self, rng: &mut Rng) {
        self.begun = true;
        let movie = &self.movie;
        let first = match movie.phase {
            Some(phase) => phase,
            None => {
                self.next = rng.below(movie.means.len() as u32) as usize;
                Dur::from_ps((movie.period.as_ps() as f64 * rng.f64()) as u64)
            }
        };
        self.frame = self.frame.and_then(|t| later(t, first));
        if movie.cut.is_some() {
            self.scene = rng.lognormal(movie.scene_cv);
        }
    }

    /// Draws the next frame and cuts it.
    fn draw(&mut self, rng: &mut Rng) {
        let movie = &self.movie;
        if movie.cut.is_some_and(|p| rng.chance(p)) {
            self.scene = rng.lognormal(movie.scene_cv);
        }
        let factor = match movie.distribution {
            SizeDistribution::Lognormal => rng.lognormal(movie.cv),
            SizeDistribution::Gamma => rng.gamma(movie.cv),
        };
        self.owed = (self.owed + movie.means[self.next] * factor * self.scene).min(MOST);
        self.next = (self.next + 1) % movie.means.len();
        let (mtu, whole) = (u64::from(movie.mtu), self.owed as u64);
        let rest = whole % mtu;
        let carried = if rest < u64::from(SHORTEST) { rest } else { 0 };
        self.left = whole - carried;
        self.packets = self.left.div_ceil(mtu);
        self.sent = 0;
        self.owed -= self.left as f64;
    }
}

impl Model for Video {
    type Spec = VideoSpec;

    fn new(spec: &VideoSpec, start: Time) -> Self {
        let mut means = spec.means();
        if means.is_empty() {
            means.push(spec.frame().clamp(LEAST_FRAME, MOST_FRAME));
        }
        let period = spec.period();
        let cut = spec.scene.map(|mean| {
            let mean = (mean.as_ps() as f64).max(1.0);
            1.0 - math::exp(-(period.as_ps() as f64) / mean)
        });
        let movie = Movie {
            means,
            period,
            cv: spec.variation.0.clamp(0.0, 1.0),
            distribution: spec.distribution,
            cut,
            scene_cv: spec.scene_variation.0.clamp(0.0, 1.0),
            mtu: spec
                .mtu
                .0
                .clamp(u64::from(LEAST_MTU), u64::from(MAX_PACKET)) as u16,
            spread: (spec.spread.0.clamp(0.0, 1.0) * 4_294_967_296.0) as u64,
            phase: spec.phase,
        };
        Self {
            movie: Arc::new(movie),
            frame: Some(start),
            next: 0,
            scene: 1.0,
            owed: 0.0,
            left: 0,
            packets: 0,
            sent: 0,
            begun: false,
        }
    }

    fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
        if !self.begun {
            self.begin(rng);
            self.draw(rng);
        }
        while self.left == 0 {
            self.frame = later(self.frame?, self.movie.period);
            self.frame?;
            self.draw(rng);
        }
        let over = u128::from(self.movie.period.as_ps()) * u128::from(self.movie.spread);
        let share = over * u128::from(self.sent) / u128::from(self.packets);
        let at = later(self.frame?, Dur::from_ps((share >> 32) as u64))?;
        let len = self.left.min(u64::from(self.movie.mtu));
        self.left -= len;
        self.sent += 1;
        Some(Emission {
            at,
            len: len as u16,
        })
    }

    fn mean_rate(spec: &VideoSpec) -> f64 {
        spec.rate.bps() as f64
    }

    fn envelope(spec: &VideoSpec) -> Envelope {
        // Frames of the largest type, each and the scenes four times their mean.
        let largest = spec.means().into_iter().fold(0.0, f64::max);
        let scenes = if spec.scene.is_some() { 4.0 } else { 1.0 };
        let burst = 8.0 * largest * 4.0 * scenes;
        Envelope {
            rate: burst / spec.period().as_secs_f64().max(1e-12),
            burst,
        }
    }

    fn longest(spec: &VideoSpec) -> u16 {
        spec.mtu.0.min(u64::from(MAX_PACKET)) as u16
    }

    fn check(spec: &VideoSpec) -> Result<(), Problem> {
        if !(0.1..=1000.0).contains(&spec.fps) {
            return Err(Problem::new(
                "fps",
                spec.fps,
                "the number of frames per second is outside 0.1 to 1000",
                "write a number such as 25 or 29.97",
            ));
        }
        check_group(spec)?;
        for (key, cv) in [
            ("variation", spec.variation),
            ("scene_variation", spec.scene_variation),
        ] {
            if !(0.0..=1.0).contains(&cv.0) {
                return Err(Problem::new(
                    key,
                    cv,
                    "a coefficient of variation outside 0 % to 100 %",
                    "write a percentage such as 25 %",
                ));
            }
        }
        if let Some(scene) = spec.scene.filter(|s| *s < spec.period()) {
            return Err(Problem::new(
                "scene",
                scene,
                "a scene is shorter than a frame",
                "write a mean length such as 5 s, or leave it out",
            ));
        }
        if !(u64::from(LEAST_MTU)..=u64::from(MAX_PACKET)).contains(&spec.mtu.0) {
            return Err(Problem::new(
                "mtu",
                spec.mtu,
                format!("the largest packet has {LEAST_MTU} to {MAX_PACKET} bytes"),
                "write a size such as 1500 B",
            ));
        }
        if !(0.0..=1.0).contains(&spec.spread.0) {
            return Err(Problem::new(
                "spread",
                spec.spread,
                "packets cannot be spread over more than the time of a frame",
                "write a percentage from 0 % to 100 %",
            ));
        }
        check_rate(spec)
    }
}

fn check_group(spec: &VideoSpec) -> Result<(), Problem> {
    let shown: String = spec.gop.chars().take(40).collect();
    let bad = spec.gop.chars().find(|l| spec.weight(*l).is_none());
    let problem = match bad {
        Some(letter) => Some(format!("`{letter}` is not a type of frame")),
        None if spec.gop.is_empty() => Some("the group has no frame".to_owned()),
        None if spec.gop.len() > MAX_GOP => Some(format!("the group has over {MAX_GOP} frames")),
        None => None,
    };
    if let Some(message) = problem {
        let hint = "write letters I, P and B such as IBBPBBPBBPBB";
        return Err(Problem::new("gop", &shown, message, hint));
    }
    let weights = [
        ("weights.i", spec.weights.i),
        ("weights.p", spec.weights.p),
        ("weights.b", spec.weights.b),
    ];
    for (key, w) in weights {
        if !(w.is_finite() && w > 0.0) {
            return Err(Problem::new(
                key,
                w,
                "a weight must be above 0 and finite",
                "write a number such as 5",
            ));
        }
    }
    Ok(())
}

/// The rate must give frames that are frames.
fn check_rate(spec: &VideoSpec) -> Result<(), Problem> {
    let frame = spec.frame();
    if (LEAST_FRAME..=MOST_FRAME).contains(&frame) {
        return Ok(());
    }
    Err(Problem::new(
        "rate",
        spec.rate,
        format!("a frame would have {frame:.0} bytes on average; 100 B to 100 MB are possible"),
        "write a rate such as 4 Mb/s, or other `fps`",
    ))
}
