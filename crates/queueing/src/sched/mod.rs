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

/// Where the rule of a scheduler was published, by the name that scenarios write.
pub(crate) fn source(scheduler: &str) -> Option<&'static str> {
    Some(match scheduler {
        "scfq" => "Golestani 1994",
        "start-time" => "Goyal, Vin and Cheng 1997",
        "wf2q+" => "Bennett and Zhang 1997",
        "virtual-clock" => "L. Zhang 1990",
        "qfq" => "Checconi, Rizzo and Valente 2013",
        "drr" => "Shreedhar and Varghese 1996",
        "wrr" => "Katevenis, Sidiropoulos and Courcoubetis 1991",
        "strict" => "IEEE 802.1Q",
        "ets" => "IEEE 802.1Qaz",
        _ => return None,
    })
}
