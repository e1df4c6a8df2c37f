//! Bounds in the base unit of their metric.

use spillgate_core::units::{UnitError, parse_dur, parse_percent, parse_rate, split_number};

use crate::schema::SlaMetric;

/// Seconds for times, a ratio for losses, bits per second for rates, a number of transfers.
pub(super) fn in_base_unit(metric: SlaMetric, text: &str) -> Result<f64, UnitError> {
    use SlaMetric::{
        FctP50, FctP95, FctP99, FlowsWaiting, GapMax, Goodput, Jitter, LateRatio, LossRatio, Mos,
        MosMin, MouthToEar, OwdMax, OwdMean, OwdP50, OwdP95, OwdP99, OwdP999, Pdv, PdvP99999,
        RFactor, Throughput, TransfersFailed, TransfersRefused, WaitingTime, WaitingTimeMax,
        WaitingTimeP95,
    };
    match metric {
        OwdMean | OwdP50 | OwdP95 | OwdP99 | OwdP999 | OwdMax | Jitter | Pdv | PdvP99999
        | MouthToEar | FctP50 | FctP95 | FctP99 | WaitingTime | WaitingTimeP95 | WaitingTimeMax
        | GapMax => parse_dur(text).map(|d| d.as_secs_f64()),
        LossRatio | LateRatio => parse_percent(text),
        // 129 is the top of the wideband scale.
        RFactor => parse_score(text, 0.0, 129.0),
        Mos | MosMin => parse_score(text, 1.0, 4.5),
        Throughput | Goodput => parse_rate(text).map(|r| r.bps() as f64),
        TransfersFailed | TransfersRefused => parse_count(text, "transfers"),
        FlowsWaiting => parse_count(text, "flows"),
    }
}

/// A plain number within a scale.
fn parse_score(text: &str, low: f64, high: f64) -> Result<f64, UnitError> {
    let problem = match split_number(text) {
        Err(problem) => problem,
        Ok((n, "")) if (low..=high).contains(&n) => return Ok(n),
        Ok((n, "")) => format!("{n} is outside the scale"),
        Ok((_, unit)) => format!("`{unit}` is not a unit that fits here"),
    };
    Err(UnitError {
        found: text.to_owned(),
        problem,
        hint: format!("write a number from {low} to {high}, without a unit"),
    })
}

/// A number of `things`, which is also written of one.
fn parse_count(text: &str, things: &str) -> Result<f64, UnitError> {
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
    Err(UnitError {
        found: text.to_owned(),
        problem,
        hint: format!("write a whole number of {things} such as 0 {things}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_come_in_the_unit_of_their_metric() {
        assert_eq!(in_base_unit(SlaMetric::OwdP99, "20 ms"), Ok(0.02));
        assert_eq!(in_base_unit(SlaMetric::LossRatio, "50 %"), Ok(0.5));
        assert_eq!(in_base_unit(SlaMetric::Throughput, "1.5 Mb/s"), Ok(1.5e6));
        assert!(in_base_unit(SlaMetric::Jitter, "1 %").is_err());
        assert!(in_base_unit(SlaMetric::LossRatio, "0.1").is_err());
        assert_eq!(in_base_unit(SlaMetric::FctP95, "2 s"), Ok(2.0));
        assert_eq!(in_base_unit(SlaMetric::Goodput, "5 Mb/s"), Ok(5e6));
        let transfers = |text| in_base_unit(SlaMetric::TransfersFailed, text);
        assert_eq!(transfers("0 transfers"), Ok(0.0));
        assert_eq!(transfers("1 transfer"), Ok(1.0));
        let flows = |text| in_base_unit(SlaMetric::FlowsWaiting, text);
        assert_eq!((flows("0 flows"), flows("1 flow")), (Ok(0.0), Ok(1.0)));
        assert!(flows("1 transfer").is_err() && flows("1 s").is_err());
        assert_eq!(in_base_unit(SlaMetric::WaitingTimeP95, "6 s"), Ok(6.0));
        assert_eq!(in_base_unit(SlaMetric::Mos, "3.6"), Ok(3.6));
        assert_eq!(in_base_unit(SlaMetric::RFactor, "70"), Ok(70.0));
        for wrong in ["0.9", "4.6", "3.6 MOS", "good"] {
            assert!(in_base_unit(SlaMetric::MosMin, wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "1.5 transfers", "-1 transfers", "1 %", "x"] {
            assert!(transfers(wrong).is_err(), "{wrong}");
        }
    }
}
