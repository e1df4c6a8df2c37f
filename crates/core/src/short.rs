//! Values that have a short form beside the full one: a text for a table, one value for a list.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A scalar of type `A`, or a table or list of type `B`. Types are read by it with
/// `#[serde(from = "Or<..>")]`. An error is that of the form that was written.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum Or<A, B> {
    /// The short form.
    Short(A),
    /// The full form.
    Full(B),
}

impl<'de, A: Deserialize<'de>, B: Deserialize<'de>> Deserialize<'de> for Or<A, B> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Form::<A, B, true>(PhantomData))
    }
}

/// One value, or a list of values.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [one] => one.serialize(s),
            many => many.serialize(s),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let form = d.deserialize_any(Form::<T, Vec<T>, false>(PhantomData))?;
        Ok(Self(match form {
            Or::Short(one) => vec![one],
            Or::Full(many) => many,
        }))
    }
}

impl<T: JsonSchema> JsonSchema for OneOrMany<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("OneOrMany_{}", T::schema_name()).into()
    }
    fn json_schema(g: &mut SchemaGenerator) -> Schema {
        let one = g.subschema_for::<T>();
        json_schema!({"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]})
    }
}

/// Reads scalars as `A` and lists as `B`; tables as `B` if `TABLE`, else as `A`.
struct Form<A, B, const TABLE: bool>(PhantomData<(A, B)>);

/// Scalars go to the short form.
macro_rules! short {
    ($($method:ident($type:ty)),+) => {
        $(fn $method<E: Error>(self, v: $type) -> Result<Or<A, B>, E> {
            A::deserialize(v.into_deserializer()).map(Or::Short)
        })+
    };
}

impl<'de, A: Deserialize<'de>, B: Deserialize<'de>, const TABLE: bool> Visitor<'de>
    for Form<A, B, TABLE>
{
    type Value = Or<A, B>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if TABLE {
            "a text or a table"
        } else {
            "one value or a list of values"
        })
    }

    short!(
        visit_str(&str),
        visit_bool(bool),
        visit_u64(u64),
        visit_i64(i64),
        visit_f64(f64)
    );

    fn visit_unit<E: Error>(self) -> Result<Or<A, B>, E> {
        A::deserialize(().into_deserializer()).map(Or::Short)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Or<A, B>, M::Error> {
        let map = MapAccessDeserializer::new(map);
        if TABLE {
            B::deserialize(map).map(Or::Full)
        } else {
            A::deserialize(map).map(Or::Short)
        }
    }

    fn visit_seq<S: SeqAccess<'de>>(self, seq: S) -> Result<Or<A, B>, S::Error> {
        B::deserialize(List(SeqAccessDeserializer::new(seq))).map(Or::Full)
    }
}

/// A list, which is not taken for a table with its values in order.
struct List<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for List<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, v: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(v)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        v: V,
    ) -> Result<V::Value, D::Error> {
        Err(D::Error::invalid_type(Unexpected::Seq, &v))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Full {
        name: String,
        count: u8,
    }

    fn said<T: for<'a> Deserialize<'a>>(json: &str) -> String {
        serde_json::from_str::<T>(json)
            .map(drop)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn each_form_is_read_and_gives_its_own_errors() {
        type Named = Or<String, Full>;
        let read = |json: &str| serde_json::from_str::<Named>(json).unwrap();
        assert_eq!(read(r#""a""#), Or::Short("a".to_owned()));
        let name = "a".to_owned();
        assert_eq!(
            read(r#"{"name": "a", "count": 2}"#),
            Or::Full(Full { name, count: 2 })
        );
        for (json, problem) in [
            ("3", "expected a string"),
            ("true", "expected a string"),
            ("null", "expected a string"),
            (r#"{"nam": "a"}"#, "unknown field `nam`"),
            (r#"{"name": "a"}"#, "missing field `count`"),
            (
                r#"["a", 2]"#,
                "invalid type: sequence, expected struct Full",
            ),
        ] {
            let said = said::<Named>(json);
            assert!(said.contains(problem), "{json}: {said}");
        }
    }

    #[test]
    fn one_value_stands_for_a_list_of_one() {
        for (json, many) in [("3", vec![3]), ("[]", vec![]), ("[3, 4]", vec![3, 4])] {
            let read: OneOrMany<u8> = serde_json::from_str(json).unwrap();
            assert_eq!(read, OneOrMany(many));
            assert_eq!(serde_json::to_string(&read).unwrap(), json.replace(' ', ""));
        }
        let table: OneOrMany<Full> = serde_json::from_str(r#"{"name": "a", "count": 2}"#).unwrap();
        assert_eq!(table.0.len(), 1);
        assert!(said::<OneOrMany<u8>>("[3, 400]").contains("expected u8"));
        assert!(said::<OneOrMany<u8>>("400").contains("expected u8"));
    }
}
