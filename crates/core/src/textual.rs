//! Types that scenarios write as text.

/// Reads and writes a type as text, and describes it: `textual!(Type, "Name in the schema", "what
/// is expected", parse, {schema})`. The type has `Display`; `parse` takes `&str` and gives a result
/// whose error is shown. A number counts as its text. After
/// `read` it is not written. The schema says what is expected, unless it
/// has a description of its own.
#[macro_export]
macro_rules! textual {
    (read $type:ty, $name:literal, $what:literal, $parse:expr, $schema:tt) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                use ::serde::de::Error;
                struct V;
                impl ::serde::de::Visitor<'_> for V {
                    type Value = $type;
                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str($what)
                    }
                    fn visit_str<E: Error>(self, v: &str) -> Result<$type, E> {
                        $parse(v).map_err(E::custom)
                    }
                    fn visit_i64<E: Error>(self, v: i64) -> Result<$type, E> {
                        self.visit_str(&v.to_string())
                    }
                    fn visit_u64<E: Error>(self, v: u64) -> Result<$type, E> {
                        self.visit_str(&v.to_string())
                    }
                    fn visit_f64<E: Error>(self, v: f64) -> Result<$type, E> {
                        self.visit_str(&v.to_string())
                    }
                }
                d.deserialize_any(V).map_err(D::Error::custom)
            }
        }

        impl ::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut ::schemars::SchemaGenerator) -> ::schemars::Schema {
                let mut schema = ::schemars::json_schema!($schema);
                if schema.get("description").is_none() {
                    schema.insert("description".to_owned(), $what.into());
                }
                schema
            }
        }
    };
    ($type:ty, $name:literal, $what:literal, $parse:expr, $schema:tt) => {
        impl ::serde::Serialize for $type {
            fn serialize<S: ::serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }

        $crate::textual!(read $type, $name, $what, $parse, $schema);
    };
}
