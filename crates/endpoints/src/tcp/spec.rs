//! TCP as a user writes it: a profile, a congestion control, and what differs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Size};

use super::config::{DelayedAck, LossBase, Repair, RtoFloor, TcpConfig};
use super::ecn_spec::{EcnSpec, PeerEcn};
use super::retry::{Attempts, RetrySpec};
use crate::cc::{CcSpec, CubicSpec, NewRenoSpec};
use spillgate_core::Problem;

/// Bundles of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The agents of ns-2.35: no handshake, 1000 B segments, every segment acknowledged, initial
    /// window 2, window + 1/window per acknowledgment, clock of 10 ms, minimum timeout 200 ms.
    /// The window is not limited to ns-2's 20 packets.
    Ns2,
    /// Linux 6.1: CUBIC with HyStart in its arithmetic, windows of whole segments, minimum timeout
    /// 200 ms over SRTT, delayed acknowledgments of 40 ms but for the first 16, SACK, PRR,
    /// RACK-TLP, 6 MiB window. All of it with every `cc`.
    Linux,
    /// The standards track: NewReno, initial window 10 (RFC 6928), minimum timeout 1 s
    /// (RFC 6298), delayed acknowledgments of 200 ms for every second segment.
    #[default]
    Rfc,
}

/// When the receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayedAckSpec {
    /// The longest delay, 0 s to 500 ms (RFC 9293 §3.8.6.3).
    pub timeout: Dur,
    /// An acknowledgment for at least every so many segments, 1 to 64; 1: each at once. Default 2.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 64))]
    pub every: u8,
}

fn two() -> u8 {
    2
}

/// A TCP connection. Every key is optional; what is left out follows the profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TcpSpec {
    /// Bundle of defaults. Default `rfc`.
    pub profile: Profile,
    /// Congestion control. Default: `newreno`, in the `linux` profile `cubic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cc: Option<CcSpec>,
    /// Payload of a full segment, 1 B to 65000 B. Default: what a packet of 1500 B leaves beside
    /// headers and timestamps, in the `ns2` profile 1000 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<Size>,
    /// Initial window in segments, 1 to 1000. Default 10 (RFC 6928), `ns2` 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub initial_window: Option<u32>,
    /// Receive window, from one segment to 1 GiB (RFC 7323 §2.3). Default 6 MiB, `ns2` 64 MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_window: Option<Size>,
    /// Window scaling (RFC 7323 §2); without it the window is at most 65535 B. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// Delayed acknowledgments. Default `{timeout: 200 ms, every: 2}`, `linux` 40 ms, `ns2` none:
    /// `{timeout: 0 s, every: 1}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAckSpec>,
    /// So many acknowledgments are not delayed at the start of a connection, after a silence of
    /// `min_rto` and after duplicates, 0 to 64. Default 0, `linux` 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 64))]
    pub quick_acks: Option<u8>,
    /// Selective acknowledgments and recovery by RFC 6675. Default false with `tahoe` and `reno`,
    /// which have none, and with `newreno`, where true makes "SACK TCP" of it; else true. In the
    /// `linux` profile true with all but `tahoe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Timestamps (RFC 7323). Default true, `ns2` false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Explicit congestion notification. Default off, but on with `dctcp` and `prague`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnSpec>,
    /// What the receiver's host supports of it. With less than the sender asks for the handshake
    /// falls back to that: `prague` to ECT(0) and Reno. Default: what the sender asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer_ecn: Option<PeerEcn>,
    /// Whether acknowledgments with accurate feedback carry the AccECN option, 8 B, beside the
    /// three bits of the header. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_option: Option<bool>,
    /// Smallest retransmission timeout, above 0. Default 1 s (RFC 6298), `linux` and `ns2` 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Dur>,
    /// Granularity of the retransmission clock. Default 1 ms, `linux` 1 us, `ns2` 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_granularity: Option<Dur>,
    /// Timeout before the first measurement, above 0. Default 1 s (RFC 6298 §2.1), `ns2` 3 s,
    /// with `retry: {constant: ...}` that period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Dur>,
    /// Largest retransmission timeout, not below `min_rto` and `initial_rto`. Default 60 s, the
    /// least that RFC 6298 §2.5 allows as a bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Dur>,
    /// How timeouts in a row follow one another, of SYN, SYN-ACK and data: `exponential` or
    /// `{constant: 1 s}`. Default `exponential`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetrySpec>,
    /// Limited transmit (RFC 3042). Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Proportional rate reduction (RFC 6937); needs SACK. Default false, `linux` true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prr: Option<bool>,
    /// RACK-TLP (RFC 8985); needs SACK. Default false, `linux` true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rack_tlp: Option<bool>,
    /// Pacing. Default false, but true with `bbr`, which needs it, and `prague`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// What may leave waits for a random time between 0 s and this, at most 1 s: what a real host's
    /// work does to times of sending, `overhead_` in ns-2. Without it alike connections keep in
    /// step with a tail-drop queue, and some lose always. The time of one packet on the bottleneck
    /// will do. Default 0 s; not with pacing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_jitter: Option<Dur>,
    /// Three-way handshake. Default true, `ns2` false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// Retransmissions of SYN before giving up: at most 30, or `unlimited`. Default 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_retries: Option<Attempts>,
    /// Timeouts in a row for the same data before the connection fails: at most 1000, or
    /// `unlimited`. Default 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<Attempts>,
}

const HIGHEST_MSS: u64 = 65_000;
const LARGEST_WINDOW: u64 = 1 << 30;

impl TcpSpec {
    /// Checks the ranges and combinations and fills in what the profile gives.
    ///
    /// # Errors
    /// The first value out of range or in contradiction to another, by key.
    pub fn resolve(&self) -> Result<TcpConfig, Problem> {
        let (ns2, linux) = (self.profile == Profile::Ns2, self.profile == Profile::Linux);
        let mut cc = self.cc.clone().unwrap_or_else(|| {
            if linux {
                CcSpec::Cubic(CubicSpec::default())
            } else {
                CcSpec::NewReno(NewRenoSpec {})
            }
        });
        cc.fill_in(linux);
        cc.check()?;
        let traits = cc.traits();
        // Linux's Reno is a window; losses are repaired as with any other.
        let own_repair = traits.repair.filter(|&r| !linux || r != Repair::Reno);

        let timestamps = self.timestamps.unwrap_or(!ns2);
        let mss = self.resolve_mss(timestamps)?;
        let max_window = self.resolve_window(mss)?;
        let initial_window = self.initial_window.unwrap_or(if ns2 { 2 } else { 10 });
        in_range("initial_window", initial_window.into(), 1, 1000)?;
        let syn_retries = Attempts::limit(self.syn_retries, "syn_retries", 6, 30)?;
        let retries = Attempts::limit(self.retries, "retries", 15, 1000)?;

        let quick_acks = self.quick_acks.unwrap_or(if linux { 16 } else { 0 });
        in_range("quick_acks", quick_acks.into(), 0, 64)?;

        let sack = self.resolve_sack(&cc, own_repair)?;
        let with_sack = |key: &str, wanted: Option<bool>, default: bool| match wanted {
            Some(true) if !sack => Err(Problem::new(
                key,
                true,
                format!("`{key}` works on a scoreboard, and `sack` is off"),
                "set sack: true, with a congestion control that has it",
            )),
            Some(on) => Ok(on),
            None => Ok(default && sack),
        };
        let prr = with_sack("prr", self.prr, linux && !traits.paces_itself)?;
        let rack_tlp = with_sack("rack_tlp", self.rack_tlp, linux)?;
        if prr && traits.paces_itself {
            return Err(Problem::new(
                "prr",
                true,
                format!("`{}` sets its own window in recovery", cc.kind()),
                "leave prr out",
            ));
        }
        if self.pacing == Some(false) && traits.paces_itself {
            return Err(Problem::new(
                "pacing",
                false,
                format!("`{}` is a pacing rate and cannot work without", cc.kind()),
                "leave pacing out",
            ));
        }
        let pacing = self.pacing.unwrap_or(traits.paced);
        let second = Dur::from_secs(1);
        let usual_rto = if ns2 || linux {
            Dur::from_ms(200)
        } else {
            second
        };
        let min_rto = positive("min_rto", self.min_rto, usual_rto)?;
        let retry = self.retry.unwrap_or_default();
        let usual_first = match retry {
            RetrySpec::Constant(period) => positive("retry.constant", Some(period), period)?,
            RetrySpec::Exponential if ns2 => second * 3,
            RetrySpec::Exponential => second,
        };
        let initial_rto = positive("initial_rto", self.initial_rto, usual_first)?;
        let max_rto = self.resolve_max_rto(min_rto, initial_rto)?;
        let ecn = self.resolve_ecn(&cc)?;
        Ok(TcpConfig {
            repair: own_repair.unwrap_or(if sack { Repair::Sack } else { Repair::NewReno }),
            mss,
            initial_window,
            max_window,
            delayed_ack: self.resolve_delayed_ack()?,
            quick_acks,
            sack,
            timestamps,
            ecn,
            peer_ecn: self.resolve_peer_ecn(ecn)?,
            ecn_option: self.resolve_ecn_option(ecn)?,
            min_rto,
            rto_floor: if linux {
                RtoFloor::Variance
            } else {
                RtoFloor::Timeout
            },
            rto_granularity: positive(
                "rto_granularity",
                self.rto_granularity,
                match self.profile {
                    Profile::Ns2 => Dur::from_ms(10),
                    Profile::Linux => Dur::from_us(1),
                    Profile::Rfc => Dur::from_ms(1),
                },
            )?,
            initial_rto,
            max_rto,
            retry,
            dup_thresh: 3,
            limited_transmit: self.limited_transmit.unwrap_or(true),
            prr,
            rack_tlp,
            send_jitter: self.resolve_jitter(pacing)?,
            pacing,
            handshake: self.handshake.unwrap_or(!ns2),
            syn_retries,
            retries,
            abc_limit: match self.profile {
                Profile::Ns2 => 0,
                Profile::Linux | Profile::Rfc => 1,
            },
            linux,
            loss_base: if ns2 || linux {
                LossBase::Window
            } else {
                LossBase::Flight
            },
            mark_floor: if linux { 2 } else { 1 },
            reno_once: ns2,
            impatient: true,
            cautious_exit: !ns2,
            idle_restart: true,
            count_options: !ns2,
            cc,
        })
    }

    fn resolve_jitter(&self, pacing: bool) -> Result<Dur, Problem> {
        let jitter = self.send_jitter.unwrap_or(Dur::ZERO);
        let fail =
            |message: &str, hint: &str| Err(Problem::new("send_jitter", jitter, message, hint));
        if jitter > Dur::from_secs(1) {
            return fail("it must be from 0 s to 1 s", "write a time such as 1 ms");
        }
        if pacing && !jitter.is_zero() {
            return fail(
                "segments that are paced leave at the slots of a rate",
                "leave send_jitter out, or write pacing: false",
            );
        }
        Ok(jitter)
    }

    fn resolve_max_rto(&self, min: Dur, initial: Dur) -> Result<Dur, Problem> {
        let Some(max) = self.max_rto else {
            return Ok(Dur::from_secs(60).max(min).max(initial));
        };
        positive("max_rto", Some(max), max)?;
        for (key, other) in [("min_rto", min), ("initial_rto", initial)] {
            if max < other {
                return Err(Problem::new(
                    "max_rto",
                    max,
                    format!("the largest timeout is below `{key}`, {other}"),
                    format!("write {other} or more, or a shorter {key}"),
                ));
            }
        }
        Ok(max)
    }

    fn resolve_mss(&self, timestamps: bool) -> Result<u16, Problem> {
        let default = match self.profile {
            Profile::Ns2 => 1000,
            _ if timestamps => 1448,
            _ => 1460,
        };
        let mss = self.mss.map_or(default, |s| s.0);
        in_range("mss", mss, 1, HIGHEST_MSS)?;
        Ok(mss as u16)
    }

    fn resolve_window(&self, mss: u16) -> Result<u64, Problem> {
        const UNSCALED: u64 = 65_535;
        let scaling = self.window_scaling.unwrap_or(true);
        let default = match self.profile {
            _ if !scaling => UNSCALED,
            Profile::Ns2 => 64 << 20,
            _ => 6 << 20,
        };
        let window = self.max_window.unwrap_or(Size(default));
        let fail =
            |message: String, hint: &str| Err(Problem::new("max_window", window, message, hint));
        if window.0 < u64::from(mss) {
            return fail(
                format!("no segment of {mss} B fits into the window"),
                "write a window of several segments",
            );
        }
        if window.0 > LARGEST_WINDOW {
            return fail(
                "a window has at most 1 GiB".to_owned(),
                "write 1 GiB or less",
            );
        }
        if !scaling && window.0 > UNSCALED {
            return fail(
                "without window scaling a window has at most 65535 B".to_owned(),
                "set window_scaling: true or write 65535 B or less",
            );
        }
        Ok(window.0)
    }

    fn resolve_delayed_ack(&self) -> Result<Option<DelayedAck>, Problem> {
        let d = self.delayed_ack.unwrap_or(match self.profile {
            Profile::Ns2 => DelayedAckSpec {
                timeout: Dur::ZERO,
                every: 1,
            },
            Profile::Linux => DelayedAckSpec {
                timeout: Dur::from_ms(40),
                every: 2,
            },
            Profile::Rfc => DelayedAckSpec {
                timeout: Dur::from_ms(200),
                every: 2,
            },
        });
        in_range("delayed_ack.every", d.every.into(), 1, 64)?;
        if d.timeout > Dur::from_ms(500) {
            return Err(Problem::new(
                "delayed_ack.timeout",
                d.timeout,
                "an acknowledgment is delayed by at most 500 ms",
                "write a time such as 40 ms",
            ));
        }
        Ok((d.every > 1 && !d.timeout.is_zero()).then_some(DelayedAck {
            timeout: d.timeout,
            every: d.every,
        }))
    }

    /// `repair` is what the algorithm does without.
    fn resolve_sack(&self, cc: &CcSpec, repair: Option<Repair>) -> Result<bool, Problem> {
        let traits = cc.traits();
        match self.sack {
            Some(true) if repair.is_some() => Err(Problem::new(
                "sack",
                true,
                format!(
                    "`{}` predates selective acknowledgments and has no recovery that uses them",
                    cc.kind()
                ),
                "leave sack out, or write cc: newreno for the same window with SACK recovery",
            )),
            Some(false) if traits.needs_sack => Err(Problem::new(
                "sack",
                false,
                format!(
                    "`{}` measures deliveries on the scoreboard of SACK",
                    cc.kind()
                ),
                "leave sack out",
            )),
            Some(on) => Ok(on),
            None if self.profile == Profile::Linux => Ok(repair.is_none()),
            None => Ok(traits.sack),
        }
    }
}

fn in_range(key: &str, found: u64, min: u64, max: u64) -> Result<(), Problem> {
    if (min..=max).contains(&found) {
        return Ok(());
    }
    Err(Problem::new(
        key,
        found,
        format!("it must be from {min} to {max}"),
        "write a number in this range",
    ))
}

fn positive(key: &str, given: Option<Dur>, default: Dur) -> Result<Dur, Problem> {
    let d = given.unwrap_or(default);
    if d.is_zero() || d > Dur::from_secs(3600) {
        return Err(Problem::new(
            key,
            d,
            "it must be above 0 s and at most 1 h",
            "write a time such as 200 ms",
        ));
    }
    Ok(d)
}
