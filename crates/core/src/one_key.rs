//! Tables with exactly one key: the kind of a thing, with its settings as the value.

use std::fmt::Display;

use schemars::{Schema, json_schema};
use serde::de::{Error, MapAccess};

/// Reads a table with one key; `read` takes the key and reads its value from the table.
///
/// # Errors
/// Where the table is empty, `hint` says what may stand here; where it has a second key, both are
/// named. What `read` returns.
pub fn one_key<'de, A: MapAccess<'de>, T>(
    mut map: A,
    hint: impl Display,
    read: impl FnOnce(&str, &mut A) -> Result<T, A::Error>,
) -> Result<T, A::Error> {
    let Some(key) = map.next_key::<String>()? else {
        return Err(A::Error::custom(format_args!(
            "`{{}}`: an empty table; {hint}"
        )));
    };
    let value = read(&key, &mut map)?;
    match map.next_key::<String>()? {
        None => Ok(value),
        Some(second) => Err(A::Error::custom(format_args!(
            "`{key}` and `{second}` exclude each other: only one key may stand here"
        ))),
    }
}

/// The schema of a table with this one key.
pub fn one_key_schema(key: &str, description: &str, value: Schema) -> Schema {
    json_schema!({
        "type": "object",
        "description": description,
        "properties": { key: value },
        "required": [key],
        "additionalProperties": false
    })
}
