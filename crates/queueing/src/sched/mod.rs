//! Schedulers over flows: they choose the queue whose packet leaves next.

pub(crate) mod cake;
pub(crate) mod drr;
pub(crate) mod dualpi2;
pub(crate) mod dualpi2_spec;
pub(crate) mod fair;
#[cfg(test)]
pub(crate) mod fair_tests;
pub(crate) mod flow_queue;
pub(crate) mod flow_wfq;
mod flows;
pub(crate) mod fq;
pub(crate) mod fq_codel;
pub(crate) mod fq_pie;
pub(crate) mod heap;
mod longest;
pub(crate) mod pdrr;
pub(crate) mod pfq;
pub(crate) mod pgps;
mod qfq;
pub(crate) mod sfq;
mod sfq_red;
mod slab;
mod table;
pub(crate) mod tags;
