//! The E-model: a call's rating from its parameters.
//!
//! Source: ITU-T G.107 (06/2015), narrow band. The rating is what is left of a
//! signal-to-noise ratio after impairments that add up on a psychological
//! scale: `R = Ro - Is - Id - Ie,eff + A` (7-1). Names and numbers of equations
//! are the Recommendation's. R of 93.2 is a perfect call with default
//! parameters; below 50 nearly all users are dissatisfied.
//!
//! Deviations: R is kept within 0..=100, where the map to MOS is defined; the
//! map is kept within 1..=4.5 (its cubic falls slightly below 1 for R < 6.5).
//!
//! Calls with wideband codecs are rated on a longer scale: `wideband`.
//!
//! Cost: some fifty transcendental functions, once for a call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::math::{exp, ln, pow};

/// One line per parameter: name, default, permitted range, meaning.
macro_rules! parameters {
    ($($name:ident = $default:literal in $low:literal ..= $high:literal, $doc:literal;)+) => {
        /// Parameters of the E-model that do not come from the network, with the defaults and
        /// permitted ranges of ITU-T G.107 (06/2015) Table 2.
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct EModel {
            $(
                #[doc = $doc]
                #[schemars(range(min = $low, max = $high))]
                pub $name: f64,
            )+
        }

        impl Default for EModel {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl EModel {
            /// Name, value, and permitted range of every parameter.
            pub fn parameters(&self) -> impl Iterator<Item = (&'static str, f64, f64, f64)> {
                [$((stringify!($name), self.$name, $low as f64, $high as f64),)+].into_iter()
            }
        }
    };
}

parameters! {
    slr = 8.0 in 0.0..=18.0, "Send loudness rating, dB. Default 8, range 0 to 18.";
    rlr = 2.0 in -5.0..=14.0, "Receive loudness rating, dB. Default 2, range -5 to 14.";
    stmr = 15.0 in 10.0..=20.0, "Sidetone masking rating, dB. Default 15, range 10 to 20.";
    lstr = 18.0 in 13.0..=23.0, "Listener sidetone rating, dB. Default 18, range 13 to 23.";
    ds = 3.0 in -3.0..=3.0, "D-value of the telephone on the sending side. Default 3, range -3 to 3.";
    telr = 65.0 in 5.0..=65.0, "Talker echo loudness rating, dB: how well echo is canceled. Default 65, range 5 to 65.";
    wepl = 110.0 in 5.0..=110.0, "Weighted echo path loss, dB. Default 110, range 5 to 110.";
    qdu = 1.0 in 1.0..=14.0, "Quantizing distortion units. Default 1, range 1 to 14.";
    nc = -70.0 in -80.0..=-40.0, "Circuit noise referred to the 0 dBr point, dBm0p. Default -70, range -80 to -40.";
    nfor = -64.0 in -80.0..=-40.0, "Noise floor at the receiving side, dBmp. Default -64.";
    ps = 35.0 in 35.0..=85.0, "Room noise at the sending side, dB(A). Default 35, range 35 to 85.";
    pr = 35.0 in 35.0..=85.0, "Room noise at the receiving side, dB(A). Default 35, range 35 to 85.";
    advantage = 0.0 in 0.0..=20.0, "Advantage factor A: what users forgive for access that they otherwise would not have. Default 0, range 0 to 20.";
    delay_sensitivity = 1.0 in 0.4..=1.0, "Sensitivity to delay sT: 1 by default, 0.55 low, 0.4 very low.";
    delay_threshold = 100.0 in 100.0..=150.0, "Delay in ms up to which nobody is disturbed, mT: 100 by default, 120 at low, 150 at very low sensitivity.";
}

/// The scale on which a call is rated. Ratings and scores on different scales do not compare: a
/// MOS of 4.4 is the best that the telephone can do on the one, and a fair call on the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// ITU-T G.107: speech of 300 to 3400 Hz, R from 0 to 100, of which 93.2 is a perfect call.
    #[default]
    Narrowband,
    /// ITU-T G.107.1: speech of 50 to 7000 Hz, R from 0 to 129. A narrow-band codec loses 35.8
    /// points for the band that it leaves out.
    Wideband,
}

impl Scale {
    /// The highest rating.
    pub fn top(self) -> f64 {
        match self {
            Self::Narrowband => 100.0,
            Self::Wideband => 129.0,
        }
    }

    /// The mean opinion score of a conversation with rating `r`, 1 to 4.5: MOS-CQE of G.107
    /// Annex B, or MOS-CQEW of G.107.1 Annex A.
    pub fn mos(self, r: f64) -> f64 {
        match self {
            Self::Narrowband => mos(r),
            //
            Self::Wideband => mos(r / 1.29),
        }
    }
}

/// What codec and network do to a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Connection {
    /// The scale of `ie` and of the rating.
    pub scale: Scale,
    /// Mean one-way delay from mouth to ear, in ms: T of the echo path and Ta.
    pub delay_ms: f64,
    /// Delay of the round trip, in ms: Tr.
    pub round_trip_ms: f64,
    /// Equipment impairment factor of the codec without loss, 0 to 95: Ie, or Ie,WB.
    pub ie: f64,
    /// Packet-loss robustness of the codec, above 0: Bpl, or Bpl,WB.
    pub bpl: f64,
    /// Share of the packets that are missing, 0 to 1: Ppl / 100.
    pub loss: f64,
    /// Mean length of bursts of missing packets over what independent losses would give: BurstR.
    pub burst_ratio: f64,
}

/// The rating with its parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// Basic signal-to-noise ratio, Ro.
    pub ro: f64,
    /// Simultaneous impairment, Is.
    pub is: f64,
    /// Impairment by talker echo, Idte.
    pub idte: f64,
    /// Impairment by listener echo, Idle.
    pub idle: f64,
    /// Impairment by absolute delay, Idd.
    pub idd: f64,
    /// Impairment by codec and packet loss, Ie,eff.
    pub ie_eff: f64,
    /// The rating R, from 0 to the [top](Scale::top) of its scale.
    pub r: f64,
}

impl Connection {
    /// Ie,eff: (7-29) of G.107, (7-15) of G.107.1.
    fn equipment(&self) -> f64 {
        let ppl = 100.0 * self.loss;
        self.ie + (95.0 - self.ie) * ppl / (ppl / self.burst_ratio + self.bpl)
    }
}

/// The parameters that the wideband model knows.
const WIDEBAND: [&str; 5] = [
    "telr",
    "wepl",
    "advantage",
    "delay_sensitivity",
    "delay_threshold",
];

impl EModel {
    /// The first parameter that is not at its default, although the ratings of `scale` do not
    /// depend on it.
    pub fn without_effect(&self, scale: Scale) -> Option<&'static str> {
        let default = Self::default();
        self.parameters()
            .zip(default.parameters())
            .find(|(own, of)| {
                scale == Scale::Wideband && !WIDEBAND.contains(&own.0) && own.1 != of.1
            })
            .map(|(own, _)| own.0)
    }

    /// The rating of a call.
    pub fn rate(&self, c: &Connection) -> Rating {
        match c.scale {
            Scale::Narrowband => self.rate_narrowband(c),
            Scale::Wideband => self.rate_wideband(c),
        }
    }

    fn rate_narrowband(&self, c: &Connection) -> Rating {
        let no = self.noise();
        // (7-2)
        let ro = 15.0 - 1.5 * (self.slr + no);
        let ist = self.sidetone(c.delay_ms);
        let is = self.loudness(no) + ist + self.quantizing(ro);
        let idte = self.talker_echo(no, ist, c.delay_ms);
        let idle = self.listener_echo(ro, c.round_trip_ms);
        let idd = self.absolute_delay(c.delay_ms);
        let ie_eff = c.equipment();
        let r = ro - is - (idte + idle + idd) - ie_eff + self.advantage;
        Rating {
            ro,
            is,
            idte,
            idle,
            idd,
            ie_eff,
            r: r.clamp(0.0, 100.0),
        }
    }

    /// Sum of all noise sources at the 0 dBr point in dBm0p, No: (7-3) to (7-7).
    fn noise(&self) -> f64 {
        let olr = self.slr + self.rlr;
        let sending = self.ps - olr - self.ds - 14.0;
        let nos = self.ps - self.slr - self.ds - 100.0 + 0.004 * sending * sending;
        let pre = self.pr + 10.0 * log10(1.0 + pow10((10.0 - self.lstr) / 10.0));
        let nor = self.rlr - 121.0 + pre + 0.008 * (pre - 35.0) * (pre - 35.0);
        let nfo = self.nfor + self.rlr;
        let power: f64 = [self.nc, nos, nor, nfo]
            .map(|n| pow10(n / 10.0))
            .iter()
            .sum();
        10.0 * log10(power)
    }

    /// Impairment by too low an overall loudness rating, Iolr: (7-9), (7-10).
    fn loudness(&self, no: f64) -> f64 {
        let x = (self.slr + self.rlr + 0.2 * (64.0 + no - self.rlr)) / 8.0;
        20.0 * (pow(1.0 + pow(x, 8.0), 1.0 / 8.0) - x)
    }

    /// Impairment by sidetone that is not optimal, Ist: (7-11), (7-12).
    fn sidetone(&self, delay_ms: f64) -> f64 {
        let echo = exp(-delay_ms / 4.0) * pow10(-self.telr / 10.0);
        let stmr = -10.0 * log10(pow10(-self.stmr / 10.0) + echo);
        let norm = |x: f64, n: f64| pow(1.0 + pow(x, n), 1.0 / n);
        12.0 * norm((stmr - 13.0) / 6.0, 8.0)
            - 28.0 * norm((stmr + 1.0) / 19.4, 35.0)
            - 13.0 * norm((stmr - 3.0) / 33.0, 13.0)
            + 29.0
    }

    /// Impairment by quantizing distortion, Iq: (7-13) to (7-17).
    fn quantizing(&self, ro: f64) -> f64 {
        let q = 37.0 - 15.0 * log10(self.qdu);
        let g = 1.07 + 0.258 * q + 0.0602 * q * q;
        let y = (ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
        let z = 46.0 / 30.0 - g / 40.0;
        15.0 * log10(1.0 + pow10(y) + pow10(z))
    }

    /// Impairment by talker echo, Idte: (7-19) to (7-24).
    fn talker_echo(&self, no: f64, ist: f64, delay_ms: f64) -> f64 {
        let t = delay_ms;
        let mut terv = self.telr - 40.0 * log10((1.0 + t / 10.0) / (1.0 + t / 150.0))
            + 6.0 * exp(-0.3 * t * t);
        if self.stmr < 9.0 {
            terv += ist / 2.0;
        }
        let re = 80.0 + 2.5 * (terv - 14.0);
        let roe = -1.5 * (no - self.rlr);
        let half = (roe - re) / 2.0;
        let idte = if t < 1.0 {
            0.0
        } else {
            (half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - exp(-t))
        };
        if self.stmr > 20.0 {
            (idte * idte + ist * ist).sqrt()
        } else {
            idte
        }
    }

    /// Impairment by listener echo, Idle: (7-25), (7-26).
    fn listener_echo(&self, ro: f64, round_trip_ms: f64) -> f64 {
        let rle = 10.5 * (self.wepl + 7.0) * pow(round_trip_ms + 1.0, -0.25);
        let half = (ro - rle) / 2.0;
        half + (half * half + 169.0).sqrt()
    }

    /// Impairment by too long a delay even without echo, Idd: (7-27), (7-28).
    fn absolute_delay(&self, delay_ms: f64) -> f64 {
        if delay_ms <= self.delay_threshold {
            return 0.0;
        }
        let x = ln(delay_ms / self.delay_threshold) / std::f64::consts::LN_2;
        let n = 6.0 * self.delay_sensitivity;
        let norm = |x: f64| pow(1.0 + pow(x, n), 1.0 / n);
        25.0 * (norm(x) - 3.0 * norm(x / 3.0) + 2.0)
    }
}

/// The mean opinion score of a conversation with rating `r`, 1 to 4.5 (MOS-CQE; G.107 Annex B,
/// B-4).
pub fn mos(r: f64) -> f64 {
    let r = r.clamp(0.0, 100.0);
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).clamp(1.0, 4.5)
}

fn pow10(x: f64) -> f64 {
    pow(10.0, x)
}

fn log10(x: f64) -> f64 {
    ln(x) / std::f64::consts::LN_10
}

mod wideband;

#[cfg(test)]
mod tests;
