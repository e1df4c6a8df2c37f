//! What a plain scalar means (YAML 1.2.2 §10.3.2, the core schema).

use crate::node::Value;

/// Resolves the text of a plain scalar; quoted ones are texts and do not come here.
pub(crate) fn resolve(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    // Most scalars are names and quantities.
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Value::Str(text.to_owned());
    }
    if let Some(n) = integer(text) {
        return Value::Int(n, text.into());
    }
    match float(text) {
        Some(x) => Value::Float(x, text.into()),
        None => Value::Str(text.to_owned()),
    }
}

/// `[-+]?[0-9]+`, `0o[0-7]+` or `0x[0-9a-fA-F]+` within 64 bits, signed or unsigned.
fn integer(text: &str) -> Option<i128> {
    let based = |digits: &str, radix| {
        let valid = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        valid.then(|| i128::from_str_radix(digits, radix).ok())?
    };
    let n = if let Some(octal) = text.strip_prefix("0o") {
        based(octal, 8)?
    } else if let Some(hex) = text.strip_prefix("0x") {
        based(hex, 16)?
    } else {
        let (sign, digits) = match text.as_bytes().first()? {
            b'-' => (-1, &text[1..]),
            b'+' => (1, &text[1..]),
            _ => (1, text),
        };
        sign * based(digits, 10)?
    };
    (i128::from(i64::MIN)..=i128::from(u64::MAX))
        .contains(&n)
        .then_some(n)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, `.inf`, `.nan`.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            return Some(if text.starts_with('-') {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            });
        }
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(f64::NAN),
        _ => {}
    }
    let digits = |s: &str| s.chars().take_while(char::is_ascii_digit).count();
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    let mut fraction = 0;
    if let Some(after) = rest.strip_prefix('.') {
        fraction = digits(after);
        rest = &after[fraction..];
    }
    if whole + fraction == 0 {
        return None;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if exponent.is_empty() || digits(exponent) != exponent.len() {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_core_schema() {
        // The table of YAML 1.2.2 §10.3.2 and its neighbors.
        for (text, n) in [
            ("0", 0),
            ("-19", -19),
            ("+12", 12),
            ("0o7", 7),
            ("0x3A", 58),
        ] {
            assert_eq!(resolve(text), Value::Int(n, text.into()), "{text}");
        }
        for (text, x) in [
            ("0.", 0.0),
            ("-0.0", -0.0),
            (".5", 0.5),
            ("+12e03", 12e3),
            ("-2E+05", -2e5),
        ] {
            assert_eq!(resolve(text), Value::Float(x, text.into()), "{text}");
        }
        for text in [
            "yes", "no", "on", "0b1", "1_000", "100 Mb/s", ".", "+", "-", "1e", "1.2.3", "0x",
            "0o8", "-0x1", "-.nan", "1:30", "５",
        ] {
            assert_eq!(resolve(text), Value::Str(text.to_owned()), "{text}");
        }
        assert_eq!(
            resolve("18446744073709551615"),
            Value::Int(i128::from(u64::MAX), "18446744073709551615".into())
        );
        assert!(matches!(resolve("18446744073709551616"), Value::Float(..)));
        assert!(matches!(resolve(".nan"), Value::Float(x, _) if x.is_nan()));
        assert_eq!(resolve("~"), Value::Null);
    }
}
