//! Random loss and reordering on a link.
//!
//! Loss is drawn packet by packet as they are sent, from a stream of random numbers for each link,
//! so it does not depend on the queue in front of the link. Cost: O(1) for each packet.

use spillgate_core::{Dur, Rng};
use spillgate_scenario::plan::LinkPlan;
use spillgate_scenario::schema::{GilbertElliottSpec, LossSpec, ReorderSpec};

/// A link that loses or reorders packets at random.
pub(crate) struct Channel {
    loss: Option<(LossProcess, Rng)>,
    reorder: Option<(ReorderSpec, Rng)>,
}

enum LossProcess {
    Bernoulli(f64),
    GilbertElliott {
        model: GilbertElliottSpec,
        bad: bool,
    },
}

/// The fate of a packet on the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carried {
    /// It is lost.
    Lost,
    /// It arrives this much later than after the propagation delay.
    Late(Dur),
}

impl Channel {
    /// The channel of a link; none if the link neither loses nor reorders packets.
    pub(crate) fn new(plan: &LinkPlan, seed: u64, run: u32) -> Option<Self> {
        let path = format!("links/{}", plan.name);
        let loss = plan.loss.as_ref().map(|spec| {
            let mut rng = Rng::named(seed, run, &path, "loss");
            let loss = match spec {
                LossSpec::Bernoulli(p) => LossProcess::Bernoulli(p.0),
                LossSpec::GilbertElliott(model) => {
                    // The first state is drawn from the stationary distribution.
                    let bad = model.to_bad.0 / (model.to_bad.0 + model.to_good.0);
                    LossProcess::GilbertElliott {
                        model: model.clone(),
                        bad: rng.chance(bad),
                    }
                }
            };
            (loss, rng)
        });
        let reorder = plan.reorder.clone();
        let reorder = reorder.map(|spec| (spec, Rng::named(seed, run, &path, "reorder")));
        (loss.is_some() || reorder.is_some()).then_some(Self { loss, reorder })
    }

    /// The fate of the next packet.
    pub(crate) fn carry(&mut self) -> Carried {
        let lost = self.loss.as_mut().is_some_and(|(loss, rng)| loss.draw(rng));
        let late = self.reorder.as_mut().map_or(Dur::ZERO, |(spec, rng)| {
            let is_late = rng.chance(spec.share.0);
            if is_late { spec.by } else { Dur::ZERO }
        });
        if lost {
            Carried::Lost
        } else {
            Carried::Late(late)
        }
    }
}

impl LossProcess {
    /// Whether the next packet is lost.
    fn draw(&mut self, rng: &mut Rng) -> bool {
        match self {
            Self::Bernoulli(p) => rng.chance(*p),
            Self::GilbertElliott { model, bad } => {
                let change = if *bad { model.to_good } else { model.to_bad };
                *bad ^= rng.chance(change.0);
                let p = if *bad { model.bad } else { model.good };
                rng.chance(p.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::Percent;

    /// The number of losses among this many packets, and the number of bursts of losses.
    fn lose(mut loss: LossProcess, packets: u32) -> (u32, u32) {
        let (mut rng, mut before) = (Rng::named(3, 0, "links/l", "loss"), false);
        let (mut lost, mut bursts) = (0, 0);
        for _ in 0..packets {
            let now = loss.draw(&mut rng);
            lost += u32::from(now);
            bursts += u32::from(now && !before);
            before = now;
        }
        (lost, bursts)
    }

    #[test]
    fn loss_is_as_frequent_as_it_is_said_to_be() {
        // Four standard deviations of the binomial distribution: 4 x sqrt(1e6 x 0.02 x 0.98).
        let (lost, _) = lose(LossProcess::Bernoulli(0.02), 1_000_000);
        assert!((f64::from(lost) - 20_000.0).abs() < 560.0, "{lost}");
    }

    #[test]
    fn bursts_are_as_long_as_the_bad_state_lasts() {
        let model = GilbertElliottSpec {
            to_bad: Percent(0.01),
            to_good: Percent(0.25),
            good: Percent(0.0),
            bad: Percent(1.0),
        };
        let loss = LossProcess::GilbertElliott { model, bad: false };
        let (lost, bursts) = lose(loss, 1_000_000);
        // A share of 1/26 in bursts of 4. There are 9,600 bursts, and a burst has a standard
        // deviation of sqrt(0.75) / 0.25 = 3.5: four standard errors of both means are below 6 %.
        assert!((f64::from(lost) / 1e6 * 26.0 - 1.0).abs() < 0.06, "{lost}");
        let mean = f64::from(lost) / f64::from(bursts);
        assert!((mean / 4.0 - 1.0).abs() < 0.06, "{mean}");
    }
}
