//! Results of finished runs.

use spillgate_output::{Report, SeriesRow};
use wasm_bindgen::prelude::*;

use crate::fault::json;

/// Results of finished runs. Values are in base units: s, b/s, packets, B, ratios.
#[wasm_bindgen]
pub struct Results(pub(crate) Report);

/// Whether a text with spaces between names has this one; one without names has all.
fn among(names: &str, one: &str) -> bool {
    let mut names = names.split_whitespace().peekable();
    names.peek().is_none() || names.any(|name| name == one)
}

#[wasm_bindgen]
#[allow(clippy::missing_errors_doc, reason = "none of these is known to fail")]
impl Results {
    /// Every value with its 95 % interval, as a JSON list; of the scopes that are named in a text
    /// with spaces between them, of all where none is.
    pub fn summary(&self, scopes: &str) -> Result<String, JsValue> {
        json(&(self.0).summary_of(|_, key| among(scopes, key.scope.name())))
    }

    /// The value of each run, as a JSON list; of the scopes that are named, as for `summary`.
    pub fn samples(&self, scopes: &str) -> Result<String, JsValue> {
        json(&(self.0).samples(|s| among(scopes, s.name()), |_| true))
    }

    /// Every requirement judged, as a JSON list.
    pub fn verdicts(&self) -> Result<String, JsValue> {
        json(&self.0.verdicts())
    }

    /// What the delays of classes cannot exceed, as a JSON list.
    pub fn bounds(&self) -> Result<String, JsValue> {
        json(&self.0.bounds())
    }

    /// Every other variant compared with one, run by run, as a JSON list.
    pub fn differences(&self) -> Result<String, JsValue> {
        json(&self.0.differences())
    }

    /// Classes that had not settled when measuring began, as a JSON list.
    pub fn transients(&self) -> Result<String, JsValue> {
        json(&self.0.transients())
    }

    /// What is said of the results, as a JSON object.
    pub fn words(&self) -> Result<String, JsValue> {
        json(&self.0.words())
    }

    /// The runs with their digests, as a JSON list.
    pub fn runs(&self) -> Result<String, JsValue> {
        json(&self.0.runs())
    }

    /// Delay distributions by class, pooled over the runs, as a JSON list.
    pub fn distributions(&self) -> Result<String, JsValue> {
        json(&self.0.distributions())
    }

    /// What flow admission did to each flow, as a JSON list.
    pub fn admission(&self) -> Result<String, JsValue> {
        json(&self.0.admission())
    }

    /// Whether there are fewer runs than the scenario asks for.
    pub fn is_partial(&self) -> bool {
        self.0.is_partial()
    }

    /// The events that the runs took.
    pub fn events(&self) -> f64 {
        self.0.events() as f64
    }

    /// The time series without their values, as a JSON list: `variant`, `run`, `place`, `metric`,
    /// `unit`, `start` and `step` in seconds.
    pub fn series(&self) -> Result<String, JsValue> {
        let head = |c: SeriesRow<'_>| {
            serde_json::json!({
                "variant": c.variant, "run": c.run, "place": c.place, "metric": c.metric,
                "unit": c.unit, "start": c.start, "step": c.step,
            })
        };
        json(&self.0.series().map(head).collect::<Vec<_>>())
    }

    /// The values of all time series, one after the other in the order of `series`, and before the
    /// values of each their number; NaN where undefined.
    pub fn values(&self) -> Vec<f64> {
        let mut out = Vec::new();
        for curve in self.0.series() {
            out.push(curve.v.len() as f64);
            out.extend_from_slice(curve.v);
        }
        out
    }
}
