//! Spillgate for a page in a browser: classes and nothing else, as in the Python package.
//!
//! Documents come and go as JSON text, columns of numbers as typed arrays. Nothing here has
//! threads: whoever holds a [`Job`](job::Job) or a [`Watch`](watch::Watch) gives it time by
//! `advance`, a few thousand events a call, and may stop at any time.
//!
//! - `Files`: files in memory, by `put(path, bytes)`.
//! - `Job(files, path, options)`: a scenario, loaded; `describe`, `memory`, `advance`, `progress`,
//!   `results`, `explain`, and `watch`, which begins a [`Watch`](watch::Watch).
//! - `Results`: tables and sentences as JSON, time series as numbers.
//! - `Watch`: a run at one port; `advance`, `fraction`, and `finish`, which gives a `Watched` with
//!   its columns and `results`.
//! - `about`, `schema`, `yaml_to_json`, `lint`, `lint_configuration`, `understand`, `offered`,
//!   `is_show_output`, `profile`, `export_policy`, `bounds`, `format`, `last_panic`.
//!
//! Bad input is thrown as an `Error` whose `diagnostics` is a JSON list of what is wrong and where.
//! A panic is a trap (`RuntimeError`). After it `last_panic` tells what it said, and nothing else
//! of this module may be called.

pub mod ask;
mod fault;
pub mod job;
pub mod results;
pub mod watch;

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

thread_local! {
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps what a panic says.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| {
        let said = info.to_string();
        PANIC.with(|last| last.replace(Some(said)));
    }));
}

/// What the last panic said.
#[wasm_bindgen]
pub fn last_panic() -> Option<String> {
    PANIC.with(|last| last.borrow().clone())
}
