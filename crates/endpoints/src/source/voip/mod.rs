//! Packets of a telephone call, one direction.
//!
//! Packet k holds the speech of one packet time `T`, so packets lie on a grid
//! of step `T`. Without silence suppression each is sent. With it, talk spurts
//! and pauses have exponential lengths with means `t` and `p` (P. T. Brady, A
//! model for generating on-off speech patterns in two-way conversation, BSTJ
//! 48, 1969, has them so but for short ones), and what is seen of such a process at
//! the grid is a Markov chain: from talk to pause with probability
//! `a = p/(t+p) (1 - e^(-T(1/t+1/p)))`, back with `b = a t/p`. Spurts and pauses
//! are geometric numbers of packets, one draw each, and of all packets a share
//! of exactly `t / (t+p)` is talk, whatever `T` is.
//!
//! A pause begins with a packet of comfort noise in the first place without
//! speech, and has one every `m` places after it if the codec repeats them: a
//! share of `t/(t+p) a / (1 - (1-b)^m)` of all places. A call begins at an arbitrary instant
//! of this stationary process.
mod spec;

use spillgate_core::{Dur, Rng, Time, math};

use super::arrivals::periodic;
use super::cbr::{later, shifted};
use super::{Emission, Envelope, Model, Occupied};
pub use spec::{Headers, VadModel, VadSpec, VoipSpec};
use spec::{check_rate, check_sizes, check_time, most_opus};
use spillgate_core::Problem;
use spillgate_core::curve::{Curve, NoBound};

/// Silence suppression in packet times.
#[derive(Clone, Copy, Debug)]
struct Chances {
    /// Share of talk.
    activity: f64,
    /// That the packet after one of talk is of a pause.
    to_pause: f64,
    /// That the packet after one of a pause is of talk.
    to_talk: f64,
    /// Packet of comfort noise in bytes.
    sid: Option<u16>,
    /// Repeated after so many packet times.
    every: Option<u64>,
}

/// Sizes of Opus packets at a variable rate.
#[derive(Clone, Debug)]
struct Variable {
    /// Mean payload in bytes.
    mean: f64,
    cv: f64,
    /// Largest payload.
    most: f64,
    /// What rounding and the largest size have left over: the mean is kept.
    owed: f64,
    /// Headers and extra.
    around: u16,
}

impl Variable {
    fn draw(&mut self, rng: &mut Rng) -> u16 {
        self.owed += self.mean * rng.lognormal(self.cv);
        // An Opus packet has at least its byte of contents (RFC 6716 section 3.1).
        let whole = self.owed.clamp(1.0, self.most).floor();
        self.owed -= whole;
        self.around.saturating_add(whole as u16)
    }
}

#[derive(Clone, Copy, Debug)]
enum Speech {
    /// Packets left of the spurt.
    Talk(u64),
    /// Packet times left of the pause, and those until the next comfort noise.
    Pause { left: u64, noise_in: u64 },
    /// To be drawn.
    Begin,
}

#[derive(Clone, Debug)]
pub(super) struct Voip {
    /// Place of the next packet; none once time is exhausted.
    place: Option<Time>,
    start: Time,
    time: Dur,
    /// Over which the first packet's place is still to be drawn.
    phase: Option<Dur>,
    /// Share of the packet time in units of 2^-32, at most one half.
    jitter: u32,
    speech_len: u16,
    speech: Speech,
    vad: Option<Box<Chances>>,
    sizes: Option<Box<Variable>>,
}

/// A geometric number of trials up to and including the first success of chance `p`.
fn trials(p: f64, rng: &mut Rng) -> u64 {
    let u = rng.f64();
    if p >= 1.0 {
        return 1;
    }
    // ln(1-u) / ln(1-p); what exceeds the type saturates.
    ((math::ln(1.0 - u) / math::ln(1.0 - p)) as u64).saturating_add(1)
}

impl Voip {
    /// Moves over `n` places.
    fn skip(&mut self, n: u64) {
        let over = n.checked_mul(self.time.as_ps()).map(Dur::from_ps);
        self.place = self.place.and_then(|p| later(p, over?));
    }

    /// Moves to the next place with a packet and says how long it is; none once time is exhausted.
    fn walk(&mut self, rng: &mut Rng) -> Option<u16> {
        let Some(c) = self.vad.as_deref().copied() else {
            return Some(self.speech(rng));
        };
        loop {
            self.place?;
            match &mut self.speech {
                Speech::Begin => {
                    self.speech = if rng.chance(c.activity) {
                        Speech::Talk(trials(c.to_pause, rng))
                    } else {
                        // The pause has lasted for `age` places.
                        let age = trials(c.to_talk, rng) - 1;
                        let noise_in = match c.every {
                            Some(m) => (m - age % m) % m,
                            None if age == 0 => 0,
                            None => u64::MAX,
                        };
                        let left = trials(c.to_talk, rng);
                        Speech::Pause { left, noise_in }
                    };
                }
                Speech::Talk(0) => {
                    let left = trials(c.to_talk, rng);
                    self.speech = Speech::Pause { left, noise_in: 0 };
                }
                Speech::Talk(left) => {
                    *left -= 1;
                    return Some(self.speech(rng));
                }
                Speech::Pause { left, noise_in } if c.sid.is_some() && *noise_in < *left => {
                    let over = *noise_in;
                    *left -= over + 1;
                    *noise_in = c.every.map_or(u64::MAX, |m| m - 1);
                    self.skip(over);
                    return c.sid;
                }
                Speech::Pause { left, .. } => {
                    let over = *left;
                    self.speech = Speech::Talk(trials(c.to_pause, rng));
                    self.skip(over);
                }
            }
        }
    }

    fn speech(&mut self, rng: &mut Rng) -> u16 {
        match &mut self.sizes {
            Some(sizes) => sizes.draw(rng),
            None => self.speech_len,
        }
    }
}

impl Model for Voip {
    type Spec = VoipSpec;

    fn new(spec: &VoipSpec, start: Time) -> Self {
        let time = spec.packetization().max(Dur::from_ps(1));
        let sizes = spec.vbr.filter(|cv| cv.0 > 0.0).map(|cv| {
            Box::new(Variable {
                mean: f64::from(spec.payload()),
                cv: cv.0.min(1.0),
                most: f64::from(most_opus(time)),
                owed: 0.0,
                around: spec.packet(0),
            })
        });
        Self {
            place: later(start, spec.phase.unwrap_or(Dur::ZERO)),
            start,
            time,
            phase: match spec.phase {
                Some(_) => None,
                None => Some(time),
            },
            jitter: super::cbr::jitter_share(spec.jitter),
            speech_len: spec.speech_packet(),
            speech: Speech::Begin,
            vad: spec.chances().map(Box::new),
            sizes,
        }
    }

    fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
        if let Some(over) = self.phase.take() {
            let first = Dur::from_ps((over.as_ps() as f64 * rng.f64()) as u64);
            self.place = later(self.start, first);
        }
        let len = self.walk(rng)?;
        let place = self.place?;
        self.place = later(place, self.time);
        let at = shifted(place, self.time, self.jitter, rng)?.max(self.start);
        Some(Emission { at, len })
    }

    fn mean_rate(spec: &VoipSpec) -> f64 {
        let (speech, noise) = spec.shares();
        let sid = spec.chances().and_then(|c| c.sid).unwrap_or(0);
        let bytes = speech * f64::from(spec.speech_packet()) + noise * f64::from(sid);
        8.0 * bytes / spec.packetization().as_secs_f64().max(1e-12)
    }

    fn envelope(spec: &VoipSpec) -> Envelope {
        let longest = Self::longest(spec);
        let gap = spec.packetization().as_secs_f64().max(1e-12);
        Envelope::even(8.0 * f64::from(longest) / gap, longest)
    }

    fn arrivals(spec: &VoipSpec, occupied: Occupied<'_>) -> Option<Result<Curve, NoBound>> {
        let lengths = Self::shortest(spec)..=Self::longest(spec);
        let longest = lengths.map(occupied).max()?;
        let time = spec.packetization().max(Dur::from_ps(1));
        Some(periodic(
            longest,
            time,
            super::cbr::jitter_share(spec.jitter),
        ))
    }

    fn longest(spec: &VoipSpec) -> u16 {
        match spec.vbr {
            Some(cv) if cv.0 > 0.0 => spec.packet(most_opus(spec.packetization())),
            _ => spec.speech_packet(),
        }
    }

    fn shortest(spec: &VoipSpec) -> u16 {
        match spec.vbr {
            Some(cv) if cv.0 > 0.0 => super::spec::MIN_PACKET,
            _ => {
                let noise = spec.chances().and_then(|c| c.sid);
                let speech = spec.speech_packet();
                noise.map_or(speech, |n| n.min(speech))
            }
        }
    }

    fn check(spec: &VoipSpec) -> Result<(), Problem> {
        check_rate(spec)?;
        check_time(spec)?;
        check_sizes(spec)?;
        super::cbr::check_jitter(spec.jitter)?;
        let Some(vad) = &spec.vad else {
            return Ok(());
        };
        let given = [
            ("vad.talk", vad.talk),
            ("vad.pause", vad.pause),
            ("vad.sid_every", vad.sid_every),
        ];
        for (key, value) in given {
            if let Some(short) = value.filter(|v| *v < Dur::from_ms(1)) {
                return Err(Problem::new(
                    key,
                    short,
                    "it is shorter than 1 ms",
                    "write a length such as 1.2 s, or leave it out",
                ));
            }
        }
        if let Some(sid) = vad.sid.filter(|s| s.0 > 1000) {
            return Err(Problem::new(
                "vad.sid",
                sid,
                "comfort noise has at most 1000 bytes",
                "write a size such as 2 B, or 0 B for no comfort noise",
            ));
        }
        Ok(())
    }
}
