//! Policies back to text.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value, json};
use spillgate_export::{Exported, Filters, Scheduler, Source, TcOptions, ios, option, rate, tc};
use spillgate_import::{ConfigImporter, interface_bandwidth, interface_name, platform_by_name};
use spillgate_scenario::{Diagnostics, Files, Options, port_policies};

use crate::bytes_of;

/// What is to be exported, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExportRequest {
    /// A scenario or a router configuration.
    pub path: PathBuf,
    /// Whether it is a scenario.
    pub scenario: bool,
    /// `tc` commands for Linux, rather than IOS text.
    pub to_tc: bool,
    /// Whose dialect the configuration is in, and for IOS text is to be in.
    pub platform: String,
    /// The interface of a configuration, or the name that the link of a scenario gets.
    pub interface: Option<String>,
    /// The link of a scenario; all with a policy if not given.
    pub link: Option<String>,
    /// The variant of a scenario.
    pub variant: Option<String>,
    /// The policy of a configuration, if it is on no interface.
    pub policy: Option<String>,
    /// The rate that shares are of, with unit.
    pub rate: Option<String>,
    /// `tc`: the device.
    pub device: Option<String>,
    /// `tc`: the scheduler of classes.
    pub scheduler: Option<String>,
    /// `tc`: the kind of filters.
    pub filters: Option<String>,
}

impl Default for ExportRequest {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            scenario: false,
            to_tc: false,
            platform: "ios".to_owned(),
            interface: None,
            link: None,
            variant: None,
            policy: None,
            rate: None,
            device: None,
            scheduler: None,
            filters: None,
        }
    }
}

/// Why code of one's own is not exported.
pub const NO_ROUTER: &str = "no router has an AQM or a scheduler of one's own, so a scenario that names one cannot be exported";

/// The policies of a configuration or of a scenario's links as IOS text or as `tc` commands:
/// `text`, and as `notes` what it does not say. `options` are those of a scenario.
///
/// # Errors
/// What is wrong with the input or the request.
pub fn export(
    request: &ExportRequest,
    files: &dyn Files,
    options: &Options,
) -> Result<Value, Diagnostics> {
    let source = if request.scenario {
        of_scenario(request, files, options)?
    } else {
        of_configuration(request, files)?
    };
    let exported = if request.to_tc {
        to_tc(request, &source)?
    } else {
        ios(&source)
    };
    let notes = exported.notes.iter();
    let notes: Vec<_> = notes
        .map(|n| json!({"place": n.place, "reason": n.reason}))
        .collect();
    Ok(json!({"text": exported.text, "notes": notes}))
}

fn to_tc(r: &ExportRequest, source: &Source) -> Result<Exported, Diagnostics> {
    let options = TcOptions {
        device: r.device.as_deref(),
        scheduler: option(
            "scheduler",
            r.scheduler.as_deref(),
            &Scheduler::ALL,
            Scheduler::name,
        )?,
        filters: option(
            "kind of filters",
            r.filters.as_deref(),
            &Filters::ALL,
            Filters::name,
        )?,
    };
    tc(source, &options)
}

fn of_scenario(
    r: &ExportRequest,
    files: &dyn Files,
    options: &Options,
) -> Result<Source, Diagnostics> {
    let platform = platform_by_name(&r.platform)?;
    let all = port_policies(&r.path, files, &ConfigImporter::default(), options)?;
    let variant = Source::variant(&all, r.variant.as_deref())?;
    let mut source = Source::of_links(variant, platform, r.link.as_deref())?;
    if let (Some(name), [port]) = (&r.interface, &mut source.ports[..]) {
        let name = interface_name(name);
        let same = source.inputs.iter_mut();
        same.filter(|i| i.name.as_ref() == Some(&port.name))
            .for_each(|i| i.name = Some(name.clone()));
        port.name = name;
    }
    Ok(source)
}

fn of_configuration(r: &ExportRequest, files: &dyn Files) -> Result<Source, Diagnostics> {
    let platform = platform_by_name(&r.platform)?;
    let (file, bytes) = (r.path.display().to_string(), bytes_of(files, &r.path)?);
    let imported = ConfigImporter::default().any(&file, &bytes, platform)?;
    let given = r.rate.as_deref().map(rate).transpose()?;
    let interface = r.interface.as_deref().map(interface_name);
    let mut source = match &r.policy {
        Some(policy) => {
            let port = interface
                .as_deref()
                .or(r.device.as_deref())
                .unwrap_or("eth0");
            Source::of_policy(&imported, platform, policy, port, given)?
        }
        // `tc` needs a rate; for IOS a bandwidth that the configuration does not say is not made
        // up.
        None => Source::of_configuration(&imported, platform, interface.as_deref(), &|name| {
            interface_bandwidth(name).filter(|_| r.to_tc)
        })?,
    };
    if given.is_some() {
        source.ports.iter_mut().for_each(|p| p.rate = given);
    }
    Ok(source)
}
