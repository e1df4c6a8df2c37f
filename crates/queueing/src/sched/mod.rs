//! Schedulers over flows: which packet of many queues leaves next.

pub(crate) mod flow_wfq;
mod heap;
pub(crate) mod pgps;
