//! Captures, measured.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use spillgate_capture::{CaptureError, Fault, Filter, Opener};
use spillgate_import::profile::{
    Classes, GroupBy, ProfileError, ProfileOptions, profile as measure, profile_scenario,
};
use spillgate_import::{ConfigImporter, platform_by_name};
use spillgate_scenario::schema::CaptureMatch;
use spillgate_scenario::{Diagnostic, Diagnostics, Files, codes};

use crate::bytes_of;

/// Most groups that are counted.
const MAX_GROUPS: u32 = 1_000_000;

/// What is to be measured of a capture.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileRequest {
    /// The capture.
    pub path: PathBuf,
    /// `dscp`, `flow`, or `class` for the classes of a configuration's policy.
    pub by: String,
    /// JSON object like that of a capture in a scenario: which packets.
    pub only: Value,
    /// How many groups are listed.
    pub top: usize,
    /// The configuration.
    pub config: Option<PathBuf>,
    /// Its dialect.
    pub platform: String,
    /// The interface whose output policy has the classes.
    pub interface: Option<String>,
}

impl Default for ProfileRequest {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            by: "dscp".to_owned(),
            only: Value::Object(serde_json::Map::new()),
            top: 20,
            config: None,
            platform: "ios".to_owned(),
            interface: None,
        }
    }
}

/// A capture's rates, bursts and sizes with sources that are like them; under `scenario` the
/// sources as a scenario. The configuration is one of `files`.
///
/// # Errors
/// What is wrong with the capture, the configuration or the request.
pub fn profile(
    request: &ProfileRequest,
    capture: &dyn Opener,
    files: &dyn Files,
) -> Result<Value, Diagnostics> {
    let by = match (request.by.as_str(), &request.config) {
        ("class", Some(config)) => GroupBy::Class(classes(request, config, files)?),
        ("flow", _) => GroupBy::Flow,
        _ => GroupBy::Dscp,
    };
    let only: CaptureMatch = serde_json::from_value(request.only.clone()).map_err(|e| {
        let d = Diagnostic::error(codes::BAD_VALUE, format!("--only: {e}"));
        let known =
            "src, dst, host, protocol, sport, dport, port, dscp, vlan, interface, direction";
        Diagnostics::from(d.hint(format!("write KEY=VALUE with one of the keys {known}")))
    })?;
    let options = ProfileOptions {
        by,
        only: Filter::from(&only),
        top: request.top,
        max_groups: MAX_GROUPS,
    };
    let file = request.path.display().to_string();
    let error = |d: Diagnostic| Diagnostics::from(d.in_file(&file));
    let measured = measure(&file, capture, &options).map_err(|e| error(refused(&e)))?;
    let scenario = profile_scenario(&measured);
    let mut json = serde_json::to_value(&measured).unwrap_or_default();
    json["scenario"] = scenario.into();
    Ok(json)
}

/// Why a capture was not measured.
fn refused(e: &ProfileError) -> Diagnostic {
    match e {
        ProfileError::Capture(e) => of_capture(e),
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
            Diagnostic::error(codes::NO_PACKETS, message).hint("capture again, or ask for others")
        }
        ProfileError::TooMany(limit) => {
            let message = format!("the capture has more than {limit} flows");
            let hint = "choose --by dscp, or some of the packets by --only";
            Diagnostic::error(codes::TOO_MANY_FLOWS, message).hint(hint)
        }
    }
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
fn classes(
    request: &ProfileRequest,
    config: &Path,
    files: &dyn Files,
) -> Result<Classes, Diagnostics> {
    let file = config.display().to_string();
    let error = |d: Diagnostic| Diagnostics::from(d.in_file(&file));
    let (bytes, platform) = (
        bytes_of(files, config)?,
        platform_by_name(&request.platform)?,
    );
    let found = ConfigImporter::default().any(&file, &bytes, platform)?;
    let names = || {
        let with = found
            .interfaces
            .iter()
            .filter(|(_, i)| i.output_policy.is_some());
        let names: Vec<_> = with.map(|(n, _)| n.as_str()).collect();
        format!("interfaces with an output policy: {}", names.join(", "))
    };
    let Some(name) = request.interface.as_deref() else {
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
