//! A cross-protect router as a user writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Limit, Percent, RateOrPercent, Size};

use crate::line::Longest;

spillgate_core::spec! {
    /// Parameters of a cross-protect router (Flow-Aware Networking): measurement-based admission of
    /// flows in front of a fair scheduler with implicit priority.
    ///
    /// The defaults are those of Domżał, Wójcik, Jajszczyk, "The Impact of Congestion Control
    /// Mechanisms on Network Performance after Failure in Flow-Aware Networks", 2008, §4.
    pub struct FanSpec {
        /// The scheduler: `pfq`, `pdrr`, or either with its parameters.
        pub scheduler: FanScheduler = FanScheduler::Pfq(PfqSpec::default()),
        /// Limit of all queues together. A packet that would exceed it pushes out the first packet
        /// of the flow with the longest backlog. Time is counted at the link's rate. Default 1000
        /// packets.
        pub limit: Limit = Limit::Packets(1000),
        /// Bytes of priority that a flow may get while the scheduler lists it; not below the
        /// largest packet, the link's overhead included. Default 1500 B, or the longest packet as
        /// the link counts it, whichever is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mtu: Option<Size> = None,
        /// The link is congested while the measured fair rate is below this. Default 5 % of the
        /// link.
        pub min_fair_rate: RateOrPercent = RateOrPercent::Percent(Percent(0.05)),
        /// The link is congested while the measured priority load is above this. Default 70 % of
        /// the link.
        pub max_priority_load: RateOrPercent = RateOrPercent::Percent(Percent(0.7)),
        /// A flow leaves the protected flow list after a silence longer than this. Default 20 s.
        pub pfl_flow_timeout: Dur = Dur::from_secs(20),
        /// Largest number of flows on the protected flow list; flows that find it full pass
        /// unprotected. None for no limit.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub pfl_max: Option<u32> = None,
        /// Probability, 0 to 1, that an admitted packet of an unlisted flow lists the flow. Below 1
        /// it keeps flows of few packets out of the list. Default 1.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub p_add: f64 = 1.0,
        /// What removes flows from the list under congestion: `basic` (nothing), `efm`, `raef`,
        /// `rbaef`, or one of them with its parameters.
        pub mechanism: FanMechanism = FanMechanism::Basic(BasicSpec {}),
        /// Which flows count as elastic.
        pub elastic: ElasticRule = ElasticRule::Sticky,
        /// Whether a removal sets the fair rate to that of an empty link, so that the packet that
        /// triggered it is admitted at once. Default false: it waits for the next tick.
        pub accept_trigger: bool = false,
        /// How the fair rate is measured.
        pub fair_rate: FairRateSpec = FairRateSpec::default(),
        /// How the priority load is measured.
        pub priority_load: PriorityLoadSpec = PriorityLoadSpec::default(),
        /// When the first measuring intervals begin; they end at this time plus multiples of their
        /// length. Default 0 s.
        pub tick_phase: Dur = Dur::ZERO,
        /// Largest number of flows admitted between two ticks of the fair rate, against the
        /// overshoot when congestion ends. None for no limit, as published.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1))]
        pub admissions_per_tick: Option<u32> = None,
        /// Name of a protected flow list that all links share whose policies name it, so that a
        /// rerouted flow keeps its protection (GPFL). None for a list of this link alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub protected_list: Option<String> = None,
    }
}

impl FanSpec {
    /// The priority that a flow gets, on a line with this longest packet.
    pub fn unit(&self, longest: Longest) -> Size {
        let longest = u64::from(longest.occupied);
        // A quantum that is written may be shorter than the link's packets: the unit is not above
        // it.
        let most = match &self.scheduler {
            FanScheduler::Pdrr(s) => s.quantum.map_or(longest, |q| q.0),
            FanScheduler::Pfq(_) => longest,
        };
        self.mtu
            .unwrap_or_else(|| Size(longest.min(most).max(1500)))
    }
}

spillgate_core::family! {
    /// The scheduler behind the admission control.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub written enum FanScheduler by scheduler;

    /// Priority fair queueing: start-time fair queueing with implicit priority.
    "pfq": Pfq(PfqSpec);
    /// Priority deficit round robin.
    "pdrr": Pdrr(PdrrSpec);
}

/// Parameters of priority fair queueing (PFQ).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PfqSpec {
    /// Largest number of flows on the active flow list; a full list counts as congestion. None for
    /// no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub afl_max: Option<u32>,
}

/// Parameters of priority deficit round robin (PDRR).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PdrrSpec {
    /// Whether priority packets are charged to their flow's deficit.
    pub mode: PdrrMode,
    /// Bytes that a flow may send per round; not below the MTU. Default the MTU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
}

/// The charge for a priority packet in PDRR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PdrrMode {
    /// Its length, taken off the flow's deficit: fair to the byte.
    #[default]
    Charged,
    /// Nothing, as published: a flow somewhat above the fair rate gets more than its share.
    Literal,
}

spillgate_core::family! {
    /// The mechanism that acts on listed flows when a packet of an unlisted flow meets a congested
    /// link.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub written enum FanMechanism by mechanism;

    /// None: the new flow waits until others end.
    "basic": Basic(BasicSpec);
    /// Enhanced flushing mechanism: all elastic flows leave the list.
    "efm": Efm(EfmSpec);
    /// Remove active elastic flows: those listed for a long time leave the list.
    "raef": Raef(RaefSpec);
    /// Remove and block active elastic flows: they may not return at once.
    "rbaef": Rbaef(RbaefSpec);
}

/// The basic router has no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BasicSpec {}

spillgate_core::spec! {
    /// Parameters of the enhanced flushing mechanism (EFM).
    pub struct EfmSpec {
        /// Shortest time between two flushes. Default 5 s.
        pub pfl_flushing_timer: Dur = Dur::from_secs(5),
    }
}

spillgate_core::spec! {
    /// Parameters of the mechanism that removes active elastic flows (RAEF).
    pub struct RaefSpec {
        /// Time since its admission from which on an elastic flow is removed. Default 5 s.
        pub active_time: Dur = Dur::from_secs(5),
    }
}

spillgate_core::spec! {
    /// Parameters of the mechanism that removes and blocks active elastic flows (RBAEF).
    pub struct RbaefSpec {
        /// Time since its admission from which on an elastic flow is removed. Default 5 s.
        pub active_time: Dur = Dur::from_secs(5),
        /// How long the packets of a removed flow are dropped. Default 1 s.
        pub blocked_time: Dur = Dur::from_secs(1),
    }
}

/// The rule by which flows count as elastic; all others are streaming.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ElasticRule {
    /// Flows to one of whose packets the scheduler has denied priority since they were listed.
    #[default]
    Sticky,
    /// Flows to whose next packet the scheduler would deny priority.
    Instant,
}

spillgate_core::spec! {
    /// How the fair rate is measured.
    #[derive(Copy)]
    pub struct FairRateSpec {
        /// Time between two measurements. Default 500 ms.
        pub interval: Dur = Dur::from_ms(500),
        /// Weight of the past in the published value, 0 to 0.999. Default 0: the last interval
        /// alone.
        #[schemars(range(min = 0.0, max = 0.999))]
        pub smoothing: f64 = 0.0,
    }
}

spillgate_core::spec! {
    /// How the priority load is measured.
    #[derive(Copy)]
    pub struct PriorityLoadSpec {
        /// Time between two measurements. Default 50 ms.
        pub interval: Dur = Dur::from_ms(50),
        /// Weight of the past in the published value, 0 to 0.999. Default 0: the last interval
        /// alone.
        #[schemars(range(min = 0.0, max = 0.999))]
        pub smoothing: f64 = 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<FanSpec, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn kinds_have_parameters() {
        let spec = read(r#"{"scheduler": {"pdrr": {}}, "mechanism": {"rbaef": {}}}"#).unwrap();
        assert_eq!(spec.scheduler, FanScheduler::Pdrr(PdrrSpec::default()));
        assert_eq!(spec.mechanism, FanMechanism::Rbaef(RbaefSpec::default()));
        let spec = read(
            r#"{"scheduler": {"pfq": {"afl_max": 9}}, "mechanism": {"efm": {"pfl_flushing_timer": "2 s"}}}"#,
        )
        .unwrap();
        let FanScheduler::Pfq(pfq) = &spec.scheduler else {
            panic!("{spec:?}")
        };
        assert_eq!(pfq.afl_max, Some(9));
        let two = EfmSpec {
            pfl_flushing_timer: Dur::from_secs(2),
        };
        assert_eq!(spec.mechanism, FanMechanism::Efm(two));
        assert_eq!(read("{}").unwrap(), FanSpec::default());
        // What is written is read back.
        let again = serde_json::to_string(&spec).unwrap();
        assert_eq!(read(&again).unwrap(), spec);
    }

    #[test]
    fn unknown_kinds_and_keys_are_named() {
        for (json, said) in [
            (r#"{"scheduler": {"drr": {}}}"#, "unknown variant `drr`"),
            (r#"{"scheduler": {"pdrr": {"afl_max": 3}}}"#, "`afl_max`"),
            (
                r#"{"mechanism": {"raef": {"blocked_time": "1 s"}}}"#,
                "`blocked_time`",
            ),
            (r#"{"mechanism": {"basic": {"x": 1}}}"#, "`x`"),
            (r#"{"mtuu": "3 B"}"#, "`mtuu`"),
        ] {
            let e = read(json).unwrap_err().to_string();
            assert!(e.contains(said), "{json}: {e}");
        }
    }
}
