//! Circuits of router configurations as `atm` of links. A link's own keys take precedence.

use serde_json::{Value as Json, json};

use super::{node, span};
use crate::import::{Framing, ImportedCircuit, Spot};
use crate::node::{Key, Node, Value};

/// Makes a link the circuit, at the lines of the configuration. `shares`: links of the scenario are
/// other circuits of its interface.
pub(super) fn put(link: &mut Node, circuit: &ImportedCircuit, shares: bool, text: u32) {
    let own = |key: &str, link: &Node| link.get(key).is_some_and(|n| n.value != Value::Null);
    let framed = own("overhead", link);
    if !own("atm", link) {
        set(
            link,
            "atm",
            Json::Object(serde_json::Map::new()),
            circuit.spot,
            text,
        );
    }
    let Some(atm) = entries(link).and_then(|all| find(all, "atm")) else {
        return;
    };
    if !own("vc", atm) {
        let vc = json!(circuit.vc);
        set(atm, "vc", vc, circuit.spot, text);
    }
    if shares && !own("line", atm) {
        let line = json!(circuit.interface);
        set(atm, "line", line, circuit.spot, text);
    }
    if let (Some((contract, spot)), false) = (&circuit.contract, own("contract", atm)) {
        // A contract consists of texts, numbers and maps with text keys.
        if let Ok(json) = serde_json::to_value(contract) {
            set(atm, "contract", json, *spot, text);
        }
    }
    if framed || own("encapsulation", atm) {
        return;
    }
    let (framing, spot) = circuit.framing;
    let word = json!(framing.word());
    match framing {
        Framing::Header(_) => set(atm, "encapsulation", word, spot, text),
        Framing::Overhead(_) => set(link, "overhead", word, spot, text),
    }
}

/// Sets a key of a link that does not have it.
pub(super) fn put_own(link: &mut Node, key: &str, value: Json, spot: Spot, text: u32) {
    if link.get(key).is_none_or(|n| n.value == Value::Null) {
        set(link, key, value, spot, text);
    }
}

/// Sets a key of a mapping; does nothing to other nodes.
fn set(of: &mut Node, key: &str, value: Json, spot: Spot, text: u32) {
    let span = span(text, spot);
    let value = node(value, span);
    let Some(all) = entries(of) else { return };
    match find(all, key) {
        Some(old) => *old = value,
        None => {
            let name = key.to_owned();
            all.push((Key { name, span }, value));
        }
    }
}

fn entries(of: &mut Node) -> Option<&mut Vec<(Key, Node)>> {
    match &mut of.value {
        Value::Map(all) => Some(all),
        _ => None,
    }
}

fn find<'n>(all: &'n mut [(Key, Node)], key: &str) -> Option<&'n mut Node> {
    let mut named = all.iter_mut().filter(|(k, _)| k.name == key);
    named.next().map(|(_, value)| value)
}
