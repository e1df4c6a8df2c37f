//! What is derived of a configuration against what routers print of it, number by number; the
//! format is in `pairs/README.txt`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use spillgate_import::ConfigImporter;
use spillgate_scenario::Platform;

/// A number that a router prints, under the name that `differs` takes, and what is derived for it.
struct Number {
    name: &'static str,
    printed: u64,
    derived: Option<u64>,
}

/// The class of a policy of this name, at any depth.
fn class<'v>(policy: &'v Value, of: &str, name: &str) -> Option<&'v Value> {
    for class in policy["classes"].as_array()? {
        if policy["policy"] == of && class["name"] == name {
            return Some(class);
        }
        if let Some(found) = self::class(class, of, name) {
            return Some(found);
        }
    }
    None
}

/// The number behind a word.
fn behind(line: &str, word: &str) -> u64 {
    let rest = line
        .split_once(word)
        .unwrap_or_else(|| panic!("{word}: {line}"))
        .1;
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().unwrap_or_else(|_| panic!("{word}: {line}"))
}

/// A queue's limit in the unit of the line.
fn limit(class: &Value, unit: &str) -> Option<u64> {
    let text = class["limit"].as_str()?;
    let (number, of) = text.split_once(' ')?;
    (of == unit).then(|| number.parse().ok())?
}

fn threshold(class: &Value, value: &str, key: &str) -> Option<u64> {
    let all = class["thresholds"].as_array()?;
    let has = |t: &&Value| {
        let of = t["words"].as_str().and_then(|w| w.split_once(':'));
        of.is_some_and(|(of, _)| of.split([' ', ',']).any(|v| v == value))
    };
    let number = all.iter().find(has)?[key].as_f64()?;
    // One in so many is dropped at the maximum.
    let number = if key == "probability" {
        1.0 / number
    } else {
        number
    };
    Some((number + 0.5) as u64)
}

/// The numbers of a line, and what is derived for them.
fn numbers(line: &str, class: &Value) -> Vec<Number> {
    let of = |name, printed, derived| Number {
        name,
        printed,
        derived,
    };
    let at = |pointer: &str| class.pointer(pointer).and_then(Value::as_u64);
    if line.starts_with("shape (average)") {
        let bits = behind(line, " bc ") + behind(line, " be ");
        return vec![
            of("cir", behind(line, "cir "), at("/shape/rate")),
            of("bucket", bits / 8, at("/shape/burst")),
        ];
    }
    if line.starts_with("target shape rate") {
        return vec![of("target", behind(line, "rate "), at("/shape/rate"))];
    }
    let mut found = Vec::new();
    if line.starts_with("cir ") || line.starts_with("rate ") {
        let burst = if line.starts_with("cir") {
            " bc "
        } else {
            "burst "
        };
        let rate = behind(line, line.split_once(' ').unwrap().0);
        found.push(of("cir", rate, at("/police/rate")));
        found.push(of("bc", behind(line, burst), at("/police/burst")));
    }
    if line.contains("pir ") {
        found.push(of("pir", behind(line, "pir "), at("/police/peak_rate")));
        found.push(of("be", behind(line, " be "), at("/police/excess_burst")));
    }
    if line.starts_with("Priority:") {
        let rate = behind(line, "(") * 1000;
        let burst = behind(line, "burst bytes ");
        found.push(of("priority", rate, at("/priority_policer/rate")));
        found.push(of("burst", burst, at("/priority_policer/burst")));
    }
    if line.starts_with("Priority Level:") {
        found.push(of("level", behind(line, "Level:"), at("/level")));
    }
    if line.starts_with("bandwidth ") {
        let kbps = match line.split_once('(') {
            Some((_, rest)) if !rest.starts_with("kbps") => behind(rest, ""),
            _ => behind(line, "bandwidth "),
        };
        // What it asks for; while all wait it may get more, of what nobody asked for.
        let asked = class["asked"].as_str().unwrap_or_default();
        let percent = line.split_once('%').map(|_| behind(line, "bandwidth "));
        let says = match percent {
            Some(p) => {
                format!("bandwidth {p} %") == asked && at("/guaranteed") == Some(kbps * 1000)
            }
            None => {
                format!("bandwidth {kbps} kb/s") == asked
                    || format!("bandwidth {} Mb/s", kbps / 1000) == asked
            }
        };
        found.push(of("bandwidth", kbps, says.then_some(kbps)));
    }
    if line.starts_with("queue limit ") {
        let unit = if line.ends_with("bytes") {
            "B"
        } else {
            "packets"
        };
        found.push(of("limit", behind(line, "limit "), limit(class, unit)));
    }
    if line.starts_with("Exp-weight-constant:") {
        // 9 is the default of all platforms.
        let n = at("/parameters/wred/exponential_weighting_constant").or(Some(9));
        found.push(of("weight", behind(line, "constant:"), n));
    }
    if line.starts_with("Fair-queue: per-flow") {
        let each = at("/flow_packets");
        found.push(of("each", behind(line, "queue limit "), each));
    }
    if line.starts_with(|c: char| c.is_ascii_digit()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [value, min, max, probability] = words[..] else {
            panic!("{line}")
        };
        let number = |w: &str| w.parse().unwrap();
        let one_in = number(probability.strip_prefix("1/").unwrap());
        found.push(of("min", number(min), threshold(class, value, "min")));
        found.push(of("max", number(max), threshold(class, value, "max")));
        found.push(of("mark", one_in, threshold(class, value, "probability")));
    }
    found
}

#[test]
fn derived_numbers_are_those_that_routers_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pairs");
    let mut files: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.retain(|p| !p.ends_with("README.txt"));
    files.sort();
    let (mut compared, mut wrong) = (0, Vec::new());
    for path in &files {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(path).unwrap();
        let (head, rest) = text.split_once("config:\n").unwrap();
        let (config, shown) = rest.split_once("shows: ").unwrap();
        let head = |key: &str| -> Vec<&str> {
            let lines = head.lines();
            lines.filter_map(|l| l.strip_prefix(key)).collect()
        };
        let platform = Platform::by_name(head("platform: ")[0]).unwrap();
        assert!(!head("source: ")[0].is_empty(), "{name}");
        let mut differs = head("differs: ");
        let mut shown = shown.lines();
        let interface = shown.next().unwrap();
        let understood = ConfigImporter { strict: true }
            .understand(name, config.as_bytes(), platform, Some(interface))
            .unwrap();
        let understood = serde_json::to_value(understood).unwrap();
        let policy = &understood["interfaces"][0]["policy"];
        let (mut of, mut within) = ("", &Value::Null);
        for line in shown {
            if let Some((_, policy)) = line
                .split_once("Service-policy")
                .and_then(|(_, rest)| rest.split_once(": "))
            {
                of = policy;
            } else if let Some(rest) = line.strip_prefix("Class-map: ") {
                let class = rest.split_once(' ').unwrap().0;
                within = self::class(policy, of, class).unwrap_or_else(|| panic!("{name}: {line}"));
            } else {
                let numbers = numbers(line, within);
                assert!(!numbers.is_empty(), "{name}: {line}");
                for n in numbers {
                    compared += 1;
                    let said = n
                        .derived
                        .map_or_else(|| "nothing".to_owned(), |d| d.to_string());
                    let known = format!("{} {} {said} ", n.name, n.printed);
                    if let Some(i) = differs.iter().position(|d| d.starts_with(&known)) {
                        differs.remove(i);
                    } else if n.derived != Some(n.printed) {
                        wrong.push(format!("{name}: {line}\n  {known}"));
                    }
                }
            }
        }
        // A difference that is none any more must go.
        wrong.extend(
            differs
                .iter()
                .map(|d| format!("{name}: differs no more: {d}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 90, "{compared}");
}
