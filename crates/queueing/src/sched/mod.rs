//! Schedulers over flows: they choose the queue whose packet leaves next.

pub(crate) mod cake;
pub(crate) mod drr;
pub(crate) mod dualpi2;
pub(crate) mod dualpi2_spec;
#[cfg(test)]
pub(crate) mod fair_tests;
pub(crate) mod flow_queue;
pub(crate) mod flow_wfq;
mod flows;
pub(crate) mod fq;
pub(crate) mod fq_codel;
pub(crate) mod heap;
mod longest;
pub(crate) mod pdrr;
pub(crate) mod pfq;
pub(crate) mod pgps;
mod slab;
mod table;
