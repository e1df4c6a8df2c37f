//! PFQ and PDRR against worked traces, against a plain model, and on a link.

mod differential;
mod link;
mod on_link;
mod reference;
mod vectors;

use crate::fan::scheduler::FairQueueParams;
use crate::leaf::Bound;

/// An MTU of 1500 B, all that may be unlimited is.
const PARAMS: FairQueueParams = FairQueueParams {
    limit: Bound::NONE,
    mtu: 1500,
    quantum: 1500,
    charged: true,
    afl_max: u32::MAX,
};
