//! Policies of router configurations as parts of the scenario's tree.
//!
//! They become ordinary nodes below `policies` before overrides are applied, so that `--set` and
//! the `set` of variants reach their values. Each node has the place of its line in the
//! configuration, which errors name.

use std::path::Path;

use serde_json::Value as Json;
use spillgate_core::Packets;

use crate::codes;
use crate::ctx::Ctx;
use crate::de::from_node;
use crate::error::Diagnostic;
use crate::import::{ClassPlaces, Imported, ImportedCircuit, PolicyPlaces, Spot};
use crate::node::{Key, Node, Span, Value, steps};
use crate::schema::ConfigSpec;
use crate::text::Texts;

mod circuits;

/// The most values that files add to the tree. A file that is named several times is added several
/// times.
const MOST_VALUES: usize = 1_000_000;

/// How many values of files a tree has.
#[derive(Default)]
pub(crate) struct Room {
    values: usize,
}

impl Room {
    /// Whether there is room for so many more.
    pub(crate) fn has(&mut self, values: usize) -> bool {
        self.values = self.values.saturating_add(values);
        self.values <= MOST_VALUES
    }

    /// The error if there is no room.
    pub(crate) fn too_large(what: &str) -> Diagnostic {
        let message = format!("the files of `{what}` are too large together");
        Diagnostic::error(codes::TOO_LARGE, message)
            .hint(format!("they may become {MOST_VALUES} values of the scenario; name fewer, or leave out what no link uses"))
    }
}

/// Adds the policies of all configurations that `root` refers to. Errors in `configs` itself are
/// reported when the whole scenario is deserialized.
pub(crate) fn configurations(ctx: &mut Ctx<'_>, root: &mut Node) {
    let Some(Value::Seq(configs)) = root.get("configs").map(|n| &n.value) else {
        return;
    };
    let specs: Vec<Option<ConfigSpec>> = configs
        .iter()
        .map(|n| from_node(n, &ctx.texts, &[]).ok())
        .collect();
    let mut room = Room::default();
    for (i, config) in specs.into_iter().enumerate() {
        let Some(config) = config else { continue };
        if config.source().is_none() {
            ctx.error(no_source(&config), root, &steps!["configs", i]);
            continue;
        }
        let path = steps!["configs", i, config.key()];
        let imported = ctx.import(&config, root, &path);
        let text = ctx.text_of(config.file());
        if let (Some(imported), Some(text)) = (imported, text) {
            if !add(ctx, root, &config, &imported, text, &mut room) {
                return ctx.error(Room::too_large("configs"), root, &path);
            }
        }
    }
}

/// The error for a configuration that names no file, or two.
fn no_source(config: &ConfigSpec) -> Diagnostic {
    let message = match config.ios {
        None => "the configuration names no file",
        Some(_) => "the configuration names two files",
    };
    Diagnostic::error(codes::CONFIG_SOURCE, message).hint(
        "write `ios: FILE` for Cisco IOS, or `tc: FILE` for commands of Linux tc; one entry a file",
    )
}

/// Adds the policies of a configuration; false if there is no room for them.
fn add(
    ctx: &mut Ctx<'_>,
    root: &mut Node,
    config: &ConfigSpec,
    imported: &Imported,
    text: u32,
    room: &mut Room,
) -> bool {
    for (name, spec) in &imported.policies {
        let places = imported.places.get(name).cloned().unwrap_or_default();
        let span = span(text, places.spot);
        if let Some(first) = defined(ctx, root, name) {
            let message = format!("a policy `{name}` is defined here and {first}");
            let d = Diagnostic::error(codes::DUPLICATE_NAME, message)
                .found(name)
                .hint(way_out(config));
            let d = ctx.texts.locate(d, span);
            ctx.report(d);
            continue;
        }
        // A specification consists of texts, numbers, lists and maps with text keys.
        let Ok(json) = serde_json::to_value(spec) else {
            continue;
        };
        let node = policy(json, &places, text);
        if !room.has(node.size()) {
            return false;
        }
        let Some(entries) = policies(root) else {
            return true;
        };
        let name = name.clone();
        entries.push((Key { name, span }, node));
    }
    let circuit = |name: &str| imported.interface(name)?.1.circuit.as_ref();
    let names = config.interfaces.keys();
    let all: Vec<&ImportedCircuit> = names.filter_map(|n| circuit(n)).collect();
    for (name, target) in &config.interfaces {
        let circuit = circuit(name);
        let mut link = Some(&mut *root);
        for step in &steps!["topology", "links", target] {
            link = link.and_then(|n| n.step_mut(step));
        }
        let Some(link) = link else { continue };
        let facts = imported.interface(name).map(|(_, facts)| facts);
        if let Some((packets, spot)) = facts.and_then(|f| f.tx_ring) {
            circuits::put_own(
                link,
                "tx_ring",
                Packets(packets).to_string().into(),
                spot,
                text,
            );
        }
        if let Some(circuit) = circuit {
            let alike = all.iter().filter(|c| c.interface == circuit.interface);
            circuits::put(link, circuit, alike.count() > 1, text);
        }
    }
    true
}

/// The hint for a name that is taken.
fn way_out(config: &ConfigSpec) -> String {
    let (file, key) = (config.file(), config.key());
    let stem = Path::new(file).file_stem();
    let stem = stem.map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let other = if config.prefix.is_empty() {
        "a"
    } else {
        "another"
    };
    format!(
        "write {other} prefix beside `{key}: {file}`, such as `prefix: {stem}-`, and call its policies by it; or rename one of the two"
    )
}

/// Where a policy of this name is already defined, in words.
fn defined(ctx: &Ctx<'_>, root: &Node, name: &str) -> Option<String> {
    let key = key(root, name)?;
    Some(match key.span.text {
        0 => format!("as `policies.{name}` of the scenario"),
        text => format!("at {}:{}", ctx.texts.name(text), key.span.line),
    })
}

/// Whether a policy of the tree comes from a configuration, changed or not. A policy that replaces
/// it as a whole does not.
pub(crate) fn is_imported(texts: &Texts, root: &Node, name: &str) -> bool {
    key(root, name).is_some_and(|k| texts.is_beside(k.span.text))
}

/// The key of a policy of the tree.
fn key<'n>(root: &'n Node, name: &str) -> Option<&'n Key> {
    let Value::Map(entries) = &root.get("policies")?.value else {
        return None;
    };
    entries.iter().map(|(k, _)| k).find(|k| k.name == name)
}

/// The entries of `policies`; none if it is no mapping.
fn policies(root: &mut Node) -> Option<&mut Vec<(Key, Node)>> {
    let at = root.span;
    let Value::Map(top) = &mut root.value else {
        return None;
    };
    let found = match top.iter().position(|(k, _)| k.name == "policies") {
        Some(found) => found,
        None => {
            let key = Key {
                name: "policies".to_owned(),
                span: at,
            };
            let value = Value::Null;
            top.push((key, Node { span: at, value }));
            top.len() - 1
        }
    };
    let value = &mut top[found].1.value;
    if *value == Value::Null {
        *value = Value::Map(Vec::new());
    }
    match value {
        Value::Map(entries) => Some(entries),
        _ => None,
    }
}

fn span(text: u32, spot: Spot) -> Span {
    Span {
        text,
        line: spot.line,
        column: spot.column,
        width: spot.width,
    }
}

/// A policy with its classes at their lines.
fn policy(json: Json, places: &PolicyPlaces, text: u32) -> Node {
    let mut node = node(json, span(text, places.spot));
    let Value::Map(kinds) = &mut node.value else {
        return node;
    };
    let contents = kinds.iter_mut().filter_map(|(_, content)| {
        let Value::Map(keys) = &mut content.value else {
            return None;
        };
        keys.iter_mut().find(|(k, _)| k.name == "classes")
    });
    for (_, classes) in contents {
        let Value::Seq(classes) = &mut classes.value else {
            continue;
        };
        for (class, places) in classes.iter_mut().zip(&places.classes) {
            settle(class, "", places, text);
        }
    }
    node
}

/// Sets the places of everything below a class to the lines of the configuration.
fn settle(node: &mut Node, path: &str, places: &ClassPlaces, text: u32) {
    node.span = span(text, places.nearest(path));
    match &mut node.value {
        Value::Map(entries) => {
            for (key, value) in entries {
                let path = below(path, &key.name);
                key.span = span(text, places.nearest(&path));
                settle(value, &path, places, text);
            }
        }
        Value::Seq(items) => items
            .iter_mut()
            .for_each(|item| settle(item, path, places, text)),
        _ => {}
    }
}

fn below(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

/// A tree of the same content, all of it at one place.
fn node(json: Json, span: Span) -> Node {
    let value = match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(b),
        Json::Number(n) => {
            let raw = n.to_string().into_boxed_str();
            match n
                .as_i64()
                .map(i128::from)
                .or_else(|| n.as_u64().map(i128::from))
            {
                Some(i) => Value::Int(i, raw),
                None => Value::Float(n.as_f64().unwrap_or(f64::NAN), raw),
            }
        }
        Json::String(s) => Value::Str(s),
        Json::Array(items) => Value::Seq(items.into_iter().map(|v| node(v, span)).collect()),
        Json::Object(map) => {
            let entry = |(name, v): (String, Json)| (Key { name, span }, node(v, span));
            Value::Map(map.into_iter().map(entry).collect())
        }
    };
    Node { span, value }
}
