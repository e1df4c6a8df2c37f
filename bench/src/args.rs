//! The command line.

use std::path::PathBuf;

use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::Options;

/// What the command line may say.
pub(crate) const USAGE: &str = "\
usage: spillgate-bench SCENARIO [options]

  --set PATH=VALUE           replace a value of the scenario; may be repeated
  --value SCOPE/NAME/METRIC  print this metric too, such as total/all/jain; may be repeated
  --heap4                    use the 4-ary heap instead of the winner tree
  --plain                    take no shortcuts
  --series                   sample time series too, as `spillgate run` does
  --runs N                   runs of a campaign; with --threads
  --threads N                run the whole campaign on N threads instead of one run on one
  --help                     print this";

/// What to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Command {
    /// Print the usage.
    Help,
    /// Run a scenario.
    Run(Box<Args>),
}

/// How to run a scenario.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Args {
    /// The scenario's file.
    pub(crate) scenario: PathBuf,
    /// What replaces values of the file.
    pub(crate) options: Options,
    /// Which metrics to print.
    pub(crate) values: Vec<Wanted>,
    /// The 4-ary heap as the event set.
    pub(crate) heap4: bool,
    /// Without shortcuts.
    pub(crate) plain: bool,
    /// With time series.
    pub(crate) series: bool,
    /// Threads of a campaign; none: one run.
    pub(crate) threads: Option<usize>,
}

/// A metric of something in the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wanted {
    /// As written.
    pub(crate) text: String,
    /// What kind of thing.
    pub(crate) scope: Scope,
    /// Which one.
    pub(crate) name: String,
    /// Which metric of it.
    pub(crate) metric: Metric,
}

/// Reads the command line, without the program's name.
///
/// # Errors
/// What is wrong, naming the option.
pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Command, String> {
    let mut parsed = Args::default();
    let mut scenario = None;
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        // `--option=value` is `--option value`.
        let (option, attached) = match arg.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, Some(value.to_owned())),
            _ => (arg.as_str(), None),
        };
        if attached.is_some() && matches!(option, "--heap4" | "--plain" | "--series" | "--help") {
            return Err(format!("{option} takes no value"));
        }
        let mut value = || {
            attached
                .clone()
                .or_else(|| args.next())
                .ok_or_else(|| format!("{option} needs a value"))
        };
        match option {
            "--help" | "-h" => return Ok(Command::Help),
            "--heap4" => parsed.heap4 = true,
            "--plain" => parsed.plain = true,
            "--series" => parsed.series = true,
            "--set" => parsed.options.overrides.push(value()?),
            "--value" => parsed.values.push(wanted(&value()?)?),
            "--runs" => parsed.options.runs = Some(positive(option, &value()?)?),
            "--threads" => parsed.threads = Some(positive(option, &value()?)? as usize),
            _ if option.starts_with('-') => return Err(format!("there is no option {option}")),
            _ => {
                if let Some(first) = scenario.replace(arg.clone()) {
                    return Err(format!("two scenarios, {first} and {arg}"));
                }
            }
        }
    }
    parsed.scenario = scenario.ok_or("a scenario is missing")?.into();
    if parsed.threads.is_none() && parsed.options.runs.is_some() {
        return Err("--runs goes with --threads".to_owned());
    }
    if parsed.threads.is_some() && (parsed.heap4 || !parsed.values.is_empty()) {
        return Err("--threads goes with neither --heap4 nor --value".to_owned());
    }
    Ok(Command::Run(Box::new(parsed)))
}

fn positive(option: &str, text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(format!("{option}: {text:?} is no whole number above 0")),
    }
}

fn wanted(text: &str) -> Result<Wanted, String> {
    // The name of a queue has a slash of its own.
    let parts = text
        .split_once('/')
        .and_then(|(scope, rest)| Some((scope, rest.rsplit_once('/')?)));
    let Some((scope, (name, metric))) = parts else {
        return Err(format!("--value: {text:?} is not SCOPE/NAME/METRIC"));
    };
    let scope =
        Scope::from_name(scope).ok_or_else(|| format!("--value: there is no scope {scope:?}"))?;
    let metric = Metric::from_name(metric)
        .ok_or_else(|| format!("--value: there is no metric {metric:?}"))?;
    Ok(Wanted {
        text: text.to_owned(),
        scope,
        name: name.to_owned(),
        metric,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn everything_that_may_be_said() {
        let Ok(Command::Run(args)) =
            read("--set a.b=1 d.yaml --set=c=2 --heap4 --value queue/l/q/offered")
        else {
            panic!("a right command line was refused");
        };
        assert_eq!(args.scenario, PathBuf::from("d.yaml"));
        assert_eq!(args.options.overrides, ["a.b=1", "c=2"]);
        assert!(args.heap4);
        assert_eq!(args.values[0].name, "l/q");
        assert_eq!(args.values[0].metric, Metric::Offered);
        let Ok(Command::Run(args)) = read("d.yaml --runs 2 --threads=3") else {
            panic!("a right command line was refused");
        };
        assert_eq!((args.options.runs, args.threads), (Some(2), Some(3)));
        assert_eq!(read("--help"), Ok(Command::Help));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, naming) in [
            ("", "scenario"),
            ("a.yaml b.yaml", "b.yaml"),
            ("a.yaml --heap", "--heap"),
            ("a.yaml -x", "-x"),
            ("a.yaml --set", "--set"),
            ("a.yaml --heap4=1", "--heap4"),
            ("a.yaml --plain=1", "--plain"),
            ("a.yaml --runs 2", "--runs"),
            ("a.yaml --threads 0", "--threads"),
            ("a.yaml --threads two", "two"),
            ("a.yaml --threads 2 --heap4", "--heap4"),
            ("a.yaml --value total", "--value"),
            ("a.yaml --value all/all/jain", "scope"),
            ("a.yaml --value total/all/jane", "jane"),
        ] {
            match read(line) {
                Err(message) => assert!(message.contains(naming), "{line}: {message}"),
                Ok(_) => panic!("{line:?} was accepted"),
            }
        }
    }
}
