//! Bounds in the base unit of their metric.

use spillgate_core::Problem;
use spillgate_core::units::{parse_dur, parse_percent, parse_rate, split_number};

use spillgate_measure::Metric;

/// Seconds for times, a ratio for losses, bits per second for rates, a number of transfers.
pub(super) fn in_base_unit(metric: Metric, text: &str) -> Result<f64, Problem> {
    match metric.unit() {
        "s" => parse_dur(text).map(|d| d.as_secs_f64()),
        "1" => parse_percent(text),
        "b/s" => parse_rate(text).map(|r| r.bps() as f64),
        // 129 is the top of the wideband scale.
        "score" if metric == Metric::RFactor => parse_score(text, 0.0, 129.0),
        "score" => parse_score(text, 1.0, 4.5),
        things => parse_count(text, things),
    }
}

/// A plain number within a scale.
fn parse_score(text: &str, low: f64, high: f64) -> Result<f64, Problem> {
    let problem = match split_number(text) {
        Err(problem) => problem,
        Ok((n, "")) if (low..=high).contains(&n) => return Ok(n),
        Ok((n, "")) => format!("{n} is outside the scale"),
        Ok((_, unit)) => format!("`{unit}` is not a unit that fits here"),
    };
    let hint = format!("write a number from {low} to {high}, without a unit");
    Err(Problem::new("", text, problem, hint))
}

/// A number of `things`; the singular is accepted too.
fn parse_count(text: &str, things: &str) -> Result<f64, Problem> {
    let problem = match split_number(text) {
        Err(problem) => problem,
        Ok((_, "")) => "the unit is missing".to_owned(),
        Ok((n, unit)) if things.strip_suffix('s') == Some(unit) || things == unit => {
            if n >= 0.0 && n.fract() == 0.0 {
                return Ok(n);
            }
            "it is no whole number from 0".to_owned()
        }
        Ok((_, unit)) => format!("`{unit}` is not a unit that fits here"),
    };
    let hint = format!("write a whole number of {things} such as 0 {things}");
    Err(Problem::new("", text, problem, hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_come_in_the_unit_of_their_metric() {
        assert_eq!(in_base_unit(Metric::OwdP99, "20 ms"), Ok(0.02));
        assert_eq!(in_base_unit(Metric::LossRatio, "50 %"), Ok(0.5));
        assert_eq!(in_base_unit(Metric::Throughput, "1.5 Mb/s"), Ok(1.5e6));
        assert!(in_base_unit(Metric::Jitter, "1 %").is_err());
        assert!(in_base_unit(Metric::LossRatio, "0.1").is_err());
        assert_eq!(in_base_unit(Metric::FctP95, "2 s"), Ok(2.0));
        assert_eq!(in_base_unit(Metric::Goodput, "5 Mb/s"), Ok(5e6));
        let transfers = |text| in_base_unit(Metric::TransfersFailed, text);
        assert_eq!(transfers("0 transfers"), Ok(0.0));
        assert_eq!(transfers("1 transfer"), Ok(1.0));
        let flows = |text| in_base_unit(Metric::FlowsWaiting, text);
        assert_eq!((flows("0 flows"), flows("1 flow")), (Ok(0.0), Ok(1.0)));
        assert!(flows("1 transfer").is_err() && flows("1 s").is_err());
        assert_eq!(in_base_unit(Metric::WaitingTimeP95, "6 s"), Ok(6.0));
        assert_eq!(in_base_unit(Metric::Mos, "3.6"), Ok(3.6));
        assert_eq!(in_base_unit(Metric::RFactor, "70"), Ok(70.0));
        for wrong in ["0.9", "4.6", "3.6 MOS", "good"] {
            assert!(in_base_unit(Metric::MosMin, wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "1.5 transfers", "-1 transfers", "1 %", "x"] {
            assert!(transfers(wrong).is_err(), "{wrong}");
        }
    }
}
