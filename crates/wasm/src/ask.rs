//! Files, and questions that need no run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use spillgate_core::show;
use spillgate_documents::{
    ExportRequest, NO_CURVE, NO_ROUTER, ProfileRequest, lint_configuration as of_config,
    lint_scenario,
};
use spillgate_lint::Selection;
use spillgate_scenario::{Chosen, Files as _, Options, Own};
use wasm_bindgen::prelude::*;

use crate::fault::{bad_input, fault, json};

/// Why no code of one's own runs here.
const NO_CODE: &str = "a page runs no AQM or scheduler of one's own; use the Python package";

/// Files in memory.
#[wasm_bindgen]
#[derive(Default)]
pub struct Files(pub(crate) BTreeMap<PathBuf, Vec<u8>>);

#[wasm_bindgen]
impl Files {
    /// No files.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file, or replaces it.
    pub fn put(&mut self, path: &str, bytes: Vec<u8>) {
        self.0.insert(PathBuf::from(path), bytes);
    }
}

/// How a scenario is loaded, as a page asks for it.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
pub(crate) struct Asked {
    set: Vec<String>,
    seed: Option<u64>,
    runs: Option<u32>,
    variant: Option<String>,
    /// Bytes that there are for points and results.
    pub(crate) memory: Option<u64>,
}

impl Asked {
    pub(crate) fn parse(json: &str) -> Result<Self, JsValue> {
        serde_json::from_str(json).map_err(fault)
    }

    /// The options of the loader; `why` no code of one's own is accepted.
    pub(crate) fn options(self, why: &'static str) -> Options {
        Options {
            overrides: self.set,
            seed: self.seed,
            runs: self.runs,
            memory: self.memory,
            points: self.variant.map_or(Chosen::All, Chosen::Named),
            own: Own::refused(why),
            ..Options::default()
        }
    }
}

pub(crate) fn options(json: &str) -> Result<Options, JsValue> {
    Ok(Asked::parse(json)?.options(NO_CODE))
}

/// Version, commit, behavior of the engine, its rules, and `catalog`: what can be named, and the
/// words for what is measured. JSON.
#[wasm_bindgen]
pub fn about() -> String {
    let about = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "commit": spillgate_documents::COMMIT,
        "behavior": spillgate_sim::BEHAVIOR,
        "catalog": spillgate_documents::catalog(),
        "rules": &*spillgate_lint::RULES,
    });
    about.to_string()
}

/// The JSON Schema of scenario files, or of customers' files of requirements (`sla`).
///
/// # Errors
/// If there is no such schema.
#[wasm_bindgen]
pub fn schema(of: &str) -> Result<String, JsValue> {
    match of {
        "scenario" => Ok(spillgate_scenario::json_schema().to_string()),
        "sla" => Ok(spillgate_scenario::customer_schema().to_string()),
        _ => Err(fault(format!("there is no schema of {of:?}"))),
    }
}

/// YAML as JSON, without looking at what it means.
///
/// # Errors
/// Bad input.
#[wasm_bindgen]
pub fn yaml_to_json(text: &str) -> Result<String, JsValue> {
    let value = spillgate_scenario::yaml_to_json(text).map_err(|e| bad_input(&e))?;
    Ok(value.to_string())
}

/// What the rules find in a scenario.
///
/// # Errors
/// Bad input.
#[wasm_bindgen]
pub fn lint(files: &Files, path: &str, asked: &str) -> Result<String, JsValue> {
    let options = options(asked)?;
    let found = lint_scenario(Path::new(path), &files.0, &options, &Selection::default());
    Ok(found.map_err(|e| bad_input(&e))?.to_string())
}

/// What the rules find in a router configuration.
///
/// # Errors
/// Bad input.
#[wasm_bindgen]
pub fn lint_configuration(files: &Files, path: &str, platform: &str) -> Result<String, JsValue> {
    let found = of_config(Path::new(path), &files.0, platform, &Selection::default());
    Ok(found.map_err(|e| bad_input(&e))?.to_string())
}

/// What is understood of a router configuration, or of one interface of it.
///
/// # Errors
/// Bad input.
#[wasm_bindgen]
#[allow(clippy::needless_pass_by_value, reason = "it comes from a page")]
pub fn understand(
    files: &Files,
    path: &str,
    platform: &str,
    interface: Option<String>,
) -> Result<String, JsValue> {
    let (path, interface) = (Path::new(path), interface.as_deref());
    let found = spillgate_documents::understand(path, &files.0, platform, interface, false);
    json(&found.map_err(|e| bad_input(&e))?)
}

/// The classes in an output of `show policy-map interface` with their rates.
///
/// # Errors
/// Bad input.
#[wasm_bindgen]
pub fn offered(files: &Files, path: &str) -> Result<String, JsValue> {
    let found = spillgate_documents::offered(Path::new(path), &files.0);
    json(&found.map_err(|e| bad_input(&e))?)
}

/// Whether bytes look like an output of `show policy-map interface`.
#[wasm_bindgen]
pub fn is_show_output(bytes: &[u8]) -> bool {
    spillgate_import::is_show_output(bytes)
}

/// A capture's rates, bursts and sizes; `request` is a JSON object: `path`, `by` (`dscp`, `flow`,
/// `class`), `only`, `top`, and for classes `config`, `platform`, `interface`.
///
/// # Errors
/// Bad input.
#[wasm_bindgen]
pub fn profile(files: &Files, request: &str) -> Result<String, JsValue> {
    let request: ProfileRequest = serde_json::from_str(request).map_err(fault)?;
    let capture = files.0.opener(&request.path).map_err(fault)?;
    let found = spillgate_documents::profile(&request, &*capture, &files.0);
    Ok(found.map_err(|e| bad_input(&e))?.to_string())
}

/// Policies as text; `request` is a JSON object: `path`, `scenario`, `to_tc`, `platform`,
/// `interface`, `link`, `variant`, `policy`, `rate`, `device`, `scheduler`, `filters`.
///
/// # Errors
/// Bad input.
#[wasm_bindgen]
pub fn export_policy(files: &Files, request: &str, asked: &str) -> Result<String, JsValue> {
    let request: ExportRequest = serde_json::from_str(request).map_err(fault)?;
    let options = Asked::parse(asked)?.options(NO_ROUTER);
    let found = spillgate_documents::export(&request, &files.0, &options);
    Ok(found.map_err(|e| bad_input(&e))?.to_string())
}

/// What cannot be exceeded at each point of a scenario.
///
/// # Errors
/// Bad input.
#[wasm_bindgen]
pub fn bounds(files: &Files, path: &str, asked: &str) -> Result<String, JsValue> {
    let options = Asked::parse(asked)?.options(NO_CURVE);
    let found = spillgate_documents::bounds(Path::new(path), &files.0, &options);
    Ok(found.map_err(|e| bad_input(&e))?.to_string())
}

/// Values in fitting units, each with its half-width where that is a number.
#[wasm_bindgen]
pub fn format(values: &[f64], halves: &[f64], unit: &str) -> Vec<String> {
    let half = |i: usize| halves.get(i).copied().unwrap_or(f64::NAN);
    let texts = values.iter().enumerate();
    texts
        .map(|(i, v)| show::with_interval(*v, half(i), unit))
        .collect()
}
