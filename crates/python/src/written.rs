//! What a scenario file says of policies, before it is a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use spillgate_import::ConfigImporter;
use spillgate_scenario::{Chosen, Diagnostics, Options, load, points_alone, port_policies};

use crate::files::Overlay;
use crate::job::input_error;
use crate::memory;
use crate::own::{Own, Parts};
use crate::waiting::waiting;

/// What a scenario writes, as JSON: `variants` with what they set, and of one point `policies`,
/// the names of all that there are; `links`: name, from, to, the rate that policies are made for in
/// b/s, and whether it is duplex; and `interfaces`: of each configuration those that go to links.
#[pyfunction]
#[pyo3(signature = (path, point, overrides = Vec::new(), confine = false, files = BTreeMap::new(), own = Parts::default()))]
pub(crate) fn written(
    py: Python<'_>,
    path: PathBuf,
    point: usize,
    overrides: Vec<String>,
    confine: bool,
    files: BTreeMap<PathBuf, Vec<u8>>,
    own: Parts<'_>,
) -> PyResult<String> {
    let options = Options {
        overrides,
        confine,
        memory: memory::available(),
        points: Chosen::These(vec![point]),
        own: Own::new(py, own)?.given,
        ..Options::default()
    };
    let found: Result<_, Diagnostics> = waiting(py, move || {
        let (files, importer) = (Overlay(files), ConfigImporter { strict: false });
        let variants = load(&path, &files, &importer, &options)?.scenario.variants;
        let alone = points_alone(&path, &files, &importer, &options)?;
        let ports = port_policies(&path, &files, &importer, &options)?;
        Ok((variants, alone, ports))
    })?;
    let (variants, alone, ports) = found.map_err(|e| input_error(py, &e))?;
    let links = alone.iter().flat_map(|s| &s.topology.links);
    let links: Vec<_> = links
        .map(|(name, link)| {
            serde_json::json!({
                "name": name,
                "from": link.from,
                "to": link.to,
                "rate": link.policy_rate().bps(),
                "duplex": link.duplex,
            })
        })
        .collect();
    let policies: Vec<_> = ports.iter().flat_map(|p| p.policies.keys()).collect();
    let configs = alone.iter().flat_map(|s| &s.configs);
    let interfaces: Vec<_> = configs.map(|c| &c.interfaces).collect();
    let record = serde_json::json!({
        "variants": variants,
        "policies": policies,
        "links": links,
        "interfaces": interfaces,
    });
    Ok(record.to_string())
}
