//! What a scenario file says of policies, before it is a plan.

use std::path::Path;

use serde_json::{Value, json};
use spillgate_import::ConfigImporter;
use spillgate_scenario::{Diagnostics, Files, Options, load, points_alone, port_policies};

/// What a scenario writes: `variants` with what they set, and of the points that are chosen
/// `policies`, the names of all that there are; `links`: name, from, to, the rate that policies are
/// made for in b/s, and whether it is duplex; and `interfaces`: of each configuration those that go
/// to links.
///
/// # Errors
/// What is wrong with the scenario.
pub fn written(path: &Path, files: &dyn Files, options: &Options) -> Result<Value, Diagnostics> {
    let importer = ConfigImporter { strict: false };
    let variants = load(path, files, &importer, options)?.scenario.variants;
    let alone = points_alone(path, files, &importer, options)?;
    let ports = port_policies(path, files, &importer, options)?;
    let links = alone.iter().flat_map(|s| &s.topology.links);
    let links: Vec<_> = links
        .map(|(name, link)| {
            json!({
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
    Ok(json!({
        "variants": variants,
        "policies": policies,
        "links": links,
        "interfaces": interfaces,
    }))
}
