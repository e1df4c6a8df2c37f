//! Policies back to text.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use spillgate_export::{Exported, Filters, Scheduler, Source, TcOptions, ios, option, rate, tc};
use spillgate_import::{ConfigImporter, interface_bandwidth, interface_name, platform_by_name};
use spillgate_scenario::{Diagnostics, Options, Own, port_policies};

use crate::config::bytes_of;
use crate::files::Disk;
use crate::job::input_error;
use crate::memory;
use crate::waiting::waiting;

/// What is to be exported, and how.
struct Request {
    path: PathBuf,
    to_tc: bool,
    scenario: bool,
    platform: String,
    interface: Option<String>,
    link: Option<String>,
    variant: Option<String>,
    policy: Option<String>,
    rate: Option<String>,
    device: Option<String>,
    scheduler: Option<String>,
    filters: Option<String>,
    overrides: Vec<String>,
    confine: bool,
}

/// Why code of one's own is not exported.
const NO_ROUTER: &str = "no router has an AQM or a scheduler of one's own, so a scenario that names one cannot be exported";

/// The policies of a configuration or of a scenario's links as IOS text or as `tc` commands: JSON
/// with `text` and `notes`.
#[pyfunction]
#[pyo3(signature = (path, to, scenario, platform = "ios", interface = None, link = None, variant = None, policy = None, rate = None, device = None, scheduler = None, filters = None, overrides = Vec::new(), confine = false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn export(
    py: Python<'_>,
    path: PathBuf,
    to: &str,
    scenario: bool,
    platform: &str,
    interface: Option<String>,
    link: Option<String>,
    variant: Option<String>,
    policy: Option<String>,
    rate: Option<String>,
    device: Option<String>,
    scheduler: Option<String>,
    filters: Option<String>,
    overrides: Vec<String>,
    confine: bool,
) -> PyResult<String> {
    let request = Request {
        path,
        to_tc: to == "tc",
        scenario,
        platform: platform.to_owned(),
        interface,
        link,
        variant,
        policy,
        rate,
        device,
        scheduler,
        filters,
        overrides,
        confine,
    };
    let exported = waiting(py, move || run(&request))?.map_err(|e| input_error(py, &e))?;
    let notes: Vec<_> = exported
        .notes
        .iter()
        .map(|n| serde_json::json!({"place": n.place, "reason": n.reason}))
        .collect();
    Ok(serde_json::json!({"text": exported.text, "notes": notes}).to_string())
}

fn run(r: &Request) -> Result<Exported, Diagnostics> {
    let source = if r.scenario {
        of_scenario(r)?
    } else {
        of_configuration(r, &r.path)?
    };
    if r.to_tc {
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
        tc(&source, &options)
    } else {
        Ok(ios(&source))
    }
}

fn of_scenario(r: &Request) -> Result<Source, Diagnostics> {
    let platform = platform_by_name(&r.platform)?;
    let options = Options {
        overrides: r.overrides.clone(),
        confine: r.confine,
        memory: memory::available(),
        own: Own::refused(NO_ROUTER),
        ..Options::default()
    };
    let all = port_policies(&r.path, &Disk, &ConfigImporter::default(), &options)?;
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

fn of_configuration(r: &Request, path: &Path) -> Result<Source, Diagnostics> {
    let platform = platform_by_name(&r.platform)?;
    let imported =
        ConfigImporter::default().any(&path.display().to_string(), &bytes_of(path)?, platform)?;
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
