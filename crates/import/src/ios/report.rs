//! What there is to tell the user: errors, warnings, lines without effect.

use spillgate_scenario::plan::Unmodelled;
use spillgate_scenario::{Diagnostic, Diagnostics, Severity};

use super::ast::Origin;
use super::fault::{Fault, Refusal, code};

/// How many of a configuration's lines were what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// All lines.
    pub total: u32,
    /// Empty lines, comments and banners.
    pub blank: u32,
    /// Lines about classes, policies, access lists and the queueing of interfaces, in effect or
    /// listed.
    pub queueing: u32,
    /// Lines about anything else (addresses, routing, management): skipped.
    pub other: u32,
}

/// Collects what is found; nothing stops at the first error.
#[derive(Clone, Debug)]
pub(crate) struct Report<'f> {
    file: &'f str,
    /// Whether nothing may stand in for what is wrong.
    strict: bool,
    diagnostics: Vec<Diagnostic>,
    unmodelled: Vec<Unmodelled>,
    pub(crate) counts: LineCounts,
}

impl<'f> Report<'f> {
    pub(crate) fn new(file: &'f str, strict: bool) -> Self {
        Self {
            file,
            strict,
            diagnostics: Vec::new(),
            unmodelled: Vec::new(),
            counts: LineCounts::default(),
        }
    }

    fn push(&mut self, mut d: Diagnostic, line: u32, path: String, fault: Fault) {
        d = d.at(self.file, line, fault.column).path(path);
        d.width = u32::try_from(fault.found.chars().count()).unwrap_or(0);
        d.found = Some(fault.found).filter(|f| !f.is_empty());
        d.hint = Some(fault.hint).filter(|h| !h.is_empty());
        self.diagnostics.push(d);
    }

    /// Records an error; `path` is where in the configuration, such as
    /// `policy-map.WAN.class.voice`.
    pub(crate) fn error(&mut self, line: u32, path: impl Into<String>, fault: Fault) {
        let d = Diagnostic::error(fault.code, fault.message.clone());
        self.push(d, line, path.into(), fault);
    }

    /// Records a warning.
    pub(crate) fn warn(&mut self, line: u32, path: impl Into<String>, fault: Fault) {
        let d = Diagnostic::warning(fault.code, fault.message.clone());
        self.push(d, line, path.into(), fault);
    }

    /// Records what is wrong and what stands in for it, a warning of `code`; if nothing may, the
    /// error itself.
    pub(crate) fn stand_in(
        &mut self,
        code: &'static str,
        line: u32,
        path: impl Into<String>,
        fault: Fault,
        instead: &str,
    ) {
        if self.strict {
            return self.error(line, path, fault);
        }
        let message = format!("{}: {instead}", fault.message);
        let fault = Fault {
            code,
            message,
            ..fault
        };
        self.warn(line, path, fault);
    }

    /// Lists a line that has no effect, or less than on the router.
    pub(crate) fn unmodelled(&mut self, at: Origin<'_>, reason: impl Into<String>) {
        self.list(at, reason.into(), true);
    }

    /// Lists a line that is not known.
    pub(crate) fn not_understood(&mut self, at: Origin<'_>, reason: impl Into<String>) {
        self.list(at, reason.into(), false);
    }

    fn list(&mut self, at: Origin<'_>, reason: String, understood: bool) {
        self.unmodelled.push(Unmodelled {
            file: self.file.to_owned(),
            line: at.line,
            text: at.text.to_owned(),
            reason,
            understood,
        });
    }

    /// The numbers of the lines that are listed.
    pub(crate) fn listed(&self) -> std::collections::BTreeSet<u32> {
        self.unmodelled.iter().map(|u| u.line).collect()
    }

    /// Records why a command had no effect. A router refuses one that is wrong and goes on to the
    /// next.
    pub(crate) fn refuse(&mut self, at: Origin<'_>, path: impl Into<String>, refusal: Refusal) {
        const LINE: &str = "the line is left out";
        self.refuse_with(at, path, refusal, LINE);
    }

    /// The same of the head of a block.
    pub(crate) fn refuse_head(
        &mut self,
        at: Origin<'_>,
        path: impl Into<String>,
        refusal: Refusal,
    ) {
        const BLOCK: &str = "the line and those inside it are left out";
        self.refuse_with(at, path, refusal, BLOCK);
    }

    fn refuse_with(
        &mut self,
        at: Origin<'_>,
        path: impl Into<String>,
        refusal: Refusal,
        instead: &str,
    ) {
        match refusal {
            Refusal::Wrong(fault) => {
                let code = match fault.code {
                    code::MISSING
                    | code::UNEXPECTED
                    | code::RANGE
                    | code::AMBIGUOUS
                    | code::ATTACHED_TWICE
                    | code::GROUP_CYCLE
                    | code::CIRCUIT_TWICE => code::LEFT_OUT,
                    code::NO_OBJECT_GROUP => code::NOT_DEFINED,
                    _ => return self.error(at.line, path, *fault),
                };
                self.stand_in(code, at.line, path, *fault, instead);
            }
            Refusal::Unmodelled(reason) => self.unmodelled(at, reason),
            Refusal::NotUnderstood(reason) => self.not_understood(at, reason),
        }
    }

    /// Everything found, in the order of the lines: the list of lines without
    /// effect and the warnings; or the errors alone, since what follows an error
    /// is not worth a warning.
    ///
    /// # Errors
    /// When an error was recorded.
    pub(crate) fn finish(
        mut self,
        text: &str,
    ) -> Result<(Vec<Unmodelled>, Vec<Diagnostic>, LineCounts), Diagnostics> {
        let is_error = |d: &Diagnostic| d.severity == Severity::Error;
        let failed = self.diagnostics.iter().any(is_error);
        if failed {
            self.diagnostics.retain(is_error);
        }
        self.diagnostics.sort_by_key(|d| (d.line, d.column));
        self.unmodelled.sort_by_key(|u| u.line);
        self.unmodelled.dedup();
        if !self.diagnostics.is_empty() {
            // One walk over the text serves all: they are in the order of the lines.
            let mut lines = (1_u32..).zip(text.lines());
            let mut current = lines.next();
            for d in &mut self.diagnostics {
                while current.is_some_and(|(n, _)| Some(n) < d.line) {
                    current = lines.next();
                }
                d.source = current.map(|(_, l)| l.to_owned());
            }
        }
        if failed {
            Err(Diagnostics(self.diagnostics))
        } else {
            Ok((self.unmodelled, self.diagnostics, self.counts))
        }
    }
}
