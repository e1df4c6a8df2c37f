//! The output of `show policy-map interface`, IOS, IOS XE and IOS XR.
//!
//! The first numbers of a class are its own; numbers after a `Match:` belong to that statement.
//! Which class a line belongs to follows from indentation. In text that has lost it, a nested
//! policy ends with its `class-default`, which every policy-map has last. Prompts, `--More--` and
//! lines about anything else are skipped. IOS XR says the interface in the line of its policy, the
//! policy of a nested class in the line of the class, and nothing of what a class matches.

mod line;

use spillgate_core::Dscp;
use spillgate_scenario::offered::{Offered, OfferedClass, OfferedPolicy};
use spillgate_scenario::{Diagnostic, Diagnostics, decode};

use crate::ios::layer2_bytes;
use line::{ShowLine, Statement};

/// Codes of errors in an output.
pub(crate) mod code {
    spillgate_scenario::diagnostic_codes! {
        NO_POLICY = "E0731", "The text is not an output of `show policy-map interface`.";
        BAD_LINE = "E0732", "A line of the output is cut off or not as the router writes it.";
        W_CUT = "W0731", "A class whose numbers are missing: the output is cut off.";
    }
}

use code::{BAD_LINE, NO_POLICY, W_CUT};

/// Policies within policies that are read: routers allow three.
const MAX_DEPTH: usize = 8;
/// Errors of one output.
const MAX_ERRORS: usize = 50;

/// Whether a text looks like an output of `show policy-map interface` rather than a configuration.
pub fn is_show_output(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.lines().any(|l| {
        let line = ShowLine::of(1, l);
        matches!(
            line.said(),
            Ok(Statement::Policy {
                direction: Some(_),
                ..
            } | Statement::InterfacePolicy { .. })
        )
    })
}

/// The classes of every policy in an output, with their rates and counters.
///
/// # Errors
/// Text that is not UTF-8, no policy, a class outside a policy, numbers that are cut off or too
/// large; each with its line.
pub fn offered(file: &str, bytes: &[u8]) -> Result<Offered, Diagnostics> {
    let text = decode(file, bytes)?;
    let mut reader = Reader::default();
    for (i, raw) in text.lines().enumerate() {
        let number = u32::try_from(i + 1).unwrap_or(u32::MAX);
        let line = ShowLine::of(number, raw);
        if let Err(d) = reader.line(&line) {
            reader.errors.push(d.in_line(file, &line, raw));
            if reader.errors.len() >= MAX_ERRORS {
                break;
            }
        }
    }
    if reader.policies.is_empty() && reader.errors.is_empty() {
        let d = Diagnostic::error(NO_POLICY, "there is no policy in this output").at(file, 1, 1);
        let hint = "save what `show policy-map interface` prints, from the interface's name on";
        reader.errors.push(d.hint(hint));
    }
    if !reader.errors.is_empty() {
        return Err(Diagnostics(reader.errors));
    }
    let mut offered = Offered {
        policies: reader.policies,
        warnings: Vec::new(),
    };
    for policy in &mut offered.policies {
        policy.framing = layer2_bytes(&policy.interface);
        for class in policy.classes.iter().filter(|c| c.offered_bps.is_none()) {
            let message = format!("class `{}` shows no offered rate", class.name);
            let d = Diagnostic::warning(W_CUT, message).at(file, class.line, 1);
            let hint = "the output may be cut off here: the class is left out of a simulation";
            offered.warnings.push(d.hint(hint));
        }
    }
    Ok(offered)
}

/// An error in a line.
struct BadLine {
    code: &'static str,
    message: &'static str,
    found: String,
    hint: &'static str,
}

impl BadLine {
    fn in_line(self, file: &str, line: &ShowLine<'_>, raw: &str) -> Diagnostic {
        let mut d = Diagnostic::error(self.code, self.message)
            .at(file, line.number, line.column)
            .found(self.found)
            .hint(self.hint);
        d.source = Some(raw.trim_end().to_owned());
        d
    }
}

fn fault(message: &'static str, found: &str, hint: &'static str) -> BadLine {
    BadLine {
        code: BAD_LINE,
        message,
        found: found.chars().take(80).collect(),
        hint,
    }
}

/// An open policy: the classes that follow at its depth are its own.
#[derive(Debug)]
struct Level {
    /// Its name.
    policy: String,
    /// Indentation of its `Service-policy`.
    indent: usize,
    /// Its last class was `class-default`.
    ended: bool,
}

#[derive(Default)]
struct Reader {
    policies: Vec<OfferedPolicy>,
    interface: String,
    levels: Vec<Level>,
    /// Names of the classes that contain the open policies: one less than `levels`.
    path: Vec<String>,
    /// A statement has begun within the class: counters that follow are not the class's.
    matching: bool,
    in_class: bool,
    errors: Vec<Diagnostic>,
}

impl Reader {
    fn class(&mut self) -> Option<&mut OfferedClass> {
        if !self.in_class {
            return None;
        }
        self.policies.last_mut().and_then(|p| p.classes.last_mut())
    }

    fn line(&mut self, line: &ShowLine<'_>) -> Result<(), BadLine> {
        let hint = "copy the whole line from the router again";
        match line
            .said()
            .map_err(|found| fault("a number is cut off or too large", &found, hint))?
        {
            Statement::Interface(name, vc) => {
                self.interface = vc.map_or_else(|| name.to_owned(), |vc| format!("{name} {vc}"));
                self.levels.clear();
                self.path.clear();
                self.in_class = false;
            }
            Statement::Policy {
                direction: Some(direction),
                name,
            } => self.begin(line, direction, name)?,
            Statement::Policy {
                direction: None,
                name,
            } => self.nest(line, name)?,
            Statement::Class(name) => self.open(line, name)?,
            Statement::InterfacePolicy {
                interface,
                direction,
                name,
            } => {
                self.interface = interface.to_owned();
                self.begin(line, direction, name)?;
            }
            Statement::PolicyClass { policy, name } => self.open_in(line, policy, name)?,
            Statement::Matched {
                packets,
                bytes,
                rate,
            } => {
                if let Some(class) = self.class() {
                    class.packets = Some(packets);
                    class.bytes = Some(bytes);
                    class.offered_bps = rate;
                }
            }
            Statement::Dropped { packets, rate } => {
                if let Some(class) = self.class() {
                    class.total_drops = Some(packets);
                    class.drop_bps = rate;
                }
            }
            Statement::Depth(packets) => {
                if let Some(class) = self.class() {
                    class.queue_depth = Some(packets);
                }
            }
            Statement::Match(text) => {
                self.matching = true;
                let (dscp, text) = (code_points(text), text.to_owned());
                if let Some(class) = self.class() {
                    class.matches.push(text);
                    class.dscp.extend(dscp);
                }
            }
            Statement::Counters { packets, bytes } if !self.matching => {
                if let Some(class) = self.class() {
                    class.packets = class.packets.or(Some(packets));
                    class.bytes = class.bytes.or(Some(bytes));
                }
            }
            Statement::Rates {
                seconds,
                offered,
                dropped,
            } => {
                if let Some(class) = self.class().filter(|c| c.offered_bps.is_none()) {
                    class.interval_s = Some(seconds);
                    class.offered_bps = Some(offered);
                    class.drop_bps = dropped;
                }
            }
            Statement::Queue {
                depth,
                drops,
                no_buffer,
            } => {
                if let Some(class) = self.class() {
                    class.queue_depth = class.queue_depth.or(Some(depth));
                    class.total_drops = Some(drops);
                    class.no_buffer_drops = no_buffer;
                }
            }
            Statement::Exceeded(drops) => {
                if let Some(class) = self.class() {
                    class.total_drops = class.total_drops.or(Some(drops));
                }
            }
            Statement::Counters { .. } | Statement::Other => {}
        }
        Ok(())
    }

    fn begin(
        &mut self,
        line: &ShowLine<'_>,
        direction: &'static str,
        name: &str,
    ) -> Result<(), BadLine> {
        if name.is_empty() {
            let hint = "write it as the router does: Service-policy output: WAN";
            return Err(fault("the policy has no name", line.text, hint));
        }
        self.policies.push(OfferedPolicy {
            interface: self.interface.clone(),
            direction,
            policy: name.to_owned(),
            line: line.number,
            ..OfferedPolicy::default()
        });
        self.path.clear();
        self.levels = vec![Level {
            policy: name.to_owned(),
            indent: line.indent,
            ended: false,
        }];
        self.in_class = false;
        Ok(())
    }

    /// A policy within the current class.
    fn nest(&mut self, line: &ShowLine<'_>, name: &str) -> Result<(), BadLine> {
        if self.levels.len() >= MAX_DEPTH {
            let hint = "routers have three levels; copy the output again";
            return Err(fault("policies are nested too deeply", line.text, hint));
        }
        let Some(class) = self.class() else {
            let hint = "copy the output from the interface's name on";
            return Err(fault("a nested policy outside a class", line.text, hint));
        };
        class.child = Some(name.to_owned());
        let within = class.name.clone();
        self.path.push(within);
        self.levels.push(Level {
            policy: name.to_owned(),
            indent: line.indent,
            ended: false,
        });
        self.in_class = false;
        Ok(())
    }

    /// A class of IOS XR, of the interface's policy or of one within the class above.
    fn open_in(
        &mut self,
        line: &ShowLine<'_>,
        policy: Option<&str>,
        name: &str,
    ) -> Result<(), BadLine> {
        if self.policies.is_empty() {
            return self.open(line, name);
        }
        let Some(policy) = policy else {
            self.levels.truncate(1);
            self.path.clear();
            return self.add(line, name);
        };
        // Deeper policies have ended.
        while self.levels.len() > 1 && self.levels[self.levels.len() - 1].indent > line.indent {
            self.levels.pop();
            self.path.pop();
        }
        let innermost = self.levels.last();
        let goes_on = innermost.is_some_and(|l| l.policy == policy && l.indent == line.indent);
        if self.levels.len() == 1 || !goes_on {
            self.nest(line, policy)?;
        }
        self.add(line, name)
    }

    fn open(&mut self, line: &ShowLine<'_>, name: &str) -> Result<(), BadLine> {
        if name.is_empty() {
            let hint = "write it as the router does: Class-map: VOICE (match-any)";
            return Err(fault("the class has no name", line.text, hint));
        }
        // The class belongs to the innermost policy that it is indented deeper than, or that goes
        // on where nothing is indented.
        while self.levels.len() > 1 {
            let innermost = &self.levels[self.levels.len() - 1];
            let flat = self.levels.iter().all(|l| l.indent == line.indent);
            let outside = if flat {
                innermost.ended
            } else {
                line.indent <= innermost.indent
            };
            if !outside {
                break;
            }
            self.levels.pop();
            self.path.pop();
        }
        self.add(line, name)
    }

    /// A class of the innermost policy.
    fn add(&mut self, line: &ShowLine<'_>, name: &str) -> Result<(), BadLine> {
        let (Some(level), Some(policy)) = (self.levels.last_mut(), self.policies.last_mut()) else {
            let hint = "copy the output from the interface's name on, with its Service-policy line";
            return Err(fault("a class outside a policy", line.text, hint));
        };
        level.ended = name == "class-default";
        policy.classes.push(OfferedClass {
            name: name.to_owned(),
            within: self.path.clone(),
            line: line.number,
            ..OfferedClass::default()
        });
        self.in_class = true;
        self.matching = false;
        Ok(())
    }
}

/// The code points of a `Match:` statement such as `ip dscp af31 (26) af32 (28)`; none of a
/// negation.
fn code_points(text: &str) -> Vec<Dscp> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = match words[..] {
        ["ip" | "ipv6", ..] => &words[1..],
        _ => &words[..],
    };
    let Some((&kind, values)) = words.split_first() else {
        return Vec::new();
    };
    // A name is followed by its number in parentheses.
    let values = values.iter().filter(|v| !v.starts_with('('));
    let mut found = Vec::new();
    for value in values {
        let point = match kind {
            "dscp" => value.parse().ok(),
            "precedence" => value
                .parse::<u8>()
                .ok()
                .filter(|p| *p < 8)
                .and_then(|p| Dscp::new(8 * p)),
            _ => None,
        };
        found.extend(point.filter(|p| !found.contains(p)));
    }
    found
}
