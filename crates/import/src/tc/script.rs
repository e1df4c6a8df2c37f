//! What the commands of a script leave on each device.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{Cells, Overhead};

use crate::ios::ast::Origin;
use crate::ios::fault::{Fault, Refusal, code};
use crate::ios::report::{LineCounts, Report};

use super::filter::{Filter, Policers, defined, filter};
use super::line::{Args, Handle};
use super::marks::Marks;
use super::shell::{Command, Word};
use super::stab::{ETHERNET, stab};
use super::{shell, shown};

/// The priority of the first filter of which none is written; that of the next is less by one.
const FIRST_PRIORITY: u32 = 0xc000;

/// A queueing discipline or a class.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) command: usize,
    /// Its number; that of a queueing discipline may be 0.
    pub(super) handle: Handle,
    /// The class, or the queueing discipline of a class, above it; none: the root of the device.
    pub(super) parent: Option<Handle>,
    /// Which word of the command is its kind.
    pub(super) kind: usize,
}

/// A filter and the command that adds it.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) command: usize,
    pub(super) filter: Filter,
}

/// What is on a device.
#[derive(Clone, Debug, Default)]
pub(super) struct Device {
    /// The line of the first command that names it.
    pub(super) line: u32,
    pub(super) root: Option<Node>,
    /// What acts on packets that arrive.
    pub(super) ingress: Option<Node>,
    /// The queueing disciplines of classes.
    pub(super) qdiscs: Vec<Node>,
    pub(super) classes: BTreeMap<Handle, Node>,
    pub(super) filters: Vec<Placed>,
    /// The bytes that the root counts.
    pub(super) counted: Overhead,
}

/// A script and what it leaves.
#[derive(Debug)]
pub(super) struct Script<'t> {
    lines: Vec<&'t str>,
    pub(super) commands: Vec<Command>,
    pub(super) devices: BTreeMap<String, Device>,
}

/// The objects of `tc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Object {
    Qdisc,
    Class,
    Filter,
    Actions,
}

/// What is done with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Add,
    Delete,
    Show,
}

/// The object and verb of a command of `tc`, and how many words they take.
fn of_tc(command: &Command) -> Option<(Object, Verb, usize)> {
    let text = |n: usize| command.words.get(n).map_or("", |w| w.text.as_str());
    let first = text(0).rsplit('/').next().unwrap_or_default();
    let mut at = usize::from(first == "tc");
    while text(at).starts_with('-') {
        at += if ["-n", "-netns", "-b", "-batch"].contains(&text(at)) {
            2
        } else {
            1
        };
    }
    let short = |name: &str| first == "tc" && !text(at).is_empty() && name.starts_with(text(at));
    let object = match text(at) {
        "qdisc" => Object::Qdisc,
        "class" => Object::Class,
        "filter" => Object::Filter,
        "actions" | "action" => Object::Actions,
        _ if short("qdisc") => Object::Qdisc,
        _ if short("class") => Object::Class,
        _ if short("filter") => Object::Filter,
        _ if short("actions") => Object::Actions,
        _ => return None,
    };
    let verb = match text(at + 1) {
        "add" | "append" | "replace" | "change" | "link" => Verb::Add,
        "del" | "delete" => Verb::Delete,
        "show" | "list" | "ls" | "get" | "" if first == "tc" => Verb::Show,
        _ => return None,
    };
    Some((object, verb, at + 2))
}

/// The commands of a text: what is printed, or a script.
fn commands(text: &str) -> Vec<Command> {
    shown::commands(text).unwrap_or_else(|| shell::commands(text))
}

/// Whether a text has commands of `tc` that add queueing disciplines, or is what `tc` prints of
/// them.
pub fn is_tc(text: &str) -> bool {
    let adds = |c: &Command| of_tc(c).is_some_and(|(o, v, _)| (o, v) == (Object::Qdisc, Verb::Add));
    text.contains("qdisc") && commands(text).iter().any(adds)
}

impl<'t> Script<'t> {
    /// Reads a script.
    pub(super) fn read(text: &'t str, report: &mut Report<'_>) -> Self {
        let mut script = Self {
            lines: text.lines().collect(),
            commands: commands(text),
            devices: BTreeMap::new(),
        };
        let all = std::mem::take(&mut script.commands);
        let mut queueing = BTreeSet::new();
        let mut policers = Policers::new();
        let marks = script.marks(&all, &mut queueing, report);
        for (n, command) in all.iter().enumerate() {
            let (object, verb, at) = match of_tc(command) {
                Some((_, Verb::Show, _)) | None => continue,
                Some(found) => found,
            };
            queueing.extend(command.words.iter().map(|w| w.line));
            if let Err(refusal) =
                script.command(n, command, (object, verb), at, (&mut policers, &marks))
            {
                let column = match &refusal {
                    Refusal::Wrong(fault) => fault.column,
                    _ => 1,
                };
                report.refuse(script.origin(command, column), "", refusal);
            }
        }
        script.commands = all;
        script.count(&queueing, report);
        script
    }

    /// The marks that a firewall gives in the script, wherever a filter asks for them.
    fn marks(
        &self,
        all: &[Command],
        queueing: &mut BTreeSet<u32>,
        report: &mut Report<'_>,
    ) -> Marks {
        let mut marks = Marks::default();
        for command in all {
            match marks.take(command) {
                Ok(false) => continue,
                Ok(true) => {}
                Err(refusal) => report.refuse(self.origin(command, 1), "", refusal),
            }
            queueing.extend(command.words.iter().map(|w| w.line));
        }
        marks
    }

    /// Counts lines by what they are about.
    fn count(&self, queueing: &BTreeSet<u32>, report: &mut Report<'_>) {
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let blank = (1_u32..).zip(&self.lines).filter(|(n, line)| {
            let line = line.trim();
            !queueing.contains(n) && (line.is_empty() || line.starts_with('#'))
        });
        let blank = count(blank.count());
        let (total, queueing) = (count(self.lines.len()), count(queueing.len()));
        report.counts = LineCounts {
            total,
            blank,
            queueing,
            other: total - blank - queueing,
        };
    }

    /// Where a command stands.
    pub(super) fn origin(&self, command: &Command, column: u32) -> Origin<'t> {
        let line = command.line();
        Origin {
            line,
            column,
            text: self.lines.get(line as usize - 1).map_or("", |l| l.trim()),
        }
    }

    fn command(
        &mut self,
        n: usize,
        command: &Command,
        (object, verb): (Object, Verb),
        at: usize,
        (policers, marks): (&mut Policers, &Marks),
    ) -> Result<(), Refusal> {
        let trace = "run the script with `sh -x` and give its output, in which each command stands as it ran";
        if let Some(inside) = &command.inside {
            return Err(Refusal::NotUnderstood(format!(
                "whether it runs is not known, as it stands inside {inside}: {trace}"
            )));
        }
        if let Some(unknown) = command.words.iter().find_map(|w| w.unknown.as_ref()) {
            return Err(Refusal::NotUnderstood(format!(
                "the value of `{unknown}` is not known: {trace}"
            )));
        }
        let words = &command.words;
        let args = Args::behind(&words[at - 1], &words[at..]);
        match object {
            Object::Actions if verb == Verb::Add => defined(args, policers),
            Object::Actions => Ok(()),
            Object::Qdisc => self.qdisc(n, words, args, verb),
            Object::Class => self.class(n, words, args, verb),
            Object::Filter => self.filter(n, words, args, verb, (policers, marks)),
        }
    }

    fn device(&mut self, name: &Word) -> &mut Device {
        let device = self.devices.entry(name.text.clone()).or_default();
        if device.line == 0 {
            device.line = name.line;
            device.counted = Overhead::new(ETHERNET, 0, Cells::None);
        }
        device
    }

    fn qdisc(
        &mut self,
        n: usize,
        words: &[Word],
        mut args: Args<'_>,
        verb: Verb,
    ) -> Result<(), Refusal> {
        let mut place = Place::default();
        let mut counted = None;
        let kind = loop {
            let Some(word) = args.next() else { break None };
            match word.text.as_str() {
                "stab" => counted = Some(stab(&mut args)?),
                _ if place.word(word, &mut args)? => {}
                _ => break Some(word),
            }
        };
        let device = self.device(place.device(words)?);
        let parent = place.parent.filter(|p| *p != ROOT);
        let arrives = |w: &&Word| ["ingress", "clsact"].contains(&w.text.as_str());
        if place.ingress || kind.as_ref().is_some_and(arrives) {
            device.filters.retain(|p| p.filter.parent != INGRESS);
            let word = words.iter().find(arrives).filter(|_| verb == Verb::Add);
            device.ingress = word.map(|word| Node {
                command: n,
                handle: INGRESS,
                parent: None,
                kind: index(words, word),
            });
            return Ok(());
        }
        if verb == Verb::Delete {
            match parent {
                None => {
                    let line = device.line;
                    let arrives = |p: &Placed| p.filter.parent == INGRESS;
                    device.filters.retain(arrives);
                    *device = Device {
                        line,
                        counted: device.counted,
                        ingress: device.ingress.take(),
                        filters: std::mem::take(&mut device.filters),
                        ..Device::default()
                    };
                }
                Some(parent) => device.qdiscs.retain(|q| q.parent != Some(parent)),
            }
            return Ok(());
        }
        let Some(kind) = kind else {
            let last = &words[words.len() - 1];
            let fault = Fault::new(
                code::MISSING,
                last.column,
                "the kind of the queueing discipline is missing",
            );
            return Err(fault.found(&last.text).into());
        };
        let node = Node {
            command: n,
            handle: place.handle.unwrap_or_default(),
            parent,
            kind: index(words, kind),
        };
        match parent {
            None => {
                device.counted = counted.unwrap_or_else(|| Overhead::new(ETHERNET, 0, Cells::None));
                // Another discipline begins without classes; the same one is changed.
                let same = device
                    .root
                    .as_ref()
                    .is_some_and(|r| r.handle == node.handle);
                if !same {
                    device.classes.clear();
                    device.qdiscs.clear();
                    device.filters.retain(|p| p.filter.parent == INGRESS);
                }
                device.root = Some(node);
            }
            Some(parent) => {
                device.qdiscs.retain(|q| q.parent != Some(parent));
                device.qdiscs.push(node);
                if counted.is_some() {
                    return Err(Refusal::Unmodelled(
                        "a size table holds for the whole device here".to_owned(),
                    ));
                }
            }
        }
        Ok(())
    }

    fn class(
        &mut self,
        n: usize,
        words: &[Word],
        mut args: Args<'_>,
        verb: Verb,
    ) -> Result<(), Refusal> {
        let mut place = Place::default();
        let kind = loop {
            let Some(word) = args.next() else { break None };
            if !place.word(word, &mut args)? {
                break Some(word);
            }
        };
        let device = self.device(place.device(words)?);
        let last = &words[words.len() - 1];
        let missing = |what: &str| {
            Fault::new(code::MISSING, last.column, format!("{what} is missing")).found(&last.text)
        };
        let handle = place
            .class
            .ok_or_else(|| missing("the class's `classid`"))?;
        if verb == Verb::Delete {
            device.classes.remove(&handle);
            return Ok(());
        }
        let kind = kind.ok_or_else(|| missing("the kind of the class"))?;
        let parent = match place.parent {
            Some(p) if p != ROOT => Some(p),
            _ => device.classes.get(&handle).and_then(|c| c.parent),
        };
        let node = Node {
            command: n,
            handle,
            parent: parent.or(Some(Handle {
                major: handle.major,
                minor: 0,
            })),
            kind: index(words, kind),
        };
        device.classes.insert(handle, node);
        Ok(())
    }

    fn filter(
        &mut self,
        n: usize,
        words: &[Word],
        mut args: Args<'_>,
        verb: Verb,
        (policers, marks): (&mut Policers, &Marks),
    ) -> Result<(), Refusal> {
        let mut place = Place::default();
        let mut rest = args.clone();
        while let Some(word) = args.next() {
            if !["dev", "parent", "root", "ingress", "egress"].contains(&word.text.as_str()) {
                break;
            }
            place.word(word, &mut args)?;
            rest = args.clone();
        }
        let named = place.device(words)?;
        let device = self.device(named);
        if place.ingress || place.parent == Some(CLSACT_INGRESS) {
            place.parent = Some(INGRESS);
        } else if place.egress {
            return Err(Refusal::Unmodelled(
                "filters of clsact for packets that leave are not modelled".to_owned(),
            ));
        }
        let root = device.root.as_ref().map(|r| r.handle);
        let parent = place
            .parent
            .filter(|p| *p != ROOT)
            .or(root)
            .unwrap_or_default();
        if verb == Verb::Delete {
            if rest.peek().is_none() {
                device.filters.retain(|f| f.filter.parent != parent);
                return Ok(());
            }
            return Err(Refusal::Unmodelled(
                "single filters are not deleted here".to_owned(),
            ));
        }
        let marked = |mark| marks.of(mark, &named.text);
        let mut filter = filter(parent, rest, policers, marked)?;
        if filter.priority == u32::MAX {
            let same = device.filters.iter().filter(|f| f.filter.parent == parent);
            let least = same.map(|f| f.filter.priority).min();
            filter.priority = least.map_or(FIRST_PRIORITY, |p| p.saturating_sub(1));
        }
        device.filters.push(Placed { command: n, filter });
        Ok(())
    }
}

/// What stands for the root of a device among handles.
const ROOT: Handle = Handle {
    major: u16::MAX,
    minor: u16::MAX,
};
/// The handle of what arrives.
pub(super) const INGRESS: Handle = Handle {
    major: u16::MAX,
    minor: 0,
};
/// The same of `clsact`.
const CLSACT_INGRESS: Handle = Handle {
    major: u16::MAX,
    minor: 0xfff2,
};

/// Where something goes.
#[derive(Default)]
struct Place<'w> {
    device: Option<&'w Word>,
    handle: Option<Handle>,
    class: Option<Handle>,
    parent: Option<Handle>,
    ingress: bool,
    egress: bool,
}

impl<'w> Place<'w> {
    /// Takes a word that says where. False: it is none.
    fn word(&mut self, word: &Word, args: &mut Args<'w>) -> Result<bool, Fault> {
        let around = self.parent.map_or(0, |p| p.major);
        let read = |t: &str| Handle::read(t, around).or_else(|| Handle::read(&format!("{t}:"), 0));
        match word.text.as_str() {
            "dev" => self.device = Some(args.value("a device")?),
            "handle" => self.handle = Some(args.read("a number such as 10:", read)?),
            "parent" => self.parent = Some(args.read("a number such as 1:10", read)?),
            "classid" | "flowid" => self.class = Some(args.read("a class such as 1:10", read)?),
            "root" => self.parent = Some(ROOT),
            "ingress" => self.ingress = true,
            "egress" => self.egress = true,
            "estimator" => {
                args.value("an interval")?;
                args.value("a time constant")?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn device(&self, words: &[Word]) -> Result<&'w Word, Fault> {
        self.device.ok_or_else(|| {
            let last = &words[words.len() - 1];
            Fault::new(
                code::MISSING,
                last.column,
                "`dev` and the name of a device are missing",
            )
            .found(&last.text)
        })
    }
}

/// Which of the words it is.
fn index(words: &[Word], word: &Word) -> usize {
    let is = |w: &Word| std::ptr::eq(w, word);
    words.iter().position(is).unwrap_or_default()
}
