//! The E-model for a call whose delay and loss are known.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use spillgate_voice::Connection;
use spillgate_voice::spec::VoiceSpec;

/// The rating of a call as JSON: its parts by name, `r` and `mos`.
///
/// `voice` is a call as scenarios write it, as JSON; `delay` its delay from mouth to ear in
/// seconds, `loss` the share of its packets that are missing, `burst_ratio` how they cluster.
/// Raises ValueError for values out of range.
#[pyfunction]
pub(crate) fn rate_call(voice: &str, delay: f64, loss: f64, burst_ratio: f64) -> PyResult<String> {
    let bad = |e: String| Err(PyValueError::new_err(e));
    let spec: VoiceSpec = match serde_json::from_str(voice) {
        Ok(spec) => spec,
        Err(e) => return bad(e.to_string()),
    };
    let profile = match spec.profile(None) {
        Ok(profile) => profile,
        Err(p) => return bad(format!("{}: {} ({})", p.path, p.message, p.hint)),
    };
    for (name, value, low, high) in [
        ("delay", delay, 0.0, 60.0),
        ("loss", loss, 0.0, 1.0),
        ("burst_ratio", burst_ratio, 1.0, 8.0),
    ] {
        if !(low..=high).contains(&value) {
            return bad(format!("{name}: {value} is outside {low} to {high}"));
        }
    }
    let rated = profile.model.rate(&Connection {
        scale: profile.scale,
        delay_ms: 1e3 * delay,
        round_trip_ms: 2e3 * delay,
        ie: profile.ie,
        bpl: profile.bpl,
        loss,
        burst_ratio,
    });
    let parts = serde_json::json!({
        "ro": rated.ro,
        "is": rated.is,
        "idte": rated.idte,
        "idle": rated.idle,
        "idd": rated.idd,
        "ie_eff": rated.ie_eff,
        "r": rated.r,
        "mos": profile.scale.mos(rated.r),
    });
    serde_json::to_string(&parts).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}
