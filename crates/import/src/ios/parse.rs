//! Which mode a line belongs to.
//!
//! Modes follow the keywords, as on the command line, not the indentation: a
//! line is tried in the current mode, then in those around it. Indentation
//! only decides about words that are in no table: deeper than the head of the
//! block they are of the block, and not understood; else, in text that is
//! indented, they begin something else.

use super::args::Args;
use super::ast::{At, Config, Origin, Owner, Said};
use super::fault::{Fault, Refusal, code};
use super::globals::{ATTACHMENTS, GLOBALS, Global, IN_BLOCKS, MARKS, SERVICES};
use super::keyword::{Found, Table, abbreviates, find, starts_with};
use super::lexer::{Line, Word};
use super::report::Report;
use super::session::{self, Noise};
use super::shown::{self, Shown};
use super::{circuit, heads, interface, policy_map};
use spillgate_core::suggest::nearest;

/// Where the next line belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode<'a> {
    Global,
    /// A block that is skipped; what a `service-policy` in it is attached to.
    Block(&'static str),
    ClassMap(&'a str),
    Policy(&'a str),
    /// A class by its position, and what the last `police` line opened.
    Class {
        policy: &'a str,
        class: usize,
        police: PoliceMode,
    },
    Acl(&'a str),
    ObjectGroup(&'a str),
    /// An interface by its position, and perhaps what was opened inside it.
    Interface(usize, Option<Inner>),
    VcClass(&'a str),
    /// Output of a `show` command, which is not read.
    Shown,
}

/// A circuit or the like of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Inner {
    /// Depth of the line that opened it.
    pub(crate) depth: usize,
    pub(crate) within: Within,
}

/// What was opened inside an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Within {
    /// A `pvc`, by its position.
    Pvc(usize),
    /// One that was left out.
    LeftOut,
    /// Something that is not modelled.
    Other,
}

/// What a `police` line opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoliceMode {
    /// Nothing: there was none, or it had its actions.
    None,
    /// Its sub-mode.
    Open,
    /// It was left out, and so are its actions.
    LeftOut,
}

/// Reads lines into a [`Config`].
pub(crate) struct Parser<'a, 'r, 'f> {
    pub(crate) config: Config<'a>,
    pub(crate) report: &'r mut Report<'f>,
    pub(crate) mode: Mode<'a>,
    /// Depth of the line that opened the outermost block.
    header_depth: usize,
    /// That line.
    header: Option<Line<'a>>,
    /// Whether a line of the block was deeper.
    indented: bool,
    text_block: Option<TextBlock<'a>>,
    /// The last line that was no comment.
    last: Option<Line<'a>>,
    /// Whether it was the one before.
    adjacent: bool,
    /// Numbers of lines that are the rest of the line before them.
    wrapped: Vec<u32>,
    /// Numbers of lines that begin a text of which it is known that it never ends.
    endless: &'r [u32],
}

/// What lines came to.
pub(crate) struct ParsedConfig<'a> {
    pub(crate) config: Config<'a>,
    /// Numbers of lines that are the rest of the line before them.
    pub(crate) wrapped: Vec<u32>,
    /// The line that begins a text which never ends.
    pub(crate) open: Option<u32>,
}

/// Free text, such as a banner, that runs to a delimiter.
struct TextBlock<'a> {
    delimiter: &'a str,
    origin: Origin<'a>,
}

/// Whether a line was about queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Queueing,
    Other,
}

/// A command line, its first keyword taken.
#[derive(Clone, Copy)]
pub(crate) struct Command<'a> {
    pub(crate) line: Line<'a>,
    pub(crate) word: Word<'a>,
    pub(crate) negated: bool,
    pub(crate) args: Args<'a>,
}

impl<'a> Command<'a> {
    /// The line, with the column of the first keyword.
    pub(crate) fn origin(&self) -> Origin<'a> {
        Origin::new(self.line, self.word.column)
    }

    /// Reads the rest of the line into `slot`; with `no` before the command nothing is there.
    pub(crate) fn set<T>(
        mut self,
        slot: &mut Option<At<'a, T>>,
        read: impl FnOnce(&mut Args<'a>) -> Result<T, Refusal>,
    ) -> Result<(), Refusal> {
        *slot = match self.negated {
            true => None,
            false => {
                let value = read(&mut self.args)?;
                self.args.finish()?;
                Some(self.origin().at(value))
            }
        };
        Ok(())
    }
}

impl<'a, 'r, 'f> Parser<'a, 'r, 'f> {
    pub(crate) fn new(report: &'r mut Report<'f>) -> Self {
        Self::knowing(report, &[])
    }

    /// One that does not take what follows these lines for their text, as it never ends.
    pub(crate) fn knowing(report: &'r mut Report<'f>, endless: &'r [u32]) -> Self {
        Self {
            endless,
            config: Config::default(),
            report,
            mode: Mode::Global,
            header_depth: 0,
            header: None,
            indented: false,
            text_block: None,
            last: None,
            adjacent: false,
            wrapped: Vec::new(),
        }
    }

    /// Reads the next line.
    pub(crate) fn line(&mut self, line: Line<'a>) {
        self.report.counts.total += 1;
        if let Some(block) = &self.text_block {
            self.report.counts.blank += 1;
            if line.raw().contains(block.delimiter) {
                self.text_block = None;
            }
            return;
        }
        if line.is_blank() {
            self.report.counts.blank += 1;
            return;
        }
        let last = self.last.replace(line);
        self.adjacent = last.is_some_and(|l| l.number + 1 == line.number);
        match session::noise(&line) {
            Some(Noise::Exec) => {
                self.enter(Mode::Global, line);
                self.report.counts.blank += 1;
                return;
            }
            Some(Noise::Message) => {
                self.report.counts.blank += 1;
                return;
            }
            None => {}
        }
        if let Some(kind) = self.shown(line) {
            self.count(kind);
            return;
        }
        let reads = !matches!(self.mode, Mode::Global | Mode::Block(_) | Mode::Shown);
        let continues = last.is_some_and(|l| session::may_continue(&line, &l));
        let kind = match command(line) {
            Some(_) if reads && continues && self.indented => {
                self.wrapped.push(line.number);
                Kind::Queueing
            }
            Some(command) => self.command(command),
            None => Kind::Other,
        };
        self.count(kind);
        if let Some(owner) = self.owner(line).filter(|_| kind == Kind::Queueing) {
            let (number, text) = (line.number, line.text());
            self.config.said.push(Said {
                line: number,
                text,
                owner,
            });
        }
    }

    /// What a line that was read is a part of; none of what begins a block.
    fn owner(&self, line: Line<'a>) -> Option<Owner<'a>> {
        let head = self.header.map(|h| h.number) == Some(line.number);
        match self.mode {
            Mode::Class { policy, class, .. } => {
                let class = self.config.policy_maps.get(policy)?.classes.get(class)?;
                let class_head = class.origin.line == line.number;
                (!class_head).then_some(Owner::Class {
                    policy,
                    class: class.name,
                })
            }
            Mode::Interface(..) if head => None,
            Mode::Interface(index, inner) => {
                let circuit = inner.and_then(|i| match i.within {
                    Within::Pvc(at) => Some(at),
                    Within::LeftOut | Within::Other => None,
                });
                Some(Owner::Interface(index, circuit))
            }
            Mode::Block(_) if head => None,
            Mode::Block(_) => self.header.map(|h| Owner::Block(h.text())),
            // Entries of access lists are kept where something names them.
            Mode::Global => {
                let first = line.words().next()?.text;
                (!abbreviates(first, "access-list", 8)).then_some(Owner::Nobody)
            }
            _ => None,
        }
    }

    fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Queueing => self.report.counts.queueing += 1,
            Kind::Other => self.report.counts.other += 1,
        }
    }

    /// A line of the output of a `show` command, which ends with a prompt or the head of a block.
    fn shown(&mut self, line: Line<'a>) -> Option<Kind> {
        let begins = shown::shown(&line);
        let open = self.mode == Mode::Shown;
        match begins {
            Some(Shown::Head) => {}
            Some(Shown::Class) if open => {}
            _ if open
                && !command(line).is_some_and(|c| starts_queueing(c) || is_exactly_global(&c)) =>
            {
                return Some(Kind::Other);
            }
            _ => return None,
        }
        let column = line.first_column();
        self.report
            .unmodelled(Origin::new(line, column), shown::REASON);
        self.enter(Mode::Shown, line);
        Some(Kind::Queueing)
    }

    /// What was read, after the last line.
    pub(crate) fn finish(self) -> ParsedConfig<'a> {
        let mut open = None;
        if let Some(block) = self.text_block {
            open = Some(block.origin.line);
            let fault = block.never_ends();
            self.report.error(block.origin.line, "", fault);
        }
        ParsedConfig {
            config: self.config,
            wrapped: self.wrapped,
            open,
        }
    }

    fn command(&mut self, c: Command<'a>) -> Kind {
        let deeper = self.mode != Mode::Global && c.line.depth > self.header_depth;
        self.indented |= deeper;
        if !c.negated && abbreviates(c.word.text, "end", 3) {
            self.enter(Mode::Global, c.line);
            return Kind::Other;
        }
        // IOS XR closes blocks so.
        let closes = ["end-policy-map", "end-class-map"];
        if closes.iter().any(|w| c.word.text.eq_ignore_ascii_case(w)) {
            self.enter(Mode::Global, c.line);
            return Kind::Queueing;
        }
        if !c.negated && abbreviates(c.word.text, "exit", 2) {
            return self.exit();
        }
        match self.mode {
            Mode::Global | Mode::Block(_) | Mode::Shown => self.global(c, deeper),
            Mode::Acl(name) => self.acl_line(c, name, deeper),
            Mode::ObjectGroup(name) => self.object_line(c, name, deeper),
            Mode::Interface(index, circuit) => {
                let left = circuit.is_some_and(|inner| c.line.depth <= inner.depth && deeper);
                let circuit = circuit.filter(|_| !left);
                self.mode = Mode::Interface(index, circuit);
                let leaves = !deeper && self.indented;
                match interface::command(self, c, index, circuit, leaves) {
                    Some(kind) => kind,
                    None if deeper && !starts_queueing(c) => Kind::Other,
                    None => self.global(c, deeper),
                }
            }
            Mode::VcClass(name) => match circuit::class_line(self, c, name) {
                Some(kind) => kind,
                None if deeper && !starts_queueing(c) => Kind::Other,
                None => self.global(c, deeper),
            },
            Mode::ClassMap(_) | Mode::Policy(_) | Mode::Class { .. } => {
                match policy_map::command(self, c) {
                    Some(kind) => kind,
                    None => self.leave_queueing(c, deeper),
                }
            }
        }
    }

    /// A line that no queueing mode around it knows.
    fn leave_queueing(&mut self, c: Command<'a>, deeper: bool) -> Kind {
        let leaves = if deeper {
            starts_queueing(c)
        } else {
            self.indented || is_global(&c)
        };
        if leaves {
            let unknown = !deeper && matches!(find(&GLOBALS, c.word.text), Found::None);
            let head = nearest(c.word.text, HEADS).is_some();
            if unknown && self.adjacent && !head && !c.negated {
                let reason = "not understood; what is indented below it is skipped";
                self.report.not_understood(c.origin(), reason);
                self.other(c, Mode::Block("something that is no interface"));
                return Kind::Queueing;
            }
            return self.global(c, deeper);
        }
        let words = policy_map::words(self.mode);
        match nearest(c.word.text, words).filter(|_| !c.negated) {
            Some(near) => self.not_understood(&c, near),
            None => {
                self.report.not_understood(c.origin(), "not understood");
                Kind::Queueing
            }
        }
    }

    /// Enters a mode that a line of the global mode opened.
    pub(crate) fn enter(&mut self, mode: Mode<'a>, line: Line<'a>) {
        self.mode = mode;
        self.header = Some(line);
        self.header_depth = line.depth;
        self.indented = false;
    }

    /// Says why a line has no effect.
    pub(crate) fn refuse(&mut self, at: Origin<'a>, refusal: Refusal) {
        let path = policy_map::path(self.mode, &self.config);
        self.report.refuse(at, path, refusal);
    }

    /// Says why the head of a block has no effect, and enters the block, `what` in error.
    pub(crate) fn refuse_block(
        &mut self,
        c: &Command<'a>,
        path: &str,
        what: &'static str,
        refusal: Refusal,
    ) -> Kind {
        self.report.refuse_head(c.origin(), path, refusal);
        self.enter(Mode::Block(what), c.line);
        Kind::Queueing
    }

    /// Says that a line is not understood, and what may be meant.
    pub(crate) fn not_understood(&mut self, c: &Command<'a>, near: &str) -> Kind {
        let reason = format!("not understood; did you mean `{near}`?");
        self.report.not_understood(c.origin(), reason);
        Kind::Queueing
    }

    /// Whether a line that is no deeper than the head of the block is outside it.
    pub(crate) fn left_block(&self) -> bool {
        self.indented
    }

    fn exit(&mut self) -> Kind {
        let queueing = !matches!(self.mode, Mode::Global | Mode::Block(_) | Mode::Shown);
        self.mode = match self.mode {
            Mode::Class {
                policy,
                class,
                police: PoliceMode::Open | PoliceMode::LeftOut,
            } => Mode::Class {
                policy,
                class,
                police: PoliceMode::None,
            },
            Mode::Class { policy, .. } => Mode::Policy(policy),
            Mode::Interface(index, Some(_)) => Mode::Interface(index, None),
            // A skipped block may have blocks within; its end shows otherwise.
            Mode::Block(what) => Mode::Block(what),
            _ => Mode::Global,
        };
        if queueing {
            Kind::Queueing
        } else {
            Kind::Other
        }
    }

    /// A command of the global mode.
    pub(crate) fn global(&mut self, mut c: Command<'a>, deeper: bool) -> Kind {
        let block = match self.mode {
            Mode::Block(what) if deeper => Some(what),
            _ => None,
        };
        let found = match find(&GLOBALS, c.word.text) {
            Found::Exact(g) => Some(g),
            Found::Prefix(g) if block.is_none() => Some(g),
            _ => None,
        };
        // No command of the global mode looks so: in text without indentation its block may have
        // been left before, by a line that looks like one.
        if let Some(reason) = skipped_queueing(&c).filter(|_| !c.negated) {
            self.report.unmodelled(c.origin(), reason);
            return Kind::Queueing;
        }
        if let Some(what) = block {
            match found {
                Some(Global::ClassMap | Global::PolicyMap) => {}
                Some(Global::Service) if !is_service(&c) => {
                    return self.foreign_attachment(c, what);
                }
                _ => return Kind::Other,
            }
        }
        match found {
            Some(Global::ClassMap) => heads::class_map(self, c),
            Some(Global::PolicyMap) => heads::policy_map(self, c),
            Some(Global::Interface) => interface::header(self, c),
            Some(Global::AccessList) => self.numbered_acl(c),
            Some(Global::ObjectGroup) => self.object_group(c),
            Some(Global::Ip | Global::Ipv4 | Global::Ipv6 | Global::Mac) => {
                self.named_acl(c, found)
            }
            Some(Global::Banner) => {
                c.args
                    .take("config-save exec incoming login motd prompt-timeout slip-ppp");
                self.open_text(c)
            }
            Some(Global::Aaa) => {
                if c.args.take("authentication") && c.args.take("banner fail-message") {
                    return self.open_text(c);
                }
                self.other(c, Mode::Global)
            }
            Some(Global::Macro) => {
                if !c.negated && c.args.take("name") {
                    self.open_block("@", c.origin());
                }
                self.other(c, Mode::Global)
            }
            Some(Global::Service) if is_service(&c) => self.other(c, Mode::Global),
            Some(Global::Service) => self.foreign_attachment(c, "something that is no interface"),
            Some(Global::Qos(_)) if !c.args.take("qos") => self.other(c, Mode::Global),
            Some(Global::Foreign(reason) | Global::Qos(reason)) => {
                self.other(c, Mode::Global);
                if c.negated {
                    return Kind::Other;
                }
                self.report.unmodelled(c.origin(), reason);
                Kind::Queueing
            }
            Some(Global::VcClass) => match circuit::class(self, c) {
                Some(kind) => kind,
                None => self.other(c, Mode::Block("something that is no interface")),
            },
            Some(Global::Other) => self.other(c, Mode::Global),
            // An unknown command may open a mode, too.
            Some(Global::Block) | None => {
                let what = ATTACHMENTS
                    .iter()
                    .find(|(name, _)| c.word.text.eq_ignore_ascii_case(name))
                    .map_or("something that is no interface", |(_, what)| what);
                self.other(c, Mode::Block(what));
                match nearest(c.word.text, HEADS).filter(|_| found.is_none()) {
                    Some(near) if !c.negated => self.not_understood(&c, near),
                    _ => Kind::Other,
                }
            }
        }
    }

    pub(crate) fn other(&mut self, c: Command<'a>, mode: Mode<'a>) -> Kind {
        let mode = if c.negated { Mode::Global } else { mode };
        self.enter(mode, c.line);
        Kind::Other
    }

    /// `service-policy` on what is not an interface.
    fn foreign_attachment(&mut self, c: Command<'a>, what: &str) -> Kind {
        if !c.negated {
            let reason = format!("policies of {what} are not modelled; those of interfaces are");
            self.report.unmodelled(c.origin(), reason);
        }
        Kind::Queueing
    }

    /// Free text between delimiters: `^C text ^C`, on one line or many.
    fn open_text(&mut self, c: Command<'a>) -> Kind {
        self.enter(Mode::Global, c.line);
        let rest = c.args.rest();
        let Some(first) = rest.chars().next().filter(|_| !c.negated) else {
            return Kind::Other;
        };
        // `show running-config` prints the control character as these two.
        let length = if rest.starts_with("^C") {
            2
        } else {
            first.len_utf8()
        };
        let (delimiter, text) = rest.split_at(length);
        if !text.contains(delimiter) {
            let mut origin = c.origin();
            origin.column = c.args.peek().map_or(origin.column, |w| w.column);
            self.open_block(delimiter, origin);
        }
        Kind::Other
    }

    /// Takes the lines that follow for free text.
    fn open_block(&mut self, delimiter: &'a str, origin: Origin<'a>) {
        let block = TextBlock { delimiter, origin };
        if !self.endless.contains(&origin.line) {
            self.text_block = Some(block);
            return;
        }
        let instead = "what follows is read as configuration";
        let fault = block.never_ends();
        self.report
            .stand_in(code::LEFT_OUT, origin.line, "", fault, instead);
    }
}

impl TextBlock<'_> {
    fn never_ends(&self) -> Fault {
        let delimiter = self.delimiter;
        let message = format!("this text never ends: `{delimiter}` does not come again");
        Fault::new(code::OPEN_BANNER, self.origin.column, message)
            .found(delimiter)
            .hint("end the text with its delimiter, or leave it out")
    }
}

/// Global commands that the importer reads.
pub(crate) const HEADS: [&str; 4] = ["access-list", "class-map", "interface", "policy-map"];

/// Splits a line into `no`, the first keyword and the rest.
fn command(line: Line<'_>) -> Option<Command<'_>> {
    let mut words = line.words();
    let mut word = words.next()?;
    let negated = word.text.eq_ignore_ascii_case("no");
    if negated {
        word = words.next()?;
    }
    Some(Command {
        line,
        word,
        negated,
        args: Args::new(words),
    })
}

/// Why a line about queueing in a block that is skipped has no effect; none if it is about
/// something else.
fn skipped_queueing(c: &Command<'_>) -> Option<&'static str> {
    let is = |names: &[&str], word: &str| names.iter().any(|n| n.eq_ignore_ascii_case(word));
    let (_, follow, reason) = IN_BLOCKS
        .iter()
        .find(|(first, ..)| is(&[first], c.word.text))?;
    if follow.is_empty() {
        return Some(reason);
    }
    let mut words = c.args.words();
    let next = words.next()?.text;
    let marks = !next.eq_ignore_ascii_case("ip")
        || !c.word.text.eq_ignore_ascii_case("set")
        || words.next().is_some_and(|w| is(&MARKS, w.text));
    (is(follow, next) && marks).then_some(reason)
}

/// Whether a line begins with a global command.
pub(crate) fn is_global(c: &Command<'_>) -> bool {
    !matches!(
        find(&GLOBALS, c.word.text),
        Found::None | Found::Ambiguous(_)
    )
}

/// The same, spelled in full.
fn is_exactly_global(c: &Command<'_>) -> bool {
    matches!(find(&GLOBALS, c.word.text), Found::Exact(_))
}

/// Whether a line that stands deep in another block is nevertheless the head of one of ours.
fn starts_queueing(c: Command<'_>) -> bool {
    let full = |name| c.word.text.eq_ignore_ascii_case(name);
    HEADS.into_iter().any(full)
        || (full("ip")
            && c.args
                .peek()
                .is_some_and(|w| abbreviates(w.text, "access-list", 8)))
}

/// Whether a `service` line is one of the router's services and no `service-policy`.
pub(crate) fn is_service(c: &Command<'_>) -> bool {
    let bare = c.word.text.eq_ignore_ascii_case("service");
    bare && c.args.peek().is_some_and(|w| {
        SERVICES
            .split_ascii_whitespace()
            .any(|s| starts_with(s, w.text))
    })
}

/// Looks a word up in the tables of a mode and of those around it: exact
/// spellings first, in all of them and the global one, then abbreviations.
pub(crate) fn lookup<T: Copy + PartialEq>(tables: &[&Table<T>], c: &Command<'_>) -> Found<T> {
    let word = c.word.text;
    let mut result = Found::None;
    for table in tables {
        match find(table, word) {
            Found::Exact(t) => return Found::Exact(t),
            found if result == Found::None => result = found,
            _ => {}
        }
    }
    match find(&GLOBALS, word) {
        Found::Exact(Global::Service) if !is_service(c) => result,
        Found::Exact(_) => Found::None,
        _ => result,
    }
}
