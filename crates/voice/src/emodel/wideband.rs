//! The wideband E-model (50 to 7000 Hz), ITU-T G.107.1 (06/2019) with
//! Corrigendum 1 (01/2020). Numbers of equations are the Recommendation's.
//!
//! The scale reaches from 0 to 129: by so much more than the 100 of the narrow
//! band listeners like wideband speech (G.107 Appendix II). Of the parameters of the
//! narrow-band model only those of echo, delay and advantage have a place in it.
//!
//! Deviations: talker echo is judged against Ro,WB = 129. The text of 06/2019 has a
//! noise sum there that it leaves for further study; with that of G.107 at G.107.1's
//! defaults the impairment would be smaller by up to 0.7 at the default echo loss.
//! Bursts of losses, which (7-15) does not know, count as in G.107 (7-29). The
//! parameters of the sensitivity to delay (G.107 Table 1) are at their defaults what
//! (7-14) has as constants.

use spillgate_core::math::exp;

use super::{Connection, EModel, Rating, log10};

/// Ro,WB: the rating of a perfect wideband call (7-2).
const RO: f64 = 129.0;
/// What absolute delay costs here for each point that it costs narrow-band users (7-13).
const DELAY: f64 = 1.29;

impl EModel {
    /// The rating of a call with a wideband codec.
    pub(super) fn rate_wideband(&self, c: &Connection) -> Rating {
        let idte = self.wideband_talker_echo(c.delay_ms);
        let idle = self.listener_echo(RO, c.round_trip_ms);
        let idd = DELAY * self.absolute_delay(c.delay_ms);
        let ie_eff = c.equipment();
        // (7-1), with Is,WB = 0 (7-3).
        let r = RO - (idte + idle + idd) - ie_eff + self.advantage;
        Rating {
            ro: RO,
            is: 0.0,
            idte,
            idle,
            idd,
            ie_eff,
            r: r.clamp(0.0, RO),
        }
    }

    /// Idte,WB: (7-5) to (7-10).
    fn wideband_talker_echo(&self, delay_ms: f64) -> f64 {
        let t = delay_ms;
        let k = if t < 100.0 { 0.08 * t + 10.0 } else { 18.0 };
        let terv = self.telr + k - 40.0 * log10((1.0 + t / 10.0) / (1.0 + t / 150.0))
            + 6.0 * exp(-0.3 * t * t);
        let re = 80.0 + 3.0 * (terv - 14.0);
        let half = (RO - re) / 2.0;
        (half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - exp(-t))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scale, mos};
    use super::*;

    fn call(delay_ms: f64, ie: f64) -> Connection {
        Connection {
            scale: Scale::Wideband,
            delay_ms,
            round_trip_ms: 2.0 * delay_ms,
            ie,
            bpl: 4.3,
            burst_ratio: 1.0,
            ..Connection::default()
        }
    }

    #[test]
    fn a_perfect_call_is_at_the_top_of_the_scale() {
        // What is left of listener echo at WEPL 110, and nothing else: 0.153685 in another
        // implementation of G.107.1 (github.com/bgrewell/loom, its tests).
        let rated = EModel::default().rate(&call(0.0, 0.0));
        assert!((rated.idle - 0.153_685).abs() < 1e-6, "{}", rated.idle);
        assert!((rated.r - 128.846_315).abs() < 1e-6, "{}", rated.r);
        assert!((Scale::Wideband.mos(rated.r) - 4.499_152).abs() < 1e-6);
        assert_eq!((rated.idd, rated.is), (0.0, 0.0));
    }

    #[test]
    fn parts_are_those_of_other_implementations() {
        // Delay in ms, Idle, Idd of the same implementation, to six digits.
        for (delay, idle, idd) in [
            (50.0, 0.652_075, 0.0),
            (150.0, 1.012_266, 0.210_955),
            (200.0, f64::NAN, 3.927_294),
        ] {
            let rated = EModel::default().rate(&call(delay, 0.0));
            assert!(idle.is_nan() || (rated.idle - idle).abs() < 1e-6);
            assert!((rated.idd - idd).abs() < 1e-6, "{}", rated.idd);
        }
        // Talker echo by hand: TELR 40, T 100: K 18, TERV 40 + 18 - 40 lg 6.6 = 25.218,
        // Re 113.655, half (129 - 113.655) / 2 = 7.672, and 7.672 + 12.604 - 1 = 19.277.
        let echoing = EModel {
            telr: 40.0,
            ..EModel::default()
        };
        let idte = echoing.rate(&call(100.0, 0.0)).idte;
        assert!((idte - 19.277).abs() < 1e-3, "{idte}");
        // With the default echo loss the noise that the older text has in place of Ro,WB
        // (-68.8 dBm0p, so 106.2) gives 0.355 at 150 ms, ours less than 0.7 more.
        let idte = EModel::default().rate(&call(150.0, 0.0)).idte;
        assert!((0.355..0.355 + 0.7).contains(&idte), "{idte}");
    }

    #[test]
    fn scores_are_those_of_annex_a() {
        // the score of R / 1.29 on the narrow-band scale.
        for (r, want) in [
            (64.5, 2.575),
            (73.0, 2.9220),
            (88.0, 3.5123),
            (116.0, 4.3371),
            (121.0, 4.4206),
            (129.0, 4.5),
        ] {
            let got = Scale::Wideband.mos(r);
            assert!((got - want).abs() < 5e-5, "R {r}: {got}");
            assert_eq!(got, mos(r / 1.29));
        }
        assert_eq!(Scale::Wideband.mos(-1.0), 1.0);
        assert_eq!(Scale::Wideband.mos(150.0), 4.5);
    }

    #[test]
    fn loss_counts_as_in_the_narrow_band() {
        // 95 stays 95: 20 + 75 * 2 / (2 + 4.3).
        let lossy = Connection {
            loss: 0.02,
            ..call(0.0, 20.0)
        };
        let ie_eff = EModel::default().rate(&lossy).ie_eff;
        assert!((ie_eff - 43.809_523_8).abs() < 1e-6, "{ie_eff}");
    }
}
