//! Campaigns where there are no threads, such as in a page.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use spillgate_scenario::plan::Plan;

use super::{Campaign, Failure, Making, Observed, Queue, Wanted};
use crate::engine::Engine;

/// A campaign without threads: who owns it gives it time, one slice after the other.
///
/// Runs are the same as by [`Campaign::execute`], and begin in the same order. A panic is not
/// caught.
pub struct Sliced {
    campaign: Campaign,
    observed: Observed,
    /// The run that is being made, with its place in the queue.
    current: Option<(usize, Making)>,
}

impl Sliced {
    /// Those runs of a plan that [`Campaign::execute`] makes, none of them begun.
    pub fn new(engine: Engine, plan: Arc<Plan>, observed: Observed) -> Self {
        Self {
            campaign: Campaign::on(engine, plan),
            observed,
            current: None,
        }
    }

    /// Goes on for so many events, or begins the next run; whether there is more to do.
    ///
    /// # Errors
    /// Why a run failed. The others are not made then.
    pub fn advance(&mut self, events: u64) -> Result<bool, Failure> {
        let campaign = &self.campaign;
        let all = || campaign.queued(&Wanted::All);
        let Queue { runs, parts, turns } = campaign.queue.get_or_init(all);
        let Some((place, making)) = &mut self.current else {
            let place = turns.take(|| campaign.cancelled.load(Ordering::Relaxed));
            self.current = place.map(|place| {
                let info = runs[place];
                (place, campaign.begin(info, self.observed.has(info.run)))
            });
            return Ok(self.current.is_some());
        };
        if making.advance(campaign, &parts[*place], events) {
            let place = *place;
            if let Some((_, making)) = self.current.take() {
                let outcome = making.outcome().inspect_err(|_| campaign.cancel())?;
                let values = campaign.values(runs[place], &outcome);
                campaign.finish(place, Some(outcome), values);
            }
        }
        Ok(true)
    }

    /// The campaign: its progress, and what is finished.
    pub fn campaign(&self) -> &Campaign {
        &self.campaign
    }
}
