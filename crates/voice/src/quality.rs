//! From what a listener heard to a rating.

use spillgate_core::Dur;

use crate::{Buffer, Connection, EModel, Heard, Listener, Scale};

/// What the rest of the way does, which is not simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beyond {
    /// Its delay.
    pub delay: Dur,
    /// Share of the packets that it loses, at random, 0 to 1.
    pub loss: f64,
}

/// Everything about a call that does not come from the simulated network.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What its codec is called.
    pub codec: String,
    /// The scale on which it is rated.
    pub scale: Scale,
    /// Equipment impairment factor, Ie.
    pub ie: f64,
    /// Packet-loss robustness factor, Bpl.
    pub bpl: f64,
    /// Length of a frame.
    pub frame: Dur,
    /// What the coder must hear beyond the frame.
    pub look_ahead: Dur,
    /// Speech in a packet.
    pub packetization: Dur,
    /// The receiver's buffer.
    pub buffer: Buffer,
    /// The rest of the way.
    pub beyond: Beyond,
    /// The other parameters of the E-model.
    pub model: EModel,
}

/// How good a call is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Rating R, from 0 to the top of the scale: 100 or 129.
    pub r: f64,
    /// Mean opinion score, 1 to 4.5.
    pub mos: f64,
    /// Mean delay from mouth to ear in seconds.
    pub mouth_to_ear: f64,
    /// Share of the packets that came too late.
    pub late: f64,
    /// Burst ratio of the missing packets.
    pub burst_ratio: f64,
}

impl Profile {
    /// Delay of the coder: N frames of a packet and one to process them, and the look-ahead
    /// (ITU-T G.114 Annex A.2.4).
    pub fn codec_delay(&self) -> Dur {
        self.packetization + self.frame + self.look_ahead
    }

    /// Somebody who listens to this call.
    pub fn listener(&self) -> Listener {
        Listener::new(self.buffer, self.packetization)
    }

    /// The quality of a call of which this was heard; none of a call without packets.
    ///
    /// Both ways are taken to be alike: the round trip is twice the delay from mouth to ear. Of
    /// a call of which nothing was heard the playout delay is unknown; the buffer's room stands
    /// for it.
    pub fn assess(&self, heard: &Heard) -> Option<Quality> {
        if heard.packets == 0 {
            return None;
        }
        let room = match self.buffer {
            Buffer::Fixed(room) => room,
            Buffer::Adaptive { initial, .. } => initial,
        };
        let playout = heard.playout.unwrap_or_else(|| room.as_secs_f64());
        let mouth_to_ear =
            self.codec_delay().as_secs_f64() + playout + self.beyond.delay.as_secs_f64();
        let loss = 1.0 - (1.0 - heard.loss()) * (1.0 - self.beyond.loss);
        let rating = self.model.rate(&Connection {
            scale: self.scale,
            delay_ms: 1e3 * mouth_to_ear,
            round_trip_ms: 2e3 * mouth_to_ear,
            ie: self.ie,
            bpl: self.bpl,
            loss,
            burst_ratio: heard.burst_ratio(),
        });
        // Nothing was heard: no model is needed.
        let r = if heard.missing == heard.packets {
            0.0
        } else {
            rating.r
        };
        Some(Quality {
            r,
            mos: self.scale.mos(r),
            mouth_to_ear,
            late: heard.late as f64 / heard.packets as f64,
            burst_ratio: heard.burst_ratio(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::VoiceSpec;

    fn heard(packets: u64, missing: u64, playout: Option<f64>) -> Heard {
        Heard {
            packets,
            missing,
            late: 0,
            bursts: missing,
            playout,
        }
    }

    fn profile(codec: &str) -> Profile {
        let spec = VoiceSpec {
            codec: Some(codec.to_owned()),
            ..VoiceSpec::default()
        };
        spec.profile(None).unwrap()
    }

    #[test]
    fn coders_have_the_delays_of_g114() {
        // (N + 1) frames and the look-ahead: 20.125, 2 * 10 + 10 + 5, 30 + 30 + 7.5 ms.
        for (codec, us) in [("g711", 20_125), ("g729", 35_000), ("g723.1", 67_500)] {
            assert_eq!(profile(codec).codec_delay(), Dur::from_us(us), "{codec}");
        }
    }

    #[test]
    fn delay_and_loss_of_the_rest_of_the_way_add_up() {
        let near = profile("g711").assess(&heard(1000, 0, Some(0.08))).unwrap();
        assert!((near.mouth_to_ear - 0.100_125).abs() < 1e-12);
        let mut far = profile("g711");
        far.beyond = Beyond {
            delay: Dur::from_ms(100),
            loss: 0.01,
        };
        let far = far.assess(&heard(1000, 0, Some(0.08))).unwrap();
        assert!((far.mouth_to_ear - 0.200_125).abs() < 1e-12);
        // 1 % at Bpl 25.1 is 95 / 26.1 = 3.64; Id from 100 to 200 ms by the model is near 5.
        let lost = 95.0 / 26.1;
        assert!(near.r - far.r > lost + 3.0 && near.r - far.r < lost + 7.0);
        assert!(far.mos < near.mos);
    }

    #[test]
    fn calls_of_which_nothing_is_heard() {
        let silent = profile("g711").assess(&heard(100, 100, None)).unwrap();
        assert_eq!((silent.r, silent.mos), (0.0, 1.0));
        assert_eq!(profile("g711").assess(&heard(0, 0, None)), None);
    }
}
