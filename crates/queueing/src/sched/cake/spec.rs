//! Parameters of CAKE, and what they come to on a line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Dur, Limit, Overhead, Problem, Rate, Size};

use super::Cake;
use super::acks::CakeAckFilter;
use super::shaper::Shaper;
use super::tins::CakeTins;
use crate::aqm::{AqmSpec, CobaltParams, CobaltSpec, CobaltVariant};
use crate::leaf::Bound;
use crate::line::Line;
use crate::recipe::At;
use crate::sched::flow_queue::{FlowQueue, FlowQueueSpec};
use crate::spec::Scope;

/// By what CAKE divides a tin: queues by flow or by host, and hosts that share before their flows
/// do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CakeIsolation {
    /// One queue.
    Flowblind,
    /// A queue for each source address.
    Srchost,
    /// A queue for each destination address.
    Dsthost,
    /// A queue for each pair of addresses.
    Hosts,
    /// A queue for each flow.
    Flows,
    /// A queue for each flow; source addresses share evenly.
    DualSrchost,
    /// A queue for each flow; destination addresses share evenly.
    DualDsthost,
    /// A queue for each flow; source addresses share evenly, and so do destination addresses.
    #[default]
    TripleIsolate,
}

impl CakeIsolation {
    /// Whether flows have queues of their own.
    pub fn by_flow(self) -> bool {
        let [srchosts, dsthosts] = self.shares_hosts();
        self == Self::Flows || srchosts || dsthosts
    }

    /// Whether source addresses share evenly, and whether destination addresses do.
    pub(super) fn shares_hosts(self) -> [bool; 2] {
        let triple = self == Self::TripleIsolate;
        [
            triple || self == Self::DualSrchost,
            triple || self == Self::DualDsthost,
        ]
    }

    /// The keyword of `tc`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Flowblind => "flowblind",
            Self::Srchost => "srchost",
            Self::Dsthost => "dsthost",
            Self::Hosts => "hosts",
            Self::Flows => "flows",
            Self::DualSrchost => "dual-srchost",
            Self::DualDsthost => "dual-dsthost",
            Self::TripleIsolate => "triple-isolate",
        }
    }
}

spillgate_core::spec! {
    /// CAKE.
    pub struct CakeSpec {
        /// The rate at which packets may leave, a little below that of the slowest link behind.
        /// Default: as fast as the link or the class can.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub bandwidth: Option<Rate> = None,
        /// How packets are sorted into tins by their code points. Default `diffserv3`.
        pub tins: CakeTins = CakeTins::Diffserv3,
        /// By what each tin is divided. Default `triple-isolate`.
        pub isolation: CakeIsolation = CakeIsolation::TripleIsolate,
        /// Hosts behind a translation of addresses are told apart by their own addresses. Here
        /// flows have their own addresses everywhere, so that it matters to `export` only. Default
        /// false.
        pub nat: bool = false,
        /// What `bandwidth` and the shares count of a packet: bytes beside the IP packet, least
        /// units and cells, by the keywords of CAKE. Default: what the link counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub overhead: Option<Overhead> = None,
        /// The usual round-trip time: the interval of COBALT, whose target is a twentieth of it.
        /// Both are longer where `bandwidth` is so low that a packet takes long. Default 100 ms.
        pub rtt: Dur = Dur::from_ms(100),
        /// It is behind the bottleneck, where what it drops has taken its time, too: dropped
        /// packets are charged as sent ones, and delays have to be longer the more queues there
        /// are. Default false.
        pub ingress: bool = false,
        /// Which acknowledgments of TCP are dropped that later ones in their queue make
        /// superfluous. Default `no`.
        pub ack_filter: CakeAckFilter = CakeAckFilter::No,
        /// Bytes of packets in all queues. Default: four times what `bandwidth` sends in `rtt`, at
        /// least 4 MiB and at most 10240 packets of `mtu` bytes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub memory_limit: Option<Size> = None,
        /// The longest packet: it sets the least target of COBALT. Default 1514 B, or the longest
        /// packet as it is counted, whichever is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mtu: Option<Size> = None,
    }
}

/// What COBALT goes by in a tin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeDelays {
    /// The target.
    pub target: Dur,
    /// The interval.
    pub interval: Dur,
}

/// A tin, resolved.
#[derive(Clone, Debug)]
pub(super) struct TinLaw {
    pub(super) name: &'static str,
    /// Its threshold; none if nothing is shaped.
    pub(super) rate: Option<Rate>,
    pub(super) quantum: i64,
    /// Bytes in a turn of a queue whose hosts have no other.
    pub(super) flow_quantum: u32,
    pub(super) cobalt: CobaltParams,
}

/// The parameters, resolved.
#[derive(Clone, Debug)]
pub(super) struct Law {
    pub(super) tins: Vec<TinLaw>,
    /// The tin of each code point.
    pub(super) tin_of: [u8; 64],
    pub(super) isolation: CakeIsolation,
    /// What is counted of packets; none: what the link counts.
    pub(super) counted: Option<Overhead>,
    pub(super) ingress: bool,
    pub(super) ack_filter: CakeAckFilter,
}

const MTU: u64 = 1514;
const LONGEST_RTT: Dur = Dur::from_secs(100);
/// Packets of `mtu` bytes that are queued at most where nothing is said.
const PACKETS: u64 = 10_240;

impl CakeSpec {
    /// Its target and interval before `bandwidth` raises them.
    fn delays(&self) -> CakeDelays {
        CakeDelays {
            target: Dur::from_ps((self.rtt.as_ps() / 20).max(1)),
            interval: self.rtt,
        }
    }

    /// The target and the interval of COBALT in each tin, with the tin's name and its threshold, if
    /// `bandwidth` is this; `longest`: bytes of the longest packet.
    fn tins_at(
        &self,
        bandwidth: Option<Rate>,
        longest: u64,
    ) -> Vec<(&'static str, Option<Rate>, i64, CakeDelays, Dur)> {
        let usual = self.delays();
        let mtu = u32::try_from(longest).unwrap_or(u32::MAX);
        let tin = |share: &super::tins::TinShare| {
            let rate = bandwidth.map(|r| share.threshold(r));
            let mtu_time = rate.map_or(Dur::ZERO, |r| r.tx_time(mtu));
            let least = Dur::from_ps(mtu_time.as_ps().saturating_mul(3) / 2);
            let target = usual.target.max(least);
            let longer = usual.interval.saturating_add(target - usual.target);
            let interval = longer.max(Dur::from_ps(target.as_ps().saturating_mul(2)));
            let delays = CakeDelays { target, interval };
            (share.name, rate, share.quantum, delays, mtu_time)
        };
        self.tins.shares().iter().map(tin).collect()
    }

    /// Target and interval of COBALT in each tin, by its name.
    pub fn delays_by_tin(&self) -> Vec<(&'static str, CakeDelays)> {
        let all = self.tins_at(self.bandwidth, self.mtu.map_or(MTU, |m| m.0));
        all.into_iter().map(|t| (t.0, t.3)).collect()
    }

    /// Bytes of packets in all queues at most.
    pub fn buffer(&self) -> u64 {
        let mtu = self.mtu.map_or(MTU, |m| m.0);
        let shaped = self.bandwidth.map(|r| {
            let bytes = r.bytes_in(self.rtt).saturating_mul(4);
            bytes.max(4 << 20)
        });
        let most = PACKETS.saturating_mul(mtu);
        let default = shaped.map_or(most, |b| b.min(most));
        self.memory_limit.map_or(default, |m| m.0)
    }

    /// The running discipline, for a port.
    pub(crate) fn engine(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<Cake, Problem> {
        let line = &scope.line;
        if let Some(bandwidth) = self.bandwidth {
            if bandwidth > line.rate {
                at.warn(format_args!(
                    "`bandwidth` {bandwidth} is above the {} of the line: CAKE never holds a packet back, and what \
                     waits behind it is not its own",
                    line.rate
                ));
            }
        }
        self.running(at, line)
    }

    fn running(&self, at: &mut At<'_>, line: &Line) -> Result<Cake, Problem> {
        at.check(
            !self.rtt.is_zero() && self.rtt <= LONGEST_RTT,
            "rtt",
            self.rtt,
            "the round-trip time must be above 0 and at most 100 s",
            "the usual value is 100 ms",
        )?;
        if let Some(mtu) = self.mtu {
            at.packet("mtu", mtu)?;
            at.check(
                mtu.0 <= 1 << 20,
                "mtu",
                mtu,
                "no packet is longer than 1 MiB",
                "the usual value is 1514 B",
            )?;
        }
        let counted = self.overhead.or(line.counting.queues);
        let longest = line.longest.shaped.max(line.longest.occupied);
        let mtu = self.mtu.map_or_else(|| MTU.max(longest.into()), |m| m.0);
        let bound = self.holding(longest);
        at.check(
            bound.bytes >= longest.into(),
            "memory_limit",
            self.memory_limit.unwrap_or(Size(bound.bytes)),
            &format!("a packet of {longest} B does not fit into it"),
            "the default is 4 MiB or more",
        )?;
        let tins = self.tins_at(self.bandwidth, mtu);
        self.warn_of_short_rtt(at, &tins);
        let law = Law {
            tins: tins
                .into_iter()
                .map(|(name, rate, quantum, delays, mtu_time)| TinLaw {
                    name,
                    rate,
                    quantum,
                    flow_quantum: flow_quantum(rate),
                    cobalt: CobaltParams::of_cake(delays.target, delays.interval, mtu_time),
                })
                .collect(),
            tin_of: std::array::from_fn(|v| {
                Dscp::new(v as u8).map_or(0, |dscp| self.tins.of(dscp) as u8)
            }),
            isolation: self.isolation,
            counted,
            ingress: self.ingress,
            ack_filter: self.ack_filter,
        };
        Ok(Cake::new(law, bound, Shaper::new(self.bandwidth)))
    }

    /// The limit, which holds a packet of this length if it is not written.
    fn holding(&self, longest: u32) -> Bound {
        let bytes = match self.memory_limit {
            Some(limit) => limit.0,
            None => self.buffer().max(longest.into()),
        };
        Bound {
            bytes,
            ..Bound::NONE
        }
        .in_4_gib()
    }

    /// Says where a round-trip time is so short that packets of the longest length alone take the
    /// target.
    fn warn_of_short_rtt(
        &self,
        at: &mut At<'_>,
        tins: &[(&'static str, Option<Rate>, i64, CakeDelays, Dur)],
    ) {
        let usual = self.delays();
        let whole = tins.first().filter(|t| t.3.target > usual.target);
        if let Some((_, Some(rate), _, delays, _)) = whole {
            let written = self.rtt != Self::default().rtt;
            if written {
                at.warn(format_args!(
                    "`rtt` {} asks for a target of {}, in which {rate} do not send one and a half packets: CAKE takes {} \
                     and an interval of {}",
                    self.rtt, usual.target, delays.target, delays.interval
                ));
            }
        }
    }
}

/// Bytes in a turn of a queue at a rate: what it sends in 1/4096 s, 300 to 1514.
fn flow_quantum(rate: Option<Rate>) -> u32 {
    rate.map_or(1514, |r| (r.bps() / 8 / 4096).clamp(300, 1514) as u32)
}

impl FlowQueueSpec for CakeSpec {
    /// In a class.
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem> {
        if let Some(bandwidth) = self.bandwidth {
            return Err(at
                .error(
                    "bandwidth",
                    bandwidth,
                    "in a class it is the class that shapes",
                    "write `shape` of the class, or `cake` as the policy of the port",
                )
                .misfit());
        }
        Ok(Box::new(self.running(at, line)?))
    }

    fn bound(&self, _: Rate) -> Bound {
        self.holding(0)
    }

    fn aqm(&self) -> Option<AqmSpec> {
        let delays = self.delays_by_tin();
        let first = delays.first().map_or_else(|| self.delays(), |d| d.1);
        Some(AqmSpec::Cobalt(CobaltSpec {
            variant: Some(CobaltVariant::Linux),
            target: first.target,
            interval: first.interval,
            ..CobaltSpec::default()
        }))
    }

    fn is_one_with_aqm(&self) -> bool {
        true
    }

    fn by_flow(&self) -> bool {
        self.isolation.by_flow()
    }

    fn limits(&self) -> Vec<(&'static str, Limit)> {
        vec![("memory_limit", Limit::Bytes(self.buffer()))]
    }

    fn quantum(&self) -> Option<Size> {
        None
    }
}
