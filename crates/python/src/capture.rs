//! Captures, measured.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spillgate_capture::{CaptureError, Fault, Filter};
use spillgate_import::profile::{
    Classes, GroupBy, Profile, ProfileError, ProfileOptions, profile, profile_scenario,
};
use spillgate_import::{ConfigImporter, platform_by_name};
use spillgate_scenario::schema::CaptureMatch;
use spillgate_scenario::{Diagnostic, Diagnostics, Files as _, codes};

use crate::files::{Disk, OnDisk};
use crate::job::input_error;
use crate::waiting::waiting;

/// Most groups that are counted.
const MAX_GROUPS: u32 = 1_000_000;

/// A capture's rates, bursts and sizes with sources that are like them, as JSON; under `scenario`
/// the sources as a scenario.
///
/// `by` is `dscp`, `flow` or `class`; for the last, `config` names a router configuration and
/// `interface` one of its interfaces. `only` is a JSON object like that of a capture in a scenario.
#[pyfunction]
#[pyo3(signature = (path, by = "dscp", only = "{}", top = 20, config = None, platform = "ios", interface = None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn profile_capture(
    py: Python<'_>,
    path: PathBuf,
    by: &str,
    only: &str,
    top: usize,
    config: Option<PathBuf>,
    platform: &str,
    interface: Option<String>,
) -> PyResult<String> {
    let (by, only, platform) = (by.to_owned(), only.to_owned(), platform.to_owned());
    let measured = waiting(py, move || {
        let by = match (by.as_str(), config) {
            ("class", Some(config)) => {
                GroupBy::Class(classes(&config, &platform, interface.as_deref())?)
            }
            ("flow", _) => GroupBy::Flow,
            _ => GroupBy::Dscp,
        };
        let only: CaptureMatch = serde_json::from_str(&only).map_err(|e| {
            let d = Diagnostic::error(codes::BAD_VALUE, format!("--only: {e}"));
            let known =
                "src, dst, host, protocol, sport, dport, port, dscp, vlan, interface, direction";
            Diagnostics(vec![
                d.hint(format!("write KEY=VALUE with one of the keys {known}")),
            ])
        })?;
        let options = ProfileOptions {
            by,
            only: Filter::from(&only),
            top,
            max_groups: MAX_GROUPS,
        };
        measure(&path, &options)
    })?
    .map_err(|e| input_error(py, &e))?;
    let mut json =
        serde_json::to_value(&measured).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
    json["scenario"] = profile_scenario(&measured).into();
    Ok(json.to_string())
}

fn measure(path: &Path, options: &ProfileOptions) -> Result<Profile, Diagnostics> {
    let file = path.display().to_string();
    let error = |d: Diagnostic| Diagnostics(vec![d.in_file(&file)]);
    profile(&file, &OnDisk(path.to_path_buf()), options).map_err(|e| match e {
        ProfileError::Capture(e) => error(of_capture(&e)),
        ProfileError::Nothing(counts) => {
            let kinds: Vec<_> = counts.others().map(|(k, n)| format!("{n} {k}")).collect();
            let message = match (counts.records, counts.ip) {
                (0, _) => "the capture has no packets".to_owned(),
                (n, 0) => format!(
                    "none of the {n} records is an IP packet: {}",
                    kinds.join(", ")
                ),
                (_, n) => format!("none of the {n} IP packets is one of those that are asked for"),
            };
            error(
                Diagnostic::error(codes::NO_PACKETS, message)
                    .hint("capture again, or ask for others"),
            )
        }
        ProfileError::TooMany(limit) => {
            let message = format!("the capture has more than {limit} flows");
            let hint = "choose --by dscp, or some of the packets by --only";
            error(Diagnostic::error(codes::TOO_MANY_FLOWS, message).hint(hint))
        }
    })
}

fn of_capture(e: &CaptureError) -> Diagnostic {
    let code = match e.fault {
        Fault::Io => codes::UNREADABLE,
        Fault::Empty => codes::EMPTY,
        _ => codes::BAD_CAPTURE,
    };
    let message = match e.fault {
        Fault::Io | Fault::Empty | Fault::Compressed => e.message.clone(),
        _ => e.to_string(),
    };
    Diagnostic::error(code, message).hint(e.hint)
}

/// The classes of an interface's output policy.
fn classes(config: &Path, platform: &str, interface: Option<&str>) -> Result<Classes, Diagnostics> {
    let file = config.display().to_string();
    let error = |d: Diagnostic| Diagnostics(vec![d.in_file(&file)]);
    let bytes = Disk.read(config).map_err(|e| {
        error(Diagnostic::error(
            codes::UNREADABLE,
            format!("cannot read it: {e}"),
        ))
    })?;
    let found = ConfigImporter::default().any(&file, &bytes, platform_by_name(platform)?)?;
    let names = || {
        let with = found
            .interfaces
            .iter()
            .filter(|(_, i)| i.output_policy.is_some());
        let names: Vec<_> = with.map(|(n, _)| n.as_str()).collect();
        format!("interfaces with an output policy: {}", names.join(", "))
    };
    let Some(name) = interface else {
        let d = Diagnostic::error(codes::UNKNOWN_INTERFACE, "which interface is meant?");
        return Err(error(
            d.hint(format!("write --interface NAME; {}", names())),
        ));
    };
    let known = found
        .interfaces
        .iter()
        .find(|(n, _)| n.eq_ignore_ascii_case(name))
        .and_then(|(_, i)| i.output_policy.as_ref());
    let Some((policy, _)) = known else {
        let message = format!("there is no interface `{name}` with an output policy");
        return Err(error(
            Diagnostic::error(codes::UNKNOWN_INTERFACE, message).hint(names()),
        ));
    };
    Classes::of(&found.policies, policy).ok_or_else(|| {
        let message = format!("policy `{policy}` of `{name}` has no classes");
        error(Diagnostic::error(codes::BAD_POLICY, message).hint("choose --by dscp"))
    })
}
