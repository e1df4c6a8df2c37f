//! However a configuration was copied, it means the same: without indentation, behind prompts, with
//! line ends of DOS, or through a pager.

use std::fs;
use std::path::{Path, PathBuf};

use spillgate_import::{ConfigImporter, LineCounts};
use spillgate_scenario::{Imported, Platform};

fn configurations() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folders = ["configs", "errors", "layouts"];
    let files = folders
        .iter()
        .flat_map(|f| fs::read_dir(root.join(f)).unwrap());
    let mut all: Vec<_> = files
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "cfg"))
        .collect();
    all.sort();
    all
}

fn platform(path: &Path) -> Platform {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let said = stem
        .rsplit_once('.')
        .and_then(|(_, p)| Platform::by_name(p));
    said.unwrap_or_default()
}

fn read(text: &str, platform: Platform) -> Option<(Imported, LineCounts)> {
    ConfigImporter::default()
        .read("r.cfg", text.as_bytes(), platform)
        .ok()
}

/// What of a configuration must not depend on how it was copied.
fn meaning(imported: &Imported) -> (String, Vec<String>, Vec<String>) {
    let policies = serde_json::to_string(&imported.policies).unwrap();
    let interfaces = imported.interfaces.iter().map(|(name, i)| {
        let policy = |p: &Option<(String, u32)>| p.as_ref().map(|(p, _)| p.clone());
        let circuit = i
            .circuit
            .as_ref()
            .map(|c| (c.vc, c.contract.as_ref().map(|c| c.0.clone())));
        format!(
            "{name} {:?} {:?} {:?} {:?} {circuit:?}",
            i.bandwidth,
            policy(&i.output_policy),
            policy(&i.input_policy),
            i.vlan
        )
    });
    let mut listed: Vec<String> = imported.unmodelled.iter().map(|u| u.text.clone()).collect();
    listed.sort();
    (policies, interfaces.collect(), listed)
}

/// The mode that a line's prompt shows, as far as readers care: any will do.
fn behind_prompts(text: &str) -> String {
    let line = |l: &str| match l.contains("(config") {
        true => format!("{l}\n"),
        false => format!("R1(config-pmap-c)#{}\n", l.trim()),
    };
    text.lines().map(line).collect()
}

fn paged(text: &str) -> String {
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        if i % 7 == 6 {
            out += " --More-- \u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}        \u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}\u{8}";
        }
        if i % 11 == 10 {
            out += " --More-- \n";
        }
        out += line;
        out.push('\n');
    }
    out
}

fn session(text: &str) -> String {
    format!(
        "R1>enable\nPassword: \nR1#terminal length 0\nR1#show running-config\nBuilding configuration...\n\nCurrent configuration : {} bytes\n{text}\nR1#\nR1#exit\n",
        text.len()
    )
}

/// In every form: the same policies and interfaces, and no line that is listed otherwise is lost.
#[test]
fn copying_does_not_change_the_meaning() {
    let mut differ = Vec::new();
    for path in configurations() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(&path).unwrap();
        let text: String = String::from_utf8_lossy(&bytes).into_owned();
        let platform = platform(&path);
        let Some((plain, _)) = read(&text, platform) else {
            continue;
        };
        let flat: String = text
            .lines()
            .map(|l| format!("{}\n", l.trim_start()))
            .collect();
        let forms = [
            ("CRLF", text.replace('\n', "\r\n")),
            ("flat", flat.clone()),
            ("flat CRLF", flat.replace('\n', "\r\n")),
            ("prompts", behind_prompts(&text)),
            ("paged", paged(&text)),
            ("flat, paged", paged(&flat)),
            ("session", session(&text)),
            ("flat session", session(&flat)),
        ];
        for (form, other) in forms {
            let Some((read, _)) = read(&other, platform) else {
                differ.push(format!("{name} {form}: refused"));
                continue;
            };
            let (is, was) = (meaning(&read), meaning(&plain));
            // More may be listed, not less.
            let missing = was.2.iter().any(|t| !is.2.contains(t));
            if (&is.0, &is.1) != (&was.0, &was.1) || missing {
                let gone: Vec<_> = was.2.iter().filter(|t| !is.2.contains(t)).collect();
                let new: Vec<_> = is.2.iter().filter(|t| !was.2.contains(t)).collect();
                let i: Vec<_> = was.1.iter().zip(&is.1).filter(|(a, b)| a != b).collect();
                differ.push(format!("{name} {form}: policies alike {}, interfaces {i:?}, gone {gone:?}, new {new:?}", is.0 == was.0));
            }
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

const SHOWN: [&str; 2] = [
    "R1#show policy-map
  Policy Map WAN
    Class VOICE
      priority 64 (kbps)
    Class class-default
      fair-queue
",
    "R1#show policy-map interface
 Serial0/0
  Service-policy output: WAN
    Class-map: VOICE (match-any)
      5 packets, 300 bytes
      5 minute offered rate 0 bps, drop rate 0 bps
      Match: dscp ef (46)
      Priority: 64 kbps, burst bytes 1600, b/w exceed drops: 0
    Class-map: class-default (match-any)
      queue limit 64 packets
      (queue depth/total drops/no-buffer drops) 0/0/0
",
];

const CONFIG: &str = "class-map match-any VOICE
 match dscp ef
policy-map WAN
 class VOICE
  priority 128
interface Serial0/0
 service-policy output WAN
";

/// Output of `show` commands beside a configuration changes nothing of it, and each policy and
/// class of it is listed; alone it is no configuration.
#[test]
fn pasted_output_is_listed_and_not_read() {
    let (plain, _) = read(CONFIG, Platform::Ios).unwrap();
    for output in SHOWN {
        let flat =
            |t: &str| -> String { t.lines().map(|l| format!("{}\n", l.trim_start())).collect() };
        for text in [
            format!("{output}R1#show running-config\n{CONFIG}"),
            format!("R1#show running-config\n{CONFIG}R1#\n{output}"),
            format!("{output}{CONFIG}"),
            flat(&format!("{output}{CONFIG}R1#")),
            flat(&format!("{CONFIG}{output}")),
        ] {
            let (imported, _) = read(&text, Platform::Ios).unwrap();
            let (is, was) = (meaning(&imported), meaning(&plain));
            assert_eq!((is.0, is.1), (was.0, was.1), "{text}");
            let named = |l: &str| {
                ["Policy Map", "Class", "Service-policy"]
                    .iter()
                    .any(|w| l.trim().starts_with(w))
            };
            for (i, line) in text.lines().enumerate().filter(|(_, l)| named(l)) {
                let listed = imported.unmodelled.iter().any(|u| u.line as usize == i + 1);
                assert!(listed, "{line}\n{text}");
            }
            assert_eq!(imported.warnings, [], "{text}");
        }
        let errors = ConfigImporter::default().read("r.cfg", output.as_bytes(), Platform::Ios);
        let errors = errors.unwrap_err();
        assert!(errors.0[0].message.contains("show policy-map"), "{errors}");
    }
}
