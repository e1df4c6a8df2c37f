//! Files outside the scenario's folder, and files that are something else than they should be: they
//! are listed or refused, and no error shows what stands in them.

use std::path::Path;

use crate::common::{Router, memory};
use spillgate_scenario::{Diagnostics, Loaded, Options, load};

const SECRET: &str = "root:$6$salt$hunter2:19000:0:99999:7:::\nspy: hunter2\n";

const KEYS: &str = "hunter2\nvalue,password\n1234,swordfish\n";

/// Every way in which a scenario names a file, as what stands in place of `@`.
fn ways() -> Vec<(&'static str, String)> {
    let flow = "traffic: [{flow: {name: f, from: a, to: b, source: {cbr: {rate: 1 Mb/s, packet: 100 B}}}}]";
    let topology = |link: &str| {
        format!("topology: {{nodes: [a, b], links: {{l: {{from: a, to: b, rate: 9 Mb/s{link}}}}}}}")
    };
    let rest = "schema_version: 1\nmeasurement: {warmup: 1 s, duration: 5 s}";
    let plain = topology("");
    let with = |name, parts: &[&str]| (name, format!("{rest}\n{}\n", parts.join("\n")));
    vec![
        with("csv", &[&plain, "traffic: [{csv: {file: @}}]"]),
        with("matrix", &[&plain, "traffic: [{matrix: {file: @}}]"]),
        with(
            "show-policy-map",
            &[
                &plain,
                "traffic: [{show-policy-map: {file: @, from: a, to: b}}]",
            ],
        ),
        with(
            "trace",
            &[&topology(", rate_process: {trace: {file: @}}"), flow],
        ),
        with(
            "mahimahi",
            &[&topology(", rate_process: {mahimahi: {file: @}}"), flow],
        ),
        with("sla", &[&plain, flow, "sla: [{file: @}]"]),
        with(
            "agreements",
            &[
                &topology(", policy: P"),
                flow,
                "policies: {P: {class-based: {classes: [{name: class-default}]}}}",
                "agreements: [{policy: P, file: @}]",
            ],
        ),
        with(
            "capture",
            &[
                &plain,
                "traffic: [{capture: {name: c, from: a, to: b, file: @}}]",
            ],
        ),
        with(
            "config",
            &[&topology(", policy: P"), flow, "configs: [{ios: @}]"],
        ),
    ]
}

fn read(scenario: &str, file: &str, secret: &str, opts: &Options) -> Result<Loaded, Diagnostics> {
    let text = scenario.replace('@', file);
    let files = memory(&[
        ("in/s.yaml", text.as_bytes()),
        (&format!("in/{file}"), secret.as_bytes()),
    ]);
    load(Path::new("in/s.yaml"), &files, &Router, opts)
}

/// What an error tells of what only the files have.
fn leaks(error: &str) -> Vec<&'static str> {
    let words = [
        "hunter2",
        "swordfish",
        "password",
        "root",
        "salt",
        "1234",
        "19000",
        "99999",
    ];
    words.into_iter().filter(|w| error.contains(w)).collect()
}

#[test]
fn errors_show_nothing_of_files_that_are_none_of_the_scenarios() {
    for (way, scenario) in ways() {
        // In the folder what is plainly something else, and beside it whatever it is.
        for (file, secret) in [
            ("secret", SECRET),
            ("secret.csv", SECRET),
            ("../secret", SECRET),
            ("../secret.csv", KEYS),
            ("../secret.yaml", KEYS),
            ("../secret.yaml", "customer: hunter2\npassword: swordfish\n"),
            ("../secret.csv", "name,hunter2,rate\nswordfish,1234\n"),
            ("../secret.csv", "time,rate\n0 s,1 Mb/s\n1 s,hunter2\n"),
            ("../secret.csv", "12\nhunter2\n"),
            ("../secret.csv", "customer,phb\nhunter2,swordfish\n"),
        ] {
            // The router of these tests reads anything; that of the program is tested with it.
            if way == "config" {
                continue;
            }
            let Err(errors) = read(&scenario, file, secret, &Options::default()) else {
                panic!("{way}: {secret:?} is taken");
            };
            let said = errors.to_string() + &serde_json::to_string(&errors).unwrap();
            assert_eq!(leaks(&said), [""; 0], "{way}, {file}: {said}");
            assert!(said.contains(file), "{way}: {said}");
        }
    }
}

/// What is the scenario's own, and what it should be, is quoted.
#[test]
fn errors_quote_tables_of_the_scenario() {
    let (_, scenario) = &ways()[0];
    let table = "name,form,to,rate,packet\nvoice,a,b,1 Mb/s,100 B\n";
    let own = read(scenario, "flows.csv", table, &Options::default()).unwrap_err();
    assert!(
        own.to_string().contains("there is no column `form`"),
        "{own}"
    );
    assert!(own.to_string().contains(" | name,form,to"), "{own}");
    let others = read(scenario, "../flows.csv", table, &Options::default()).unwrap_err();
    let [only] = &others.0[..] else {
        panic!("{others}");
    };
    assert_eq!(
        (only.file.as_str(), only.line, only.column),
        ("in/../flows.csv", Some(1), None)
    );
    assert_eq!(
        only.message,
        "the columns of a table are not the ones that are known"
    );
    assert_eq!(only.path, "traffic[0].csv");
    let hint = only.hint.as_deref().unwrap();
    assert!(
        hint.starts_with("the first line names the columns"),
        "{hint}"
    );
    assert!(
        hint.ends_with("as it lies outside the scenario's folder"),
        "{hint}"
    );
}

#[test]
fn a_confined_scenario_reads_nothing_outside_its_folder() {
    let confined = Options {
        confine: true,
        ..Options::default()
    };
    for (way, scenario) in ways() {
        for file in ["../secret", "below/../../secret", "/etc/secret"] {
            let errors = read(&scenario, file, SECRET, &confined).err().unwrap();
            let found: Vec<_> = errors.0.iter().map(|d| (d.code, &*d.file)).collect();
            assert_eq!(found, [("E0110", "in/s.yaml")], "{way}, {file}: {errors}");
            assert!(errors.0[0].line.is_some(), "{way}: {errors}");
            assert_eq!(errors.0[0].found.as_deref(), Some(file), "{way}: {errors}");
        }
        // What is there is read: the error is another.
        let inside = read(&scenario, "below/../secret", SECRET, &confined);
        let refused = |d: &spillgate_scenario::Diagnostic| d.code == "E0110";
        assert!(
            !inside.err().is_some_and(|e| e.0.iter().any(refused)),
            "{way}"
        );
    }
}

#[test]
fn files_outside_are_listed() {
    let (_, scenario) = &ways()[0];
    let table = "name,from,to,rate,packet\nvoice,a,b,1 Mb/s,100 B\n";
    let outside = |file: &str| {
        let loaded = read(scenario, file, table, &Options::default());
        let plan = loaded.unwrap_or_else(|e| panic!("{e}")).plan;
        assert_eq!(plan.files, [file]);
        plan.outside
    };
    assert_eq!(outside("flows.csv"), [""; 0]);
    assert_eq!(outside("x/../flows.csv"), [""; 0]);
    assert_eq!(outside("../flows.csv"), ["../flows.csv"]);
}

/// Whoever runs a scenario may require what they like of it.
#[test]
fn requirements_of_the_command_line_are_read() {
    let (_, scenario) = &ways()[0];
    let table = "name,from,to,rate,packet\nvoice,a,b,1 Mb/s,100 B\n";
    let customer = "customer: Acme\nobjectives: [{class: voice, metric: owd_p99, max: 50 ms}]\n";
    let text = scenario.replace('@', "flows.csv");
    let required = |customer: &str| {
        let files = memory(&[
            ("in/s.yaml", text.as_bytes()),
            ("in/flows.csv", table.as_bytes()),
            ("in/../acme.yaml", customer.as_bytes()),
        ]);
        let opts = Options {
            sla: vec!["../acme.yaml".to_owned()],
            confine: true,
            ..Options::default()
        };
        load(Path::new("in/s.yaml"), &files, &Router, &opts)
    };
    let plan = required(customer).unwrap_or_else(|e| panic!("{e}")).plan;
    assert_eq!(plan.sla.len(), 1);
    assert_eq!(plan.outside, ["../acme.yaml"]);
    // Its mistakes are shown to them, too.
    let wrong = customer.replace("owd_p99", "owd_p98");
    let errors = required(&wrong).unwrap_err().to_string();
    assert!(errors.contains("| objectives: [{class: voice"), "{errors}");
}
