//! What flow admission did to each flow, link by link and run by run.

use serde::Serialize;

use crate::report::Report;

/// What one link with flow admission did to one flow in one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AdmissionRow {
    /// Variant.
    pub variant: String,
    /// Number of the run.
    pub run: u32,
    /// Name of the link.
    pub link: String,
    /// Name of the flow; all sessions of a workload have the same.
    pub flow: String,
    /// Class of service.
    pub class: String,
    /// `data`, or `acknowledgments` of the flow's connection.
    pub direction: &'static str,
    /// When its first packet reached the link, in seconds from the start of the run.
    pub offered_s: f64,
    /// When its first packet was admitted there; null if none was.
    pub admitted_s: Option<f64>,
    /// Seconds from the one to the other; if it was never admitted, to the end of the run.
    pub waiting_s: f64,
    /// Packets refused before the first was admitted.
    pub refused: u64,
    /// Packets refused in all.
    pub refused_total: u64,
    /// How often it was put on the protected flow list of the link.
    pub admissions: u32,
    /// How often the congestion mechanism took it off.
    pub removals: u32,
    /// How often it fell off for its silence.
    pub timeouts: u32,
}

impl Report {
    /// A row for each flow, link with flow admission, and finished run.
    pub fn admission(&self) -> Vec<AdmissionRow> {
        let mut rows = Vec::new();
        for finished in self.finished() {
            let variant = &self.plan().variants[finished.info.variant];
            let world = &variant.world;
            rows.extend(finished.outcome.admissions.iter().map(|a| {
                let flow = &world.flows[a.flow as usize];
                AdmissionRow {
                    variant: variant.name.clone(),
                    run: finished.info.run,
                    link: world.links[a.link as usize].name.clone(),
                    flow: flow.name.to_string(),
                    class: world.classes[usize::from(flow.class)].clone(),
                    direction: if a.answers { "acknowledgments" } else { "data" },
                    offered_s: a.offered.as_secs_f64(),
                    admitted_s: a.admitted.map(|t| t.as_secs_f64()),
                    waiting_s: a.waited.as_secs_f64(),
                    refused: a.refused,
                    refused_total: a.refused_total,
                    admissions: a.admissions,
                    removals: a.removals,
                    timeouts: a.timeouts,
                }
            }));
        }
        rows
    }
}
