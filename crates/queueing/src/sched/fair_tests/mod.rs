//! PFQ and PDRR against worked traces, against a plain model, and on a link.

mod differential;
mod link;
mod on_link;
pub(crate) mod reference;
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

/// Each of a million flows may wait, is remembered until the link is idle, and takes no more memory
/// than was announced.
#[test]
fn a_million_flows() {
    use crate::fan::scheduler::{FairQueue, FairScheduler};
    use spillgate_core::Packet;

    const FLOWS: u32 = 1_000_000;
    for mut queue in [FairQueue::pfq(&PARAMS), FairQueue::pdrr(&PARAMS)] {
        assert!(queue.memory_bytes(FLOWS as usize) < 100_000_000);
        for _ in 0..2 {
            for flow in 0..FLOWS {
                queue.offer(Packet::new(flow, 0, 1500), &mut |_| {});
                assert_eq!(queue.pop().map(|p| p.flow), Some(flow));
            }
            // The second packet of each: PFQ gave the whole MTU away, PDRR has room for none more.
            let classes = (0..FLOWS).filter(|flow| {
                let class = queue.offer(Packet::new(*flow, 1, 1), &mut |_| {});
                class == Some(crate::fan::scheduler::FanClass::Backlog)
            });
            assert_eq!(classes.count(), FLOWS as usize);
            let left = (0..FLOWS).filter(|flow| queue.pop().map(|p| p.flow) == Some(*flow));
            assert_eq!(left.count(), FLOWS as usize);
            queue.idle();
            assert!((0..FLOWS).all(|flow| !queue.is_backlogged(flow)));
        }
    }
}
