//! How long a configuration of 50,000 lines takes to import.
//!
//! `cargo run --release -p spillgate-import --example time_import [LINES]`

#[path = "../tests/common/mod.rs"]
mod common;

use spillgate_import::ConfigImporter;
use spillgate_scenario::Platform;

fn main() {
    let lines: usize = std::env::args()
        .nth(1)
        .and_then(|a| a.parse().ok())
        .unwrap_or(50_000);
    let (text, written) = common::configuration(lines / 50);
    let mut best = f64::INFINITY;
    for _ in 0..10 {
        #[expect(clippy::disallowed_methods, reason = "this measures the host")]
        let start = std::time::Instant::now();
        let read = ConfigImporter::default().read("large.cfg", text.as_bytes(), Platform::Ios);
        best = best.min(start.elapsed().as_secs_f64());
        assert!(read.is_ok());
    }
    println!("{} lines: {:.1} ms", written.lines, best * 1e3);
}
