//! Commands of Linux `tc`, as a shell script, a batch file, or what `tc qdisc show` and its kin
//! print.
//!
//! [`shell`] makes commands of a script, and [`shown`] of an output, [`script`] what they leave on
//! each device, and [`lower`] policies of that. The policy of a device has its name; one that
//! queues inside a class has the number of the class behind it. Classes have the names of `tc`,
//! such as `1:10`.
//!
//! # Where the model is not the kernel
//!
//! Each is listed with its line when a script has it.
//!
//! - A command inside `if`, `for` or a function, or with a value that only a running shell knows,
//!   has no effect.
//! - Filters by hash tables or by fields other than addresses, protocol, ports, DSCP and CoS have
//!   no effect, nor have those by a mark that no rule of `iptables` or `nft` in the script gives:
//!   their packets go where later filters take them.
//! - A policer holds for all filters of its class.
//! - Rates count the IP packet and 14 B, and what a size table (`stab`) says.

mod cake;
mod classes;
mod conditions;
mod filter;
mod header;
mod hierarchy;
mod ingress;
mod line;
mod lower;
mod marks;
mod queue;
mod script;
mod shell;
mod shown;
mod stab;
mod understood;
mod units;

use spillgate_scenario::{Diagnostics, Imported};

use crate::ios::fault::{Fault, code};
use crate::ios::lexer;
use crate::ios::report::{LineCounts, Report};

pub use queue::weight as red_weight;
pub use script::is_tc;
pub(crate) use understood::{understand, written};

/// Reads commands of `tc`; `file` is their name for diagnostics. With `strict` what `tc` would
/// refuse is an error; else it is left out, with a warning.
///
/// # Errors
/// Everything that is wrong, with file, line and column.
pub fn read(file: &str, bytes: &[u8], strict: bool) -> Result<(Imported, LineCounts), Diagnostics> {
    let mut report = Report::new(file, strict);
    let decoded = match lexer::decode(bytes) {
        Ok(decoded) => decoded,
        Err((line, fault)) => {
            report.error(line, "", fault);
            return Err(report.finish("").err().unwrap_or_default());
        }
    };
    if !is_tc(&decoded.text) {
        let fault = Fault::new(
            code::DIALECT,
            1,
            "no command of tc that adds a queueing discipline is in this text",
        )
        .hint("it needs lines such as `tc qdisc add dev eth0 root fq_codel`");
        report.error(1, "", fault);
        let mut errors = report.finish("").err().unwrap_or_default();
        errors.0.iter_mut().for_each(|d| d.unquoted = true);
        return Err(errors);
    }
    let script = script::Script::read(&decoded.text, &mut report);
    let mut imported = lower::lower(&script, &mut report);
    let (unmodelled, warnings, counts) = report.finish(&decoded.text)?;
    imported.unmodelled = unmodelled;
    imported.warnings = warnings;
    Ok((imported, counts))
}
