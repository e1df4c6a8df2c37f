//! Schedulers over flows: which packet of many queues leaves next.

#[cfg(test)]
pub(crate) mod fair_tests;
pub(crate) mod flow_wfq;
mod heap;
mod longest;
pub(crate) mod pdrr;
pub(crate) mod pfq;
pub(crate) mod pgps;
mod slab;
mod table;
