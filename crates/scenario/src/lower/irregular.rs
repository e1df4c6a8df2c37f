//! Links with a varying rate, with cells, with random loss, or with reordering.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::quantity::parse_rate_or_zero;
use spillgate_core::units::{MAX_DUR, parse_dur};
use spillgate_core::{Dur, Percent, Rate, UnitError};

use super::links::Links;
use super::period::Times;
use super::rows;
use crate::beside::Expected;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Span, Step, steps};
use crate::plan::RateProcess;
use crate::schema::{
    LinkSpec, LossSpec, OnOffSpec, RateProcessSpec, ReorderSpec, ScheduleSpec, TraceSpec,
};
use crate::table::{self, Cell, Most};
use crate::text::{clamp, decode};

/// The irregularities of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct Irregular {
    pub(super) process: Option<Arc<RateProcess>>,
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
            reader.process(process, spec.rate).map(Arc::new)
        });
        let circuit = super::atm::read(ctx, root, name, spec).map(Arc::new);
        check_loss(ctx, root, spec, &at("loss"));
        check_reorder(ctx, root, spec, &at("reorder"));
        let found = Irregular {
            process: circuit.or(process),
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
    fn process(&mut self, spec: &RateProcessSpec, rate: Rate) -> Option<RateProcess> {
        match spec {
            RateProcessSpec::Schedule(s) => self.schedule(s, rate),
            RateProcessSpec::Trace(s) => self.trace(s),
            RateProcessSpec::Mahimahi(s) => self.mahimahi(s),
            RateProcessSpec::OnOff(s) => self.on_off(s, rate),
        }
    }

    /// Reports an error at these steps.
    fn refuse(&mut self, at: &[Step], message: impl Into<String>, hint: impl Into<String>) {
        let d = Diagnostic::error(codes::BAD_RATES, message).hint(hint);
        let path = [&self.base, at].concat();
        self.ctx.error(d, self.root, &path);
    }

    fn schedule(&mut self, spec: &ScheduleSpec, rate: Rate) -> Option<RateProcess> {
        let at = |i: usize, key: &str| steps!["schedule", "steps", i, key].to_vec();
        let before = self.ctx.error_count();
        let Some(last) = spec.steps.last() else {
            let hint = "write steps such as [{at: 0 s, rate: 12 Mb/s}, {at: 5 s, rate: 3 Mb/s}]";
            self.refuse(
                &steps!["schedule", "steps"],
                "a schedule without steps",
                hint,
            );
            return None;
        };
        for (i, pair) in spec.steps.windows(2).enumerate() {
            if pair[1].at <= pair[0].at {
                let message = format!("{} does not come after {}", pair[1].at, pair[0].at);
                self.refuse(
                    &at(i + 1, "at"),
                    message,
                    "write the steps in increasing order of time",
                );
            }
        }
        if let Some(period) = spec.repeat.filter(|p| *p <= last.at) {
            let message = format!("it begins again after {period}, before its last step");
            let hint = format!("write a time above {}", last.at);
            self.refuse(&steps!["schedule", "repeat"], message, hint);
        }
        let mut steps: Vec<_> = spec.steps.iter().map(|s| (s.at, s.rate.0)).collect();
        if !steps[0].0.is_zero() {
            steps.insert(0, (Dur::ZERO, Some(rate)));
        }
        if spec.repeat.is_none() && last.rate.0.is_none() {
            let i = spec.steps.len() - 1;
            let hint = "end with a rate, or `repeat` the schedule; what breaks down for good is one of `failures`";
            self.refuse(&at(i, "rate"), "the link would stand still for ever", hint);
        }
        if steps.iter().all(|(_, r)| r.is_none()) {
            let hint = "give one of the steps a rate above 0 b/s";
            self.refuse(&steps!["schedule", "steps"], "the link never sends", hint);
        }
        (self.ctx.error_count() == before).then_some(RateProcess::Steps {
            steps,
            period: spec.repeat,
            recorded: false,
        })
    }

    fn on_off(&mut self, spec: &OnOffSpec, rate: Rate) -> Option<RateProcess> {
        let mut fine = true;
        for (key, mean) in [("on", spec.on), ("off", spec.off)] {
            // Shorter steps would only cost time: this is a tenth of a packet at 1 Gb/s.
            if mean < Dur::from_us(1) {
                let hint = "write a time of at least 1 us, such as 500 ms";
                self.refuse(&steps!["on-off", key], format!("a mean of {mean}"), hint);
                fine = false;
            }
        }
        fine.then_some(RateProcess::OnOff {
            on_rate: rate,
            off_rate: spec.off_rate.0,
            on: spec.on,
            off: spec.off,
        })
    }

    /// An error in a line of a file.
    fn refuse_line(
        &mut self,
        (text, line): (u32, usize),
        found: &str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
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
        let d = self.ctx.texts.place(d, span, &self.base);
        self.ctx.report(d);
    }

    /// Whether the trace lasts for the run, or may begin again.
    fn lasts(&mut self, kind: &str, spec: &TraceSpec, length: Dur) -> bool {
        let fine = spec.repeat || length >= self.end;
        if !fine {
            let message = format!(
                "the trace `{}` ends after {length}, before the measured period, which ends at {}",
                spec.file, self.end
            );
            let hint = "write `repeat: true` to have it begin again, or measure for a shorter time";
            self.refuse(&steps![kind, "file"], message, hint);
        }
        fine
    }

    fn trace(&mut self, spec: &TraceSpec) -> Option<RateProcess> {
        let path = [&self.base[..], &steps!["trace", "file"][..]].concat();
        let file = self.ctx.open(&spec.file, RATES, self.root, &path)?;
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
            let d = self.ctx.texts.place(d, start, &self.base);
            self.ctx.report(d);
            return None;
        };
        let mut steps: Vec<(Dur, Option<Rate>)> = Vec::new();
        for record in records {
            let [time, rate] = &record[..] else {
                let d = Diagnostic::error(codes::TABLE_ROW, "a row has two cells: a time, a rate");
                let d = self.ctx.texts.place(d, record[0].span, &self.base);
                self.ctx.report(d);
                return None;
            };
            let mut complain = |e: UnitError, span| {
                let d = Diagnostic::error(codes::BAD_VALUE, e.problem);
                let d = d.found(e.found).hint(e.hint);
                let d = self.ctx.texts.place(d, span, &self.base);
                self.ctx.report(d);
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
                let d = Diagnostic::error(codes::BAD_RATES, "a time out of order")
                    .found(&time.text)
                    .hint(hint);
                let d = self.ctx.texts.place(d, time.span, &self.base);
                self.ctx.report(d);
                return None;
            }
            steps.push((at, rate.0));
        }
        let [.., (before, _), (last, _)] = &steps[..] else {
            let name = &file.name;
            let message = format!("`{name}` has less than two rates");
            self.refuse(
                &steps!["trace", "file"],
                message,
                "a trace has at least two lines behind its header",
            );
            return None;
        };
        let period = *last + (*last - *before);
        if steps.iter().all(|(_, r)| r.is_none()) {
            let message = format!("`{}` has no rate above 0 b/s", file.name);
            self.refuse(
                &steps!["trace", "file"],
                message,
                "the link would never send",
            );
            return None;
        }
        self.lasts("trace", spec, period)
            .then_some(RateProcess::Steps {
                steps,
                period: Some(period),
                recorded: true,
            })
    }

    fn mahimahi(&mut self, spec: &TraceSpec) -> Option<RateProcess> {
        let here = steps!["mahimahi", "file"];
        let path = [&self.base[..], &here[..]].concat();
        let file = self.ctx.open(&spec.file, TIMES, self.root, &path)?;
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
                self.refuse_line(place, text, message, "times do not fall from line to line");
                return None;
            }
            if at.len() >= MAX_LINES {
                self.refuse_line(
                    place,
                    text,
                    "the trace has too many lines",
                    "up to 10000000 are read",
                );
                return None;
            }
            at.push(time);
        }
        let Some(period) = at.last().copied().filter(|p| !p.is_zero()) else {
            let message = match at.len() {
                0 => format!("`{}` is empty", file.name),
                _ => format!("`{}` has no length: all its times are 0", file.name),
            };
            self.refuse(
                &here,
                message,
                "a Mahimahi trace has a line with a time in milliseconds for each 1500 bytes",
            );
            return None;
        };
        self.lasts("mahimahi", spec, period)
            .then_some(RateProcess::Opportunities { at, period })
    }
}
