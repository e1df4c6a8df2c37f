//! What is thrown.

use js_sys::{Error, Reflect};
use spillgate_scenario::Diagnostics;
use wasm_bindgen::JsValue;

/// An error with a message.
pub(crate) fn fault(message: impl std::fmt::Display) -> JsValue {
    Error::new(&message.to_string()).into()
}

/// Bad input: what is wrong, in words and as `diagnostics`.
pub(crate) fn bad_input(diagnostics: &Diagnostics) -> JsValue {
    let error = fault(diagnostics);
    let json = serde_json::to_string(&diagnostics.0).unwrap_or_default();
    // An error is an object that takes any key.
    let _ = Reflect::set(&error, &"diagnostics".into(), &json.into());
    error
}

/// A document as JSON text.
pub(crate) fn json(document: &impl serde::Serialize) -> Result<String, JsValue> {
    serde_json::to_string(document).map_err(fault)
}
