//! Cisco IOS running-configs.
//!
//! Lines become words ([`lexer`]), words become commands of the mode they
//! stand in ([`parse`], one file per block), and what was written becomes
//! policies ([`lower`]). No line is judged before all have been read, so the
//! order of blocks does not matter.

mod acl;
mod acl_mode;
mod args;
pub(crate) mod ast;
mod circuit;
mod class;
mod class_map;
mod contract;
mod dialect;
mod explain;
pub(crate) mod fault;
mod globals;
mod heads;
mod interface;
mod interface_words;
mod keyword;
pub(crate) mod lexer;
mod lower;
mod object_group;
mod parse;
mod platform;
mod police;
mod policy_map;
mod ports;
mod protocols;
mod queue;
pub(crate) mod report;
mod session;
mod shown;
mod systems;
mod understood;
mod wred;
mod written;

use std::borrow::Cow;

use spillgate_scenario::offered::Offered;
use spillgate_scenario::{Diagnostics, Imported, Importer, Platform};

use dialect::Verdict;
use fault::{Fault, code};
use parse::Parser;
use platform::PlatformProfile;
use report::Report;

pub use fault::code::CODES;
pub use interface_words::{canonical as interface_name, default_bandwidth as interface_bandwidth};
pub use lower::protocol_name;
pub(crate) use platform::layer2_bytes;
pub use platform::{counted, platform_by_name, platforms};
pub use report::LineCounts;
pub use understood::{CircuitFacts, InterfaceTree, PlatformFacts, RingFacts, Understood};
pub use written::{Definition, Written, WrittenInterface};

/// Reads Cisco IOS and IOS XE running-configs: `class-map`, `policy-map`,
/// `service-policy`, access lists that classes name, and the `bandwidth` and
/// queueing commands of interfaces.
///
/// Keywords may be abbreviated as on the command line, text need not be
/// indented, blocks may come in any order and be entered again. Values keep
/// the units of their commands: kbit/s for `bandwidth` and `priority`, bit/s
/// for `police` and `shape`, bytes for bursts (bits for those of `shape`),
/// packets for `queue-limit` and WRED thresholds.
///
/// Every line about queueing that has no effect on the simulation, or less
/// than on the router, is listed with the reason; lines about other things
/// are skipped.
///
/// What is wrong is left out, as a router refuses such a line and goes on, and what names something
/// undefined has a stand-in; either is a warning with its line that says so, or, with `strict`, an
/// error.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConfigImporter {
    /// Whether every such line is an error.
    pub strict: bool,
}

impl ConfigImporter {
    /// Reads a configuration as `platform` would and counts its lines; `file` is its name for
    /// diagnostics.
    ///
    /// # Errors
    /// Everything that is wrong in it, in the order of the lines: a file that is no text, or a
    /// configuration of another system or of none, or too large. If strict, also class-maps or
    /// policy-maps that contain themselves; percentages above 100; `priority` beside `bandwidth`;
    /// two output policies on an interface; missing, unknown or out-of-range arguments, and
    /// class-maps, policy-maps, access lists or object groups that are named and not defined.
    pub fn read(
        self,
        file: &str,
        bytes: &[u8],
        platform: Platform,
    ) -> Result<(Imported, LineCounts), Diagnostics> {
        let (imported, counts, ()) =
            self.with_config(file, bytes, platform, |_, imported| Ok((imported, ())))?;
        Ok((imported, counts))
    }

    /// Reads what a file turns out to be: commands of Linux `tc`, or a configuration as `platform`
    /// would read it.
    ///
    /// # Errors
    /// Those of [`Self::read`] and [`crate::tc::read`].
    pub fn any(
        self,
        file: &str,
        bytes: &[u8],
        platform: Platform,
    ) -> Result<Imported, Diagnostics> {
        match is_script(bytes) {
            true => self.tc(file, bytes),
            false => self.ios(file, bytes, platform),
        }
    }

    /// Reads a configuration as `platform` would, or commands of Linux `tc`, and says what was
    /// understood of it: the output
    /// policies of its interfaces, or of `interface` only (any spelling that the router takes).
    ///
    /// # Errors
    /// Those of [`Self::read`], and an interface that does not exist.
    pub fn understand(
        self,
        file: &str,
        bytes: &[u8],
        platform: Platform,
        interface: Option<&str>,
    ) -> Result<Understood, Diagnostics> {
        if is_script(bytes) {
            let (imported, _) = crate::tc::read(file, bytes, self.strict)?;
            return crate::tc::understand(file, imported, interface);
        }
        let (_, _, understood) = self.with_config(file, bytes, platform, |config, imported| {
            let profile = PlatformProfile::of(platform);
            let understood = explain::explain(file, config, profile, imported, interface)?;
            Ok((Imported::default(), understood))
        })?;
        Ok(understood)
    }

    /// Reads a configuration as `platform` would, or commands of Linux `tc`, and says where
    /// everything in it stands.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn written(
        self,
        file: &str,
        bytes: &[u8],
        platform: Platform,
    ) -> Result<Written, Diagnostics> {
        if is_script(bytes) {
            return Ok(crate::tc::written(self.tc(file, bytes)?));
        }
        let text = lexer::decode(bytes).map(|d| d.text).unwrap_or_default();
        let (_, _, written) = self.with_config(file, bytes, platform, |config, imported| {
            let profile = PlatformProfile::of(platform);
            let written = written::written(&text, config, profile, imported);
            Ok((Imported::default(), written))
        })?;
        Ok(written)
    }

    /// Reads and lowers; `then` sees both what was written and what it became.
    fn with_config<T>(
        self,
        file: &str,
        bytes: &[u8],
        platform: Platform,
        then: impl FnOnce(&ast::Config<'_>, Imported) -> Result<(Imported, T), Diagnostics>,
    ) -> Result<(Imported, LineCounts, T), Diagnostics> {
        let mut report = Report::new(file, self.strict);
        let decoded = match lexer::decode(bytes) {
            Ok(decoded) => decoded,
            Err((line, fault)) => {
                report.error(line, "", fault);
                return Err(report.finish("").err().unwrap_or_default());
            }
        };
        if let Some(line) = decoded.latin1_line {
            let fault = Fault::new(code::LATIN1, 1, "the file is not UTF-8: taken as Latin-1");
            report.warn(line, "", fault.hint("save the file as UTF-8"));
        }
        match dialect::judge(&decoded.text) {
            Verdict::Foreign(line, fault) => {
                report.error(line, "", fault);
                return Err(report.finish(&decoded.text).err().unwrap_or_default());
            }
            Verdict::Nothing(line, fault) => {
                report.error(line, "", fault);
                let mut errors = report.finish("").err().unwrap_or_default();
                errors.0.iter_mut().for_each(|d| d.unquoted = true);
                return Err(errors);
            }
            Verdict::Ios { xr: Some(line) } if platform != Platform::IosXr => {
                let message = format!(
                    "this looks like a configuration of IOS XR, read as one of `{}`",
                    platform.name()
                );
                let fault = Fault::new(code::OTHER_PLATFORM, 1, message);
                report.warn(
                    line,
                    "",
                    fault.hint("name the platform `ios-xr`, whose defaults and rules differ"),
                );
            }
            Verdict::Ios { .. } => {}
        }
        let text = unwrapped(file, decoded.text, &mut report);
        let mut config = parsed(&text, &mut report);
        let mut imported = lower::lower(&mut config, PlatformProfile::of(platform), &mut report);
        let (unmodelled, warnings, counts) = report.finish(&text)?;
        imported.unmodelled = unmodelled;
        imported.warnings = warnings;
        let (imported, result) = then(&config, imported)?;
        Ok((imported, counts, result))
    }
}

/// Whether a file has commands of Linux `tc`.
fn is_script(bytes: &[u8]) -> bool {
    lexer::decode(bytes).is_ok_and(|d| crate::tc::is_tc(&d.text))
}

/// Texts that never end, of which a file may have as many: each costs one more reading.
const MAX_ENDLESS: usize = 8;

/// The commands of a text. What follows a banner that never ends is read again, as configuration.
fn parsed<'t>(text: &'t str, report: &mut Report<'_>) -> ast::Config<'t> {
    let mut endless: Vec<u32> = Vec::new();
    loop {
        let before = report.clone();
        let mut parser = Parser::knowing(report, &endless);
        for line in lexer::lines(text) {
            parser.line(line);
        }
        let parsed = parser.finish();
        match parsed.open {
            Some(line) if endless.len() < MAX_ENDLESS => endless.push(line),
            _ => return parsed.config,
        }
        *report = before;
    }
}

/// The text with the lines that a terminal broke in one piece again.
fn unwrapped<'t>(file: &str, text: Cow<'t, str>, report: &mut Report<'_>) -> Cow<'t, str> {
    if !session::may_be_wrapped(&text) {
        return text;
    }
    let mut aside = Report::new(file, false);
    let mut parser = Parser::new(&mut aside);
    for line in lexer::lines(&text) {
        parser.line(line);
    }
    let rest = parser.finish().wrapped;
    if rest.is_empty() {
        return text;
    }
    for number in &rest {
        let message =
            format!("line {number} seems to be the end of this line, which a terminal broke");
        let fault = Fault::new(code::BROKEN, 1, message);
        let hint = "copy the configuration without line breaks (`terminal width 0`)";
        // A line in three pieces is said twice, at the first.
        let first = (1..*number).rev().find(|n| rest.binary_search(n).is_err());
        let (line, together) = (first.unwrap_or(1), "they are put together");
        report.stand_in(code::WRAPPED, line, "", fault.hint(hint), together);
    }
    session::join(&text, &rest).into()
}

impl Importer for ConfigImporter {
    fn ios(&self, file: &str, bytes: &[u8], platform: Platform) -> Result<Imported, Diagnostics> {
        self.read(file, bytes, platform)
            .map(|(imported, _)| imported)
    }

    fn tc(&self, file: &str, bytes: &[u8]) -> Result<Imported, Diagnostics> {
        crate::tc::read(file, bytes, self.strict).map(|(imported, _)| imported)
    }

    fn offered(&self, file: &str, bytes: &[u8]) -> Result<Offered, Diagnostics> {
        crate::show::offered(file, bytes)
    }
}
