//! From what was written to what it means: names resolved, lines of one
//! class checked against each other, everything as the scenario's types.

mod condition;
mod contradictions;
mod defaults;
mod graph;
mod interface;
mod lists;
mod matching;
mod originals;
mod places;
mod policy;
pub(crate) mod rates;
mod references;

use spillgate_scenario::Imported;

pub use condition::protocol_name;
pub(crate) use matching::MAX_ENTRIES;
pub(crate) use places::spot;

use super::ast::Config;
use super::fault::{Fault, code};
use super::platform::PlatformProfile;
use super::report::Report;
use spillgate_core::suggest::nearest;

/// Lowers a configuration. What cannot be is recorded; the result is then incomplete.
pub(crate) fn lower(
    config: &mut Config<'_>,
    profile: &PlatformProfile,
    report: &mut Report<'_>,
) -> Imported {
    let mut names = Suggestions { left: 200 };
    references::resolve(config, report, &mut names);
    contradictions::resolve(config, profile, report);
    let config = &*config;
    let any = config.class_maps.iter().filter(|(_, m)| m.any);
    let mut imported = Imported {
        // `/` of a class's name is `_` in a policy.
        match_any: any.map(|(name, _)| name.replace('/', "_")).collect(),
        rings: profile.rings,
        ..Imported::default()
    };
    let mut classes = matching::lower(config, report, &mut names);
    let rates = rates::enclosing(config, profile);
    let at_arrival = interface::at_arrival(config);
    let defaults = defaults::Defaults {
        profile,
        rates: &rates,
        at_arrival: &at_arrival,
    };
    policy::lower(config, &defaults, &mut classes, report, &mut imported);
    interface::lower(config, profile, report, &mut imported);
    rates::check_reserved(config, &rates, profile, report);
    imported.originals = originals::of(config, &imported, &report.listed());
    if imported.policies.is_empty() {
        let fault = Fault::new(
            code::NOTHING_FOUND,
            1,
            "the configuration has no policy-map",
        )
        .hint("is this the running-config of the right router?");
        report.warn(1, "", fault);
    }
    imported
}

/// What is done with a line that a router would not take.
const LEFT_OUT: &str = "the line is left out, as the router refuses it";

/// Suggestions for misspelt names.
struct Suggestions {
    /// How many more are looked for: a file in which every name is unknown
    /// must not cost the square of its length.
    left: u32,
}

impl Suggestions {
    /// The error for a name that is not defined.
    fn undefined<'n>(
        &mut self,
        code: &'static str,
        what: &str,
        column: u32,
        name: &str,
        defined: impl Iterator<Item = &'n str>,
    ) -> Fault {
        let near = if self.left > 0 {
            self.left -= 1;
            nearest(name, defined)
        } else {
            None
        };
        let fault = Fault::new(code, column, format!("{what} `{name}` is not defined")).found(name);
        match near {
            Some(near) => fault.hint(format!("did you mean `{near}`?")),
            None => fault.hint(format!("define {what} `{name}`, or take this line out")),
        }
    }
}
