use super::*;

fn tree(text: &str) -> Result<Node, Vec<Diagnostic>> {
    let mut texts = Texts::default();
    let id = texts.file("t.yaml", text.as_bytes());
    parse(text, id, &texts)
}

fn message(text: &str) -> String {
    let e = tree(text).unwrap_err();
    let place = |n: Option<u32>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    format!(
        "{}:{}: {}",
        place(e[0].line),
        place(e[0].column),
        e[0].message
    )
}

#[test]
fn values_know_their_places() {
    let root =
        tree("# head\nlinks:\n  wan: {rate: 100 Mb/s, n: 3}\nlist:\r\n- \"é\"\r\n- 'x: y'\r\n")
            .unwrap();
    let rate = root
        .get("links")
        .and_then(|n| n.get("wan"))
        .and_then(|n| n.get("rate"))
        .unwrap();
    assert_eq!(rate.text(), Some("100 Mb/s"));
    assert_eq!(
        (rate.span.line, rate.span.column, rate.span.width),
        (3, 15, 8)
    );
    let Value::Seq(items) = &root.get("list").unwrap().value else {
        panic!()
    };
    assert_eq!(items[1].value, Value::Str("x: y".to_owned()));
    assert_eq!((items[1].span.line, items[1].span.column), (6, 3));
}

#[test]
fn json_is_yaml() {
    let root = tree("{\"a\": [1, 2.5, null, true], \"b\": {\"c\": \"\\u00e9\"}}").unwrap();
    assert_eq!(root.get("b").unwrap().get("c").unwrap().text(), Some("é"));
}

#[test]
fn every_duplicate_key_is_reported() {
    let e = tree("a: 1\na: 2\nb: {c: 1, c: 2}\n").unwrap_err();
    assert_eq!(e.len(), 2);
    assert_eq!((e[1].line, e[1].column), (Some(3), Some(11)));
}

#[test]
fn what_scenarios_do_not_use_is_refused_by_name() {
    assert_eq!(
        message("a: 1\n---\nb: 2\n"),
        "2:1: a second document begins here"
    );
    assert_eq!(message("[1, 2]: x\n"), "1:1: a list or mapping as a key");
    assert_eq!(message("a: !thing 1\n"), "1:4: this tag does not fit here");
    assert_eq!(
        message("a: &x {b: 1}\nc:\n  <<: *x\n"),
        "3:3: merge keys (`<<`) are not part of YAML 1.2"
    );
    assert_eq!(
        message("a: &x [*x]\n"),
        "1:8: the alias stands inside what it repeats"
    );
    assert!(message("a:\n\tb: 1\n").starts_with("2:"));
}

#[test]
fn aliases_repeat_and_are_bounded() {
    let root = tree("a: &r 5 ms\nb: *r\n").unwrap();
    assert_eq!(root.get("b").unwrap().text(), Some("5 ms"));
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..9 {
        let refs = vec![format!("*a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("a{i}: &a{i} [{refs}]\n"));
    }
    assert!(message(&bomb).contains("aliases expand to more than"));
}

#[test]
fn the_number_of_values_is_bounded() {
    let up_to = |most| parse_up_to(most, "a: [1, 2]\n", 0, &Texts::default());
    assert!(up_to(5).is_ok());
    let errors = up_to(4).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].message, "there are more than 4000000 values");
}

#[test]
fn nesting_is_bounded() {
    assert!(tree(&format!("{}1{}", "[".repeat(64), "]".repeat(64))).is_ok());
    assert!(
        message(&format!("{}1{}", "[".repeat(65), "]".repeat(65))).contains("more than 64 deep")
    );
    assert!(tree(&"[".repeat(100_000)).is_err());
    assert!(tree(&"- ".repeat(100_000)).is_err());
}
