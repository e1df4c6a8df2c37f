//! What leaves a class-based port at most, whatever comes.

use spillgate_core::curve::{Curve, Exact, UNITS};

use super::{Content, Tree};
use crate::guarantee::Load;

impl Tree {
    /// What leaves the port, if all classes to which packets come are shaped.
    ///
    /// What a shaper has let go in a time is what its bucket lost and gained in it: no more than
    /// the burst, what its rate makes of that time, and a packet that it lends. What it has let go
    /// leaves when the ring before it and its own transmission are over, so up to that time late.
    pub(super) fn lets_out(&self, load: &Load) -> Option<Curve> {
        let mut sum = Curve::zero();
        self.add_shapers(0, load, &mut sum)?;
        let late = load.service().curve().serves(load.ring_bytes()).ok()?;
        sum.jittered(late).ok()
    }

    fn add_shapers(&self, node: u16, load: &Load, sum: &mut Curve) -> Option<()> {
        let node = &self.nodes[usize::from(node)];
        for class in node.first..node.end {
            let longest = self.longest(class, load);
            let of = &self.classes[usize::from(class)];
            match (of.shaper, of.content) {
                _ if longest == 0 => {}
                (Some(shaper), _) => {
                    let bucket = &self.shapers[usize::from(shaper)];
                    let (least, most) = load.stretch(self.counted);
                    let counted = Exact::from_integer(longest.into()) / least;
                    let burst = Exact::from_integer(bucket.burst().into());
                    let lends = bucket.owes() || counted > burst;
                    let lent = if lends {
                        counted
                    } else {
                        Exact::from_integer(0)
                    };
                    let burst = most * (burst + lent) * UNITS;
                    let own = Curve::line(burst, most * i128::from(bucket.rate()));
                    *sum = sum.plus(&own.rounded_up().ok()?).ok()?;
                }
                (None, Content::Node(inner)) => self.add_shapers(inner, load, sum)?,
                (None, Content::Leaf(_)) => return None,
            }
        }
        Some(())
    }
}
