//! Requirements where they were written: in the scenario, or in files of customers.

use super::files;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::schema::SlaSpec;

/// One requirement and its place.
pub(super) struct Entry {
    pub(super) spec: SlaSpec,
    /// The customer, if a file names one.
    pub(super) customer: Option<String>,
    /// The nodes where the customer's flows begin or end; none for the whole class.
    pub(super) site: Option<Site>,
    /// The tree that it stands in, and the path to it.
    pub(super) root: usize,
    pub(super) path: Vec<Step>,
}

/// Some nodes of a customer.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) name: String,
    pub(super) nodes: Vec<String>,
    /// The path to the names of its nodes.
    pub(super) path: Vec<Step>,
}

/// All requirements in order, and the trees that they stand in, the scenario first.
pub(super) fn collect(
    ctx: &mut Ctx<'_>,
    required: &[SlaSpec],
    root: &Node,
) -> (Vec<Node>, Vec<Entry>) {
    let (mut roots, mut entries) = (vec![root.clone()], Vec::new());
    for (i, spec) in required.iter().enumerate() {
        let path = steps!["sla", i].to_vec();
        let Some(file) = &spec.file else {
            entries.push(Entry {
                spec: spec.clone(),
                customer: None,
                site: None,
                root: 0,
                path,
            });
            continue;
        };
        let alone = SlaSpec {
            file: Some(file.clone()),
            ..SlaSpec::default()
        };
        if *spec != alone {
            let d = Diagnostic::error(codes::BAD_SLA, "`file` stands alone in its entry")
                .hint("write other requirements as entries of their own");
            ctx.error(d, root, &[&path[..], &steps!["file"]].concat());
            continue;
        }
        let at = [&path[..], &steps!["file"]].concat();
        files::read(ctx, file, root, &at, &mut roots, &mut entries);
        let most = files::MOST_ROWS;
        if entries.len() > most.rows {
            let message = format!("more than {} requirements together", most.rows);
            ctx.error(
                Diagnostic::error(most.code, message).hint(most.hint),
                root,
                &at,
            );
            break;
        }
    }
    (roots, entries)
}
