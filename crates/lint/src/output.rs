//! Findings as text, JSON and SARIF.

use std::fmt::Write as _;

use serde_json::{Value, json};
use spillgate_scenario::Diagnostic;

use crate::{Finding, Level, RULES, Rule, warning};

/// One block for each finding: `file:line:column: warning: message [ID]`, the line with carets, and
/// the remedy.
pub fn text(findings: &[Finding]) -> String {
    let mut out = String::new();
    for f in findings {
        let mut d = Diagnostic::warning(f.id, &f.message);
        d = d.at(&f.file, f.line.unwrap_or(0), f.column.unwrap_or(0));
        d.source.clone_from(&f.source);
        d.width = f.width;
        d = d.path(&f.path);
        if !f.help.is_empty() {
            d = d.hint(&f.help);
        }
        let shown = d.to_string();
        // Readers have fewer severities.
        let shown = shown.replacen(": warning: ", &format!(": {}: ", f.severity.name()), 1);
        let holds = match f.holds.as_str() {
            "" => String::new(),
            holds => format!("\n    in: {holds}"),
        };
        let _ = writeln!(out, "{shown}{holds}\n");
    }
    out
}

/// The number of findings of each level: errors, warnings, notes.
pub(crate) fn counts(findings: &[Finding]) -> [usize; 3] {
    [Level::Error, Level::Warning, Level::Note]
        .map(|level| findings.iter().filter(|f| f.severity == level).count())
}

/// Everything as one JSON document.
pub fn json(findings: &[Finding]) -> Value {
    let [errors, warnings, notes] = counts(findings);
    json!({
        "findings": findings,
        "errors": errors,
        "warnings": warnings,
        "notes": notes,
    })
}

/// A log of the Static Analysis Results Interchange Format, SARIF 2.1.0 (OASIS).
pub fn sarif(findings: &[Finding], version: &str) -> Value {
    let mut rules: Vec<Value> = RULES.iter().map(|r| described(r)).collect();
    let mut ids: Vec<&str> = RULES.iter().map(|r| r.id).collect();
    for f in findings {
        if !ids.contains(&f.id) {
            ids.push(f.id);
            rules.push(match warning(f.id) {
                Some(w) => described(w),
                None => json!({
                    "id": f.id,
                    "shortDescription": {"text": "A warning of the reader of the file"},
                    "defaultConfiguration": {"level": f.severity.name()},
                }),
            });
        }
    }
    let results: Vec<Value> = findings
        .iter()
        .map(|f| result(f, ids.iter().position(|id| *id == f.id)))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "spillgate",
                "version": version,
                "rules": rules,
            }},
            // Columns count characters.
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A rule (SARIF 2.1.0, section 3.49).
fn described(r: &Rule) -> Value {
    json!({
        "id": r.id,
        "name": pascal(r.name),
        "shortDescription": {"text": r.summary},
        "fullDescription": {"text": r.explanation},
        "help": {
            "text": format!("{}\n\nSource: {}.", r.remedy, r.source),
            "markdown": format!("{}\n\n**Source.** {}.", r.remedy, r.source),
        },
        "defaultConfiguration": {"level": r.level.name()},
    })
}

/// A finding (SARIF 2.1.0, section 3.27).
fn result(f: &Finding, index: Option<usize>) -> Value {
    let message = match f.holds.as_str() {
        "" => f.message.clone(),
        holds => format!("{} ({holds})", f.message),
    };
    let text = match f.help.as_str() {
        "" => message,
        help => format!("{message}. {help}"),
    };
    let mut result = json!({
        "ruleId": f.id,
        "ruleIndex": index,
        "level": f.severity.name(),
        "message": {"text": text},
    });
    if !f.variants.is_empty() {
        result["properties"] = json!({"variants": f.variants});
    }
    if f.file.is_empty() {
        return result;
    }
    let mut physical = json!({"artifactLocation": {"uri": uri(&f.file)}});
    if let Some(line) = f.line {
        let mut region = json!({"startLine": line});
        if let Some(column) = f.column {
            region["startColumn"] = column.into();
            if f.width > 0 {
                // The column after the last one.
                region["endColumn"] = column.saturating_add(f.width).into();
            }
        }
        if let Some(source) = &f.source {
            region["snippet"] = json!({"text": source});
        }
        physical["region"] = region;
    }
    let mut location = json!({"physicalLocation": physical});
    if !f.path.is_empty() {
        location["logicalLocations"] = json!([{"fullyQualifiedName": f.path}]);
    }
    result["locations"] = json!([location]);
    result
}

/// `class-shadowed` as `ClassShadowed`, as SARIF viewers expect names.
fn pascal(name: &str) -> String {
    name.split('-')
        .map(|word| {
            let mut chars = word.chars();
            let first = chars.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(chars).collect::<String>()
        })
        .collect()
}

/// A path as a URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
