//! What holds in every run of a scenario and may not hold in a network.

use std::collections::BTreeSet;

use spillgate_core::show::general;
use spillgate_measure::stats::Interval;

use super::Facts;
use crate::verdicts::VerdictRow;

/// One sentence for each; of the runs with numbers `sampled` there are series.
pub(super) fn of(facts: &Facts, verdicts: &[VerdictRow], sampled: &BTreeSet<u32>) -> Vec<String> {
    let mut said = Vec::new();
    let flows = facts.flows;
    let deaf = facts.deaf();
    if deaf == flows && deaf > 0 {
        said.push(format!(
            "No flow reacts to loss or delay ({flows} flows send what they send)."
        ));
    } else if deaf > 0 {
        said.push(format!(
            "{deaf} of the {flows} flows send what they send, whatever is lost or late."
        ));
    }
    if facts.bare {
        said.push("A link without a policy has one first-in-first-out queue of 1 GB.".to_owned());
    }
    said.push(
        "Packets count that are sent within the measured period; a run goes on until they have arrived or are lost."
            .to_owned(),
    );
    // Whether verdicts rest on other intervals than those that are shown.
    let apart = (facts.looks_again || facts.level != Interval::LEVEL)
        && verdicts.iter().any(|v| !v.certain);
    said.push(match facts.finished {
        (_, 0) => "No run was finished.".to_owned(),
        (_, 1) => format!(
            "One run{}: there are no intervals, and verdicts rest on this run alone.",
            missing(1, facts.runs)
        ),
        (least, most) => format!(
            "{} 95 % Student-t intervals over {} independent runs. They say how sure the mean of this scenario \
             is, not how well the scenario describes a network.{}",
            if apart { "± are" } else { "± and verdicts come from" },
            over(least, most, facts.runs),
            if apart { wider(facts) } else { String::new() },
        ),
    });
    let by_runs = || verdicts.iter().filter(|v| !v.certain);
    let judged = by_runs().count();
    if by_runs().any(|v| v.level > facts.level) {
        said.push(format!(
            "The verdicts of {judged} requirements are corrected for their number; their intervals are wider than \
             those of {}.",
            facts.level()
        ));
    } else if judged > 1 {
        said.push(format!(
            "{judged} requirements are judged, each for itself: of many decided at {}, some may be decided wrongly.",
            facts.level()
        ));
    }
    if facts.quantile_error > 0.0 {
        said.push(format!(
            "Percentiles come from histograms and are off by at most {} %; means, minima and maxima are exact.",
            general(100.0 * facts.quantile_error, 2)
        ));
    }
    if let Some(runs) = curves(sampled, facts.runs) {
        said.push(format!("Curves over time are of {runs}."));
    }
    said
}

/// What verdicts rest on if it is not the intervals that are shown.
fn wider(facts: &Facts) -> String {
    let level = facts.level();
    if facts.looks_again {
        format!(
            " Verdicts come from wider intervals, whose {level} hold after any number of runs, also if one looks, \
             adds runs and looks again."
        )
    } else {
        format!(" Verdicts come from such intervals of {level}.")
    }
}

/// Over how many runs of each variant, where more may have been wanted.
fn over(least: usize, most: usize, wanted: u32) -> String {
    let missing = missing(least, wanted);
    match least == most {
        true => format!("{most}{missing}"),
        false => format!("{least} to {most}{missing}"),
    }
}

/// In brackets after a number of runs: of how many, if some are missing.
fn missing(runs: usize, wanted: u32) -> String {
    match runs < wanted as usize {
        true => format!(" (of {wanted})"),
        false => String::new(),
    }
}

/// Which runs have time series; none if none has.
fn curves(sampled: &BTreeSet<u32>, runs: u32) -> Option<String> {
    let numbers: Vec<String> = sampled.iter().map(u32::to_string).collect();
    let which = match numbers.as_slice() {
        [] => return None,
        all if all.len() == runs as usize => match runs {
            1 => "the only run".to_owned(),
            _ => "all runs".to_owned(),
        },
        [one] if one == "0" => "the first run".to_owned(),
        [one] => return Some(format!("run {one} of each variant, counted from 0")),
        [most @ .., last] => {
            let most = most.join(", ");
            return Some(format!(
                "runs {most} and {last} of each variant, counted from 0"
            ));
        }
    };
    Some(format!("{which} of each variant"))
}
