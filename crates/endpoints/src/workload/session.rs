//! What a session transfers: one file, requests and responses in turn, or all it can in its time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Rng};

use super::size::TransferSize;
use spillgate_core::Problem;

/// A session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionSpec {
    /// One transfer from sender to receiver.
    Transfer(TransferSpec),
    /// Requests one way, each answered by a response the other way, then a pause.
    RequestResponse(RequestResponseSpec),
    /// From sender to receiver as much as the network lets through while the session lives.
    Lifetime(LifetimeSpec),
}

/// One transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransferSpec {
    /// Bytes.
    pub size: TransferSize,
}

/// A dialogue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestResponseSpec {
    /// Bytes of a request.
    pub request: TransferSize,
    /// Bytes of a response.
    pub response: TransferSize,
    /// Mean pause between a response and the next request, exponential. Default 0 s.
    #[serde(default)]
    pub think: Dur,
    /// How many requests a session has, 1 to 1000000. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub requests: u32,
}

/// A session that ends when its time is over, whatever it has transferred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LifetimeSpec {
    /// Mean lifetime, above 0.
    pub mean: Dur,
    /// How lifetimes are distributed.
    #[serde(default)]
    pub distribution: LifetimeDistribution,
    /// With `uniform`, and only there: how far lifetimes are from the mean at most, above 0 and up
    /// to the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Dur>,
}

/// Distribution of lifetimes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LifetimeDistribution {
    /// Exponential.
    #[default]
    Exponential,
    /// All alike.
    Fixed,
    /// Between `mean` − `spread` and `mean` + `spread`.
    Uniform,
}

fn one() -> u32 {
    1
}

impl LifetimeSpec {
    fn check_spread(&self) -> Result<(), Problem> {
        let uniform = self.distribution == LifetimeDistribution::Uniform;
        let (problem, hint) = match (uniform, self.spread) {
            (true, None | Some(Dur::ZERO)) => {
                ("all lifetimes would be alike", "write a time such as 5 s")
            }
            (true, Some(spread)) if spread > self.mean => {
                ("some lifetimes would be negative", "write at most the mean")
            }
            (false, Some(_)) => (
                "only uniform lifetimes have one",
                "write `distribution: uniform`",
            ),
            _ => return Ok(()),
        };
        let found = self.spread.unwrap_or_default();
        Err(Problem::new("lifetime.spread", found, problem, hint))
    }
}

/// One step of a session: bytes one way, then bytes the other way, then a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Bytes from the session's initiator; [`u64::MAX`]: without end.
    pub request: u64,
    /// Bytes back once the request has arrived; 0: none.
    pub response: u64,
    /// Pause after the response arrived, before the next exchange.
    pub think: Dur,
}

impl SessionSpec {
    /// Checks sizes and counts.
    ///
    /// # Errors
    /// The first value out of range, with its path below the session.
    pub fn check(&self) -> Result<(), Problem> {
        match self {
            Self::Transfer(t) => t.size.check().map_err(|p| p.under("transfer.size")),
            Self::RequestResponse(r) => {
                let under = |p: Problem, key| p.under(key).under("request-response");
                r.request.check().map_err(|p| under(p, "request"))?;
                r.response.check().map_err(|p| under(p, "response"))?;
                if !(1..=1_000_000).contains(&r.requests) {
                    return Err(Problem::new(
                        "request-response.requests",
                        r.requests,
                        "a session has 1 to 1000000 requests",
                        "write a number such as 10",
                    ));
                }
                Ok(())
            }
            Self::Lifetime(l) if l.mean.is_zero() => Err(Problem::new(
                "lifetime.mean",
                l.mean,
                "no session would live",
                "write a time such as 10 s",
            )),
            Self::Lifetime(l) => l.check_spread(),
        }
    }

    /// The exchanges of one session, drawn as they are asked for.
    pub fn plan<'a>(&'a self, rng: &'a mut Rng) -> impl Iterator<Item = Exchange> + 'a {
        (0..self.exchanges()).map(|_| self.exchange(rng))
    }

    /// How many exchanges a session has.
    pub fn exchanges(&self) -> u32 {
        match self {
            Self::Transfer(_) | Self::Lifetime(_) => 1,
            Self::RequestResponse(r) => r.requests,
        }
    }

    /// How long a session lives at most; none unless that is what ends it.
    pub fn lifetime(&self, rng: &mut Rng) -> Option<Dur> {
        let Self::Lifetime(l) = self else {
            return None;
        };
        Some(match l.distribution {
            LifetimeDistribution::Exponential => {
                Dur::from_secs_f64(rng.exponential(l.mean.as_secs_f64()))
            }
            LifetimeDistribution::Fixed => l.mean,
            LifetimeDistribution::Uniform => {
                let spread = l.spread.unwrap_or_default();
                let width = 2.0 * spread.as_secs_f64();
                l.mean - spread + Dur::from_secs_f64(rng.uniform(0.0, width))
            }
        })
    }

    /// One exchange.
    pub fn exchange(&self, rng: &mut Rng) -> Exchange {
        match self {
            Self::Transfer(t) => Exchange {
                request: t.size.draw(rng),
                response: 0,
                think: Dur::ZERO,
            },
            Self::RequestResponse(r) => Exchange {
                request: r.request.draw(rng),
                response: r.response.draw(rng),
                think: Dur::from_secs_f64(rng.exponential(r.think.as_secs_f64())),
            },
            Self::Lifetime(_) => Exchange {
                request: u64::MAX,
                response: 0,
                think: Dur::ZERO,
            },
        }
    }
}
