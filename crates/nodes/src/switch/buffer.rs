//! How much may wait at the inputs.

use spillgate_core::Limit;
use spillgate_queueing::QueueLimit;

use crate::switch::spec::{BufferSpec, Share};
use crate::switch::stats::Level;
use spillgate_core::Problem;

/// The backlog of a queue, of an input or of the switch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Occupied {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

impl Occupied {
    #[inline]
    pub(crate) fn of(level: &Level) -> Self {
        Self {
            packets: level.packets,
            bytes: level.bytes,
        }
    }
}

/// A limit, in packets or in bytes.
#[derive(Clone, Copy, Debug)]
struct Bound {
    limit: u64,
    in_bytes: bool,
}

impl Bound {
    #[inline]
    fn level(self, of: Occupied) -> u64 {
        if self.in_bytes {
            of.bytes
        } else {
            of.packets.into()
        }
    }

    /// Whether there is room for a packet of `len` bytes.
    #[inline]
    fn admits(self, of: Occupied, len: u32) -> bool {
        let more = if self.in_bytes { u64::from(len) } else { 1 };
        self.level(of).saturating_add(more) <= self.limit
    }

    fn shown(self, limit: u64) -> QueueLimit {
        if self.in_bytes {
            QueueLimit {
                packets: None,
                bytes: Some(limit),
            }
        } else {
            QueueLimit {
                packets: Some(u32::try_from(limit).unwrap_or(u32::MAX)),
                bytes: None,
            }
        }
    }
}

/// The rule by which packets are queued.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Buffer {
    Unlimited,
    Queue(Limited),
    Input(Limited),
    /// A. Choudhury and E. Hahne, Dynamic queue length thresholds for shared-memory packet
    /// switches, IEEE/ACM Transactions on Networking 6(2), 1998: a queue may hold up to alpha times
    /// the space that is free. m queues that are always full hold alpha B / (1 + m alpha) each.
    Shared(Limited, f64),
}

/// A [`Bound`], opaque outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limited(Bound);

impl Buffer {
    pub(crate) fn resolve(spec: Option<&BufferSpec>) -> Result<Self, Problem> {
        let Some(spec) = spec else {
            return Ok(Self::Unlimited);
        };
        let (limit, in_bytes) = match spec.limit {
            Limit::Packets(n) => (n.into(), false),
            Limit::Bytes(n) => (n, true),
            Limit::Time(_) => {
                return Err(Problem::new(
                    "limit",
                    spec.limit,
                    "the rate at which a queue at an input is served is not known in advance",
                    "write packets or bytes, such as 20 packets or 96 kB",
                ));
            }
        };
        Problem::check(
            limit > 0,
            "limit",
            spec.limit,
            "nothing fits into it",
            "write packets or bytes, such as 20 packets or 96 kB",
        )?;
        let bound = Limited(Bound { limit, in_bytes });
        let alpha = spec.alpha.unwrap_or(1.0);
        Problem::check(
            alpha.is_finite() && alpha > 0.0,
            "alpha",
            alpha,
            "a queue could hold nothing",
            "write a number above 0; a usual value is 1",
        )?;
        match spec.per {
            Share::Shared => Ok(Self::Shared(bound, alpha)),
            _ if spec.alpha.is_some() => Err(Problem::new(
                "alpha",
                alpha,
                "only a shared buffer has dynamic thresholds",
                "write `per: shared`, or leave out `alpha`",
            )),
            Share::Queue => Ok(Self::Queue(bound)),
            Share::Input => Ok(Self::Input(bound)),
        }
    }

    /// The most packets that wait at once in `queues` queues at `inputs` inputs, with 64 B a
    /// packet; none without a limit.
    pub(crate) fn packets(&self, queues: u64, inputs: u64) -> Option<u64> {
        let (bound, times) = match self {
            Self::Unlimited => return None,
            Self::Queue(Limited(b)) => (b, queues),
            Self::Input(Limited(b)) => (b, inputs),
            Self::Shared(Limited(b), _) => (b, 1),
        };
        let each = if bound.in_bytes {
            bound.limit / 64
        } else {
            bound.limit
        };
        Some(each.saturating_mul(times))
    }

    /// The most bytes that wait in a queue of packets of up to `longest`; none without a limit.
    pub(crate) fn bytes(&self, longest: u32) -> Option<u64> {
        match self {
            Self::Unlimited => None,
            Self::Queue(Limited(b)) | Self::Input(Limited(b)) | Self::Shared(Limited(b), _) => {
                let each = if b.in_bytes { 1 } else { longest };
                Some(b.limit.saturating_mul(each.into()))
            }
        }
    }

    /// Whether a packet of `len` bytes finds no room, with the limit that it met.
    #[inline]
    pub(crate) fn refuses(
        &self,
        len: u32,
        queue: Occupied,
        input: Occupied,
        all: Occupied,
    ) -> Option<QueueLimit> {
        match self {
            Self::Unlimited => None,
            Self::Queue(Limited(b)) => (!b.admits(queue, len)).then(|| b.shown(b.limit)),
            Self::Input(Limited(b)) => (!b.admits(input, len)).then(|| b.shown(b.limit)),
            Self::Shared(Limited(b), alpha) => {
                let free = b.limit.saturating_sub(b.level(all));
                let threshold = alpha * free as f64;
                let fits = b.admits(all, len) && (b.level(queue) as f64) < threshold;
                (!fits).then(|| b.shown(threshold as u64))
            }
        }
    }
}
