//! The order in which things that name each other can be built, and the
//! cycles in which they cannot.

/// An order of the nodes in which each comes after those it points to.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The nodes; edges that close a cycle are disregarded.
    pub(crate) nodes: Vec<usize>,
    /// For each edge that closes a cycle: its source, its position among the
    /// source's edges, and the nodes of the cycle from its target to its source.
    pub(crate) cycles: Vec<(usize, usize, Vec<usize>)>,
}

/// Most nodes of a cycle that are kept for the message.
const SHOWN: usize = 8;

/// Depth-first search with its own stack, so that long chains cannot exhaust the thread's.
pub(crate) fn order(edges: &[Vec<usize>]) -> Order {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        /// On the stack, at this height.
        Open(usize),
        Done,
    }
    let mut state = vec![State::New; edges.len()];
    let mut order = Order::default();
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for root in 0..edges.len() {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open(0);
        stack.push((root, 0));
        while let Some((node, next)) = stack.pop() {
            let Some(&target) = edges[node].get(next) else {
                state[node] = State::Done;
                order.nodes.push(node);
                continue;
            };
            stack.push((node, next + 1));
            match state[target] {
                State::New => {
                    state[target] = State::Open(stack.len());
                    stack.push((target, 0));
                }
                State::Open(height) => {
                    let cycle = stack[height..].iter().take(SHOWN).map(|(n, _)| *n);
                    order.cycles.push((node, next, cycle.collect()));
                }
                State::Done => {}
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_come_first() {
        let o = order(&[vec![1, 2], vec![2], vec![], vec![0]]);
        assert_eq!(o.nodes, [2, 1, 0, 3]);
        assert!(o.cycles.is_empty());
    }

    #[test]
    fn cycles_are_found_once_per_closing_edge() {
        let o = order(&[vec![1], vec![2], vec![0, 2]]);
        assert_eq!(o.cycles, [(2, 0, vec![0, 1, 2]), (2, 1, vec![2])]);
        assert_eq!(o.nodes.len(), 3);
    }

    #[test]
    fn a_chain_of_a_million_is_no_matter() {
        let n = 1_000_000;
        let edges: Vec<_> = (1..=n)
            .map(|i| if i < n { vec![i] } else { vec![] })
            .collect();
        assert_eq!(order(&edges).nodes[0], n - 1);
    }
}
