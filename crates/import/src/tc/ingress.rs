//! What arrives at a device: filters of `ingress` and `clsact`, which police and mark, and lead to
//! an `ifb`.

use std::collections::BTreeMap;

use spillgate_queueing::spec::{ClassBasedSpec, ClassSpec, DisciplineSpec, MatchSpec};
use spillgate_scenario::import::{ClassPlaces, PolicyPlaces, Spot};

use super::lower::Lowering;
use super::script::{INGRESS, Node, Placed};

impl Lowering<'_, '_, '_> {
    /// The policy of what arrives under a name; none if nothing of it is policed or marked.
    pub(super) fn ingress(&mut self, node: &Node, name: String) -> Option<()> {
        let all = self.device.filters.iter().enumerate();
        let mut filters: Vec<(usize, &Placed)> =
            all.filter(|(_, p)| p.filter.parent == INGRESS).collect();
        filters.sort_by_key(|(_, p)| p.filter.priority);
        let mut classes = Vec::new();
        for (i, placed) in filters {
            self.used.insert(i);
            classes.extend(self.arrives(placed, classes.len() + 1));
        }
        // Nothing comes to the classes behind one for all packets.
        let last = classes.iter().position(|(c, _)| c.matching.is_none());
        classes.truncate(last.map_or(usize::MAX, |last| last + 1));
        if classes.is_empty() {
            return None;
        }
        let (classes, places) = classes.into_iter().unzip();
        let spec = ClassBasedSpec {
            classes,
            ..ClassBasedSpec::default()
        };
        let places = PolicyPlaces {
            spot: self.spot(node),
            classes: places,
        };
        self.add(name, DisciplineSpec::ClassBased(spec), places);
        Some(())
    }

    /// The class of a filter; none if it does nothing that is modelled.
    fn arrives(&mut self, placed: &Placed, number: usize) -> Option<(ClassSpec, ClassPlaces)> {
        let (origin, acts) = (self.filter_origin(placed), &placed.filter.acts);
        for other in &acts.others {
            let reason = match other.strip_prefix("mirred egress redirect dev ") {
                Some(ifb) => {
                    let ifb = ifb.split(' ').next().unwrap_or(ifb);
                    format!(
                        "what arrives waits on {ifb}: name {ifb} as the interface of the link over which it comes"
                    )
                }
                None => format!("the action `{other}` is left out"),
            };
            self.report.unmodelled(origin, reason);
        }
        if acts.drops {
            let reason = "a filter that drops its packets is not modelled";
            self.report.unmodelled(origin, reason);
        }
        if acts.police.is_none() && acts.dscp.is_none() {
            return None;
        }
        let everything = placed.filter.matching == MatchSpec::default();
        let spot = Spot {
            line: origin.line,
            column: 1,
            width: 0,
        };
        let spec = ClassSpec {
            name: match everything {
                true => "class-default".to_owned(),
                false => format!("ingress-{number}"),
            },
            matching: (!everything).then(|| placed.filter.matching.clone()),
            police: acts.police.clone(),
            set_dscp: acts.dscp,
            ..ClassSpec::default()
        };
        let keys = ["match", "police", "set_dscp"].map(|key| (key.to_owned(), spot));
        let places = ClassPlaces {
            spot,
            keys: BTreeMap::from(keys),
        };
        Some((spec, places))
    }
}
