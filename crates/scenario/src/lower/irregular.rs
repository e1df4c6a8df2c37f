//! Links with a varying rate, with cells, with random loss, or with reordering.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::quantity::parse_rate_or_zero;
use spillgate_core::units::{MAX_DUR, parse_dur};
use spillgate_core::{Dur, Percent, Problem};
use spillgate_nodes::atm::Carrier;
use spillgate_nodes::server::{Rates, ServerPlan, ServerReader};

use super::links::Links;
use super::period::Times;
use super::rows;
use crate::beside::Expected;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Span, Step, steps};
use crate::schema::{LinkSpec, LossSpec, ReorderSpec};
use crate::table::{self, Cell, Most};
use crate::text::{clamp, decode};

/// The irregularities of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct Irregular {
    pub(super) server: Option<Arc<ServerPlan>>,
    pub(super) loss: Option<LossSpec>,
    pub(super) reorder: Option<ReorderSpec>,
}

const RATES: Expected = Expected::table(
    "the first line is `time,rate`, the others are such as `0.5 s,12 Mb/s`",
    |text| table::names_columns(text, &["time", "rate"]),
);

const TIMES: Expected = Expected::table(
    "each line is a time in whole milliseconds, such as 27",
    |text| {
        text.lines()
            .next()
            .is_none_or(|l| l.trim().parse::<u64>().is_ok())
    },
);

/// Most lines of a trace.
const MAX_LINES: usize = 10_000_000;
const MOST_RATES: Most = Most {
    rows: MAX_LINES,
    called: "rates",
    code: codes::BAD_RATES,
    hint: "leave out rows, or let the trace repeat",
};

/// The irregularities of links, by the names as written; errors are reported.
pub(super) fn read<'a>(
    ctx: &mut Ctx<'_>,
    root: &Node,
    links: &Links<'a>,
    times: &Times,
) -> BTreeMap<&'a str, Irregular> {
    let mut all = BTreeMap::new();
    for (name, spec) in links.specs() {
        let at = |key: &str| steps!["topology", "links", name, key].to_vec();
        let process = spec.rate_process.as_ref().and_then(|process| {
            let mut reader = ProcessReader {
                ctx: &mut *ctx,
                root,
                base: at("rate_process"),
                end: times.end(),
            };
            process.resolve(spec.rate, &mut reader)
        });
        let circuit = spec.atm.as_ref().and_then(|atm| {
            let link = Carrier {
                rate: spec.rate,
                overhead: spec.overhead,
                mtu: spec.mtu.map(|m| m.0),
                varies: spec.rate_process.is_some(),
                reorders: spec.reorder.is_some(),
            };
            atm.resolve(&link, &mut |problem| {
                let mut path = steps!["topology", "links", name].to_vec();
                path.extend(Step::parse_all(&problem.path));
                ctx.error(Diagnostic::of(&problem, codes::BAD_ATM), root, &path);
            })
        });
        check_loss(ctx, root, spec, &at("loss"));
        check_reorder(ctx, root, spec, &at("reorder"));
        let found = Irregular {
            server: circuit.map(ServerPlan::from).or(process).map(Arc::new),
            // A loss of probability 0 needs no model.
            loss: spec.loss.clone().filter(|l| !is_never(l)),
            reorder: spec
                .reorder
                .clone()
                .filter(|r| r.share.0 > 0.0 && !r.by.is_zero()),
        };
        all.insert(name, found);
    }
    all
}

fn is_never(loss: &LossSpec) -> bool {
    match loss {
        LossSpec::Bernoulli(p) => p.0 <= 0.0,
        LossSpec::GilbertElliott(ge) => ge.good.0 <= 0.0 && ge.bad.0 <= 0.0,
    }
}

fn check_loss(ctx: &mut Ctx<'_>, root: &Node, spec: &LinkSpec, base: &[Step]) {
    let Some(LossSpec::GilbertElliott(ge)) = &spec.loss else {
        return;
    };
    for (key, p) in [("to_bad", ge.to_bad), ("to_good", ge.to_good)] {
        if p.0 <= 0.0 {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, "the state would never change")
                .hint("write a percentage above 0 %, or `bernoulli` for loss without states");
            let at = [base, &steps!["gilbert-elliott", key][..]].concat();
            ctx.error(d, root, &at);
        }
    }
}

fn check_reorder(ctx: &mut Ctx<'_>, root: &Node, spec: &LinkSpec, base: &[Step]) {
    let Some(reorder) = &spec.reorder else { return };
    let mut refuse = |key, message: &str, hint| {
        let at = [base, &steps![key][..]].concat();
        let d = Diagnostic::error(codes::OUT_OF_RANGE, message).hint(hint);
        ctx.error(d, root, &at);
    };
    if reorder.share == Percent(1.0) {
        let hint = "write a share below 100 %, or a longer `delay` for all packets";
        refuse(
            "share",
            "all packets would be late, and none overtaken",
            hint,
        );
    }
    if reorder.by.is_zero() {
        refuse(
            "by",
            "a delay of 0 s for late packets",
            "write a time above 0 s, such as 5 ms",
        );
    }
}

/// Reads one process.
struct ProcessReader<'c, 'a> {
    ctx: &'c mut Ctx<'a>,
    root: &'c Node,
    base: Vec<Step>,
    /// The end of the measured period.
    end: Dur,
}

impl ProcessReader<'_, '_> {
    /// The steps of a path below the key of the process.
    fn at(&self, path: &str) -> Vec<Step> {
        let mut steps = self.base.clone();
        steps.extend(Step::parse_all(path));
        steps
    }

    /// An error in a file.
    fn refuse_in_file(&mut self, d: Diagnostic, span: Span) {
        let d = self.ctx.texts.place(d, span, &self.base);
        self.ctx.report(d);
    }

    /// An error in a line of a file.
    fn refuse_line(&mut self, (text, line): (u32, usize), found: &str, message: &str, hint: &str) {
        let span = Span {
            text,
            line: clamp(line),
            column: 1,
            width: clamp(found.chars().count()),
        };
        let mut d = Diagnostic::error(codes::BAD_RATES, message).hint(hint);
        if !found.is_empty() {
            d = d.found(found);
        }
        self.refuse_in_file(d, span);
    }
}

impl ServerReader for ProcessReader<'_, '_> {
    fn end(&self) -> Dur {
        self.end
    }

    fn refuse(&mut self, problem: Problem) {
        let at = self.at(&problem.path);
        let d = Diagnostic::of(&problem, codes::BAD_RATES);
        self.ctx.error(d, self.root, &at);
    }

    fn rates(&mut self, path: &str, file: &str) -> Option<(Rates, String)> {
        let at = self.at(path);
        let file = self.ctx.open(file, RATES, self.root, &at)?;
        let records = rows::records(self.ctx, &file, &self.base, MOST_RATES)?;
        let start = Span {
            text: file.text,
            line: 1,
            column: 1,
            width: 0,
        };
        let is_header = |h: &[Cell]| h.iter().map(|c| c.text.as_str()).eq(["time", "rate"]);
        let Some((_, records)) = records.filter(|(header, _)| is_header(header)) else {
            let d = Diagnostic::error(codes::TABLE_HEADER, "this is not a table of rates")
                .hint("the first line is `time,rate`, the others are such as `0.5 s,12 Mb/s`");
            self.refuse_in_file(d, start);
            return None;
        };
        let mut steps = Rates::new();
        for record in records {
            let [time, rate] = &record[..] else {
                let d = Diagnostic::error(codes::TABLE_ROW, "a row has two cells: a time, a rate");
                self.refuse_in_file(d, record[0].span);
                return None;
            };
            let mut complain = |e: Problem, span| {
                let d = Diagnostic::error(codes::BAD_VALUE, e.message);
                self.refuse_in_file(d.found(e.found).hint(e.hint), span);
            };
            let at = parse_dur(&time.text)
                .map_err(|e| complain(e, time.span))
                .ok()?;
            let rate = parse_rate_or_zero(&rate.text)
                .map_err(|e| complain(e, rate.span))
                .ok()?;
            let late = match steps.last() {
                None if !at.is_zero() => Some("the first time is 0 s".to_owned()),
                Some((before, _)) if at <= *before => {
                    Some(format!("times increase: write one above {before}"))
                }
                _ => None,
            };
            if let Some(hint) = late {
                let d = Diagnostic::error(codes::BAD_RATES, "a time out of order");
                self.refuse_in_file(d.found(&time.text).hint(hint), time.span);
                return None;
            }
            steps.push((at, rate.0));
        }
        Some((steps, file.name))
    }

    fn times(&mut self, path: &str, file: &str) -> Option<(Vec<Dur>, String)> {
        let at = self.at(path);
        let file = self.ctx.open(file, TIMES, self.root, &at)?;
        let content = decode(&file.name, &file.bytes)
            .map_err(|d| self.ctx.report(d))
            .ok()?;
        let mut at: Vec<Dur> = Vec::new();
        for (line, text) in (1..).zip(content.lines()) {
            let place = (file.text, line);
            let hint = "each line is a time in whole milliseconds, such as 27";
            // No run lasts longer than this, so a file with a later time is not a trace.
            let ms = text.trim().parse::<u64>().ok();
            let Some(ms) = ms.filter(|ms| Dur::from_ms(*ms) <= MAX_DUR) else {
                self.refuse_line(place, text, "this is not a time of a Mahimahi trace", hint);
                return None;
            };
            let time = Dur::from_ms(ms);
            if let Some(before) = at.last().filter(|before| time < **before) {
                let message = format!("{ms} ms comes after {before}");
                self.refuse_line(place, text, &message, "times do not fall from line to line");
                return None;
            }
            if at.len() >= MAX_LINES {
                let message = "the trace has too many lines";
                self.refuse_line(place, text, message, "up to 10000000 are read");
                return None;
            }
            at.push(time);
        }
        Some((at, file.name))
    }
}
