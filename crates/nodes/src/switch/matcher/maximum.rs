//! Matching of maximum weight, exact.
//!
//! With the length of queues, or the age of their first cell, as weight it carries all admissible
//! traffic with independent arrivals (N. McKeown, A. Mekkittikul, V. Anantharam and J. Walrand,
//! Achieving 100 % throughput in an input-queued switch, IEEE Transactions on Communications 47(8),
//! 1999). The assignment problem is solved by shortest augmenting paths with potentials (H. Kuhn
//! 1955, J. Munkres 1957), O(n³).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rng;

use super::{Match, Weights};
use crate::switch::ports::{Matching, Requests};
use spillgate_core::Problem;

/// What a request weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// The packets that wait.
    #[default]
    Length,
    /// How long the first of them has waited.
    Age,
}

/// Parameters of the matching of maximum weight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MaximumSpec {
    /// What a request weighs. Default `length`.
    pub weight: Weight,
}

impl MaximumSpec {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "others have parameters that can be wrong"
    )]
    pub(super) fn resolve(&self, _: usize) -> Result<Maximum, Problem> {
        Ok(Maximum {
            weight: self.weight,
            assignment: Assignment::default(),
        })
    }
}

/// A running matching of maximum weight.
#[derive(Clone, Debug)]
pub(crate) struct Maximum {
    weight: Weight,
    assignment: Assignment,
}

impl Match for Maximum {
    fn find<W: Weights>(&mut self, r: &Requests, w: &W, _: &mut Rng, found: &mut Matching) {
        let n = r.ports();
        self.assignment.reset(n);
        for (i, o) in r.pairs() {
            let weight = match self.weight {
                Weight::Length => w.length(i, o),
                // A cell that has just arrived weighs more than no cell.
                Weight::Age => w.waited(i, o).saturating_add(1),
            };
            // The bound keeps sums of 256 weights, and their differences, within 64 bits.
            self.assignment.cost[i * n + o] = -(weight.min(1 << 52) as i64);
        }
        self.assignment.solve(n);
        for output in 0..n {
            let input = self.assignment.row_of[output + 1] - 1;
            if self.assignment.cost[input * n + output] < 0 {
                found.add(input, output);
            }
        }
    }

    fn is_maximal(&self) -> bool {
        true
    }

    fn asks_order(&self) -> bool {
        self.weight == Weight::Age
    }
}

/// Minimum-cost assignment of rows to columns. Rows and columns of the search count from 1; 0 is
/// none.
#[derive(Clone, Debug, Default)]
struct Assignment {
    /// Cost by row, then column.
    cost: Vec<i64>,
    row_potential: Vec<i64>,
    column_potential: Vec<i64>,
    /// The row that is assigned to each column.
    row_of: Vec<usize>,
    /// The column before each on the shortest path.
    before: Vec<usize>,
    /// The least reduced cost by which each column was reached.
    least: Vec<i64>,
    is_done: Vec<bool>,
}

impl Assignment {
    fn reset(&mut self, n: usize) {
        let fill = |v: &mut Vec<i64>, len: usize| {
            v.clear();
            v.resize(len, 0);
        };
        fill(&mut self.cost, n * n);
        fill(&mut self.row_potential, n + 1);
        fill(&mut self.column_potential, n + 1);
        fill(&mut self.least, n + 1);
        for v in [&mut self.row_of, &mut self.before] {
            v.clear();
            v.resize(n + 1, 0);
        }
        self.is_done.resize(n + 1, false);
    }

    fn solve(&mut self, n: usize) {
        for row in 1..=n {
            self.row_of[0] = row;
            self.least.fill(i64::MAX);
            self.is_done.fill(false);
            let mut column = 0;
            while self.row_of[column] != 0 {
                column = self.step(n, column);
            }
            while column != 0 {
                let before = self.before[column];
                self.row_of[column] = self.row_of[before];
                column = before;
            }
        }
    }

    /// Adds `column` to the tree of shortest paths, and returns the next nearest.
    fn step(&mut self, n: usize, column: usize) -> usize {
        self.is_done[column] = true;
        let row = self.row_of[column];
        let (mut nearest, mut delta) = (0, i64::MAX);
        for j in (1..=n).filter(|&j| !self.is_done[j]) {
            let cost = self.cost[(row - 1) * n + j - 1];
            let reduced = cost - self.row_potential[row] - self.column_potential[j];
            if reduced < self.least[j] {
                (self.least[j], self.before[j]) = (reduced, column);
            }
            if self.least[j] < delta {
                (delta, nearest) = (self.least[j], j);
            }
        }
        for j in 0..=n {
            if self.is_done[j] {
                self.row_potential[self.row_of[j]] += delta;
                self.column_potential[j] -= delta;
            } else {
                self.least[j] -= delta;
            }
        }
        nearest
    }
}
