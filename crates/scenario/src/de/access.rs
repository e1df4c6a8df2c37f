//! The deserializer: serde's interface to a [`Node`].

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::{Error, Kind};
use crate::node::{Key, Node, Span, Step, Value};

fn pruned() -> Error {
    Error::new(Kind::Pruned, "reported above")
}

impl<'de> IntoDeserializer<'de, Error> for &'de Node {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, v: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Null => v.visit_unit(),
            Value::Bool(b) => v.visit_bool(*b),
            Value::Int(n, _) => integer(*n, v),
            Value::Float(x, _) => v.visit_f64(*x),
            Value::Str(s) => v.visit_borrowed_str(s),
            Value::Seq(items) => v.visit_seq(Items {
                items: items.iter().enumerate(),
            }),
            Value::Map(entries) => v.visit_map(Entries {
                entries: entries.iter(),
                value: None,
            }),
            Value::Pruned => Err(pruned()),
        }
        .map_err(|e| e.at(self))
    }

    fn deserialize_option<V: Visitor<'de>>(self, v: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => v.visit_none(),
            _ => v.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        v: V,
    ) -> Result<V::Value, Error> {
        v.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, v: V) -> Result<V::Value, Error> {
        v.visit_unit()
    }

    /// Refuses a list as a struct: positions would take the place of names.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        v: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Value::Seq(_) => Err(Error::invalid_type(Unexpected::Seq, &v).at(self)),
            _ => self.deserialize_any(v),
        }
    }

    /// `kind`, or `kind: {...}`.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        kinds: &'static [&'static str],
        v: V,
    ) -> Result<V::Value, Error> {
        match &self.value {
            Value::Str(name) => v.visit_enum(Kinded {
                name,
                span: self.span,
                content: None,
            }),
            Value::Map(entries) => match &entries[..] {
                // An error about the missing content would only be a consequence.
                [(_, content)] if content.value == Value::Pruned => Err(pruned()),
                [(key, content)] => v.visit_enum(Kinded {
                    name: &key.name,
                    span: key.span,
                    content: Some(content),
                }),
                [] => Err(one_kind("an empty mapping where a kind is expected", kinds)),
                [(first, _), (second, _), ..] => Err(one_kind(
                    &format!(
                        "both `{}` and `{}` where one kind is expected",
                        first.name, second.name
                    ),
                    kinds,
                )
                .at_key(second.span)),
            },
            Value::Pruned => Err(pruned()),
            _ => Err(one_kind("expected the name of a kind", kinds)),
        }
        .map_err(|e| e.at(self))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier
    }
}

fn one_kind(message: &str, kinds: &[&str]) -> Error {
    Error::new(Kind::WrongType, message).hint(format!("one of: {}", kinds.join(", ")))
}

fn integer<'de, V: Visitor<'de>>(n: i128, v: V) -> Result<V::Value, Error> {
    if let Ok(n) = u64::try_from(n) {
        v.visit_u64(n)
    } else if let Ok(n) = i64::try_from(n) {
        v.visit_i64(n)
    } else {
        Err(Error::invalid_value(
            Unexpected::Other("a large number"),
            &v,
        ))
    }
}

/// The items of a list.
struct Items<'de> {
    items: std::iter::Enumerate<std::slice::Iter<'de, Node>>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some((i, item)) = self.items.find(|(_, n)| n.value != Value::Pruned) else {
            return Ok(None);
        };
        seed.deserialize(item)
            .map(Some)
            .map_err(|e| e.at(item).at_key(item.span).under(Step::Index(i)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// The entries of a mapping.
struct Entries<'de> {
    entries: std::slice::Iter<'de, (Key, Node)>,
    value: Option<&'de (Key, Node)>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.value = self.entries.find(|(_, n)| n.value != Value::Pruned);
        let Some((key, _)) = self.value else {
            return Ok(None);
        };
        seed.deserialize(KeyText(&key.name))
            .map(Some)
            .map_err(|mut e| {
                if e.found.is_none() {
                    e.found = Some(key.name.clone());
                }
                e.at_key(key.span).under(Step::Key(key.name.clone()))
            })
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let Some((key, node)) = self.value.take() else {
            return Err(Error::custom("a value without a key"));
        };
        seed.deserialize(node).map_err(|e| {
            let e = match node.value {
                // Containers are best shown by the key that leads to them.
                Value::Seq(_) | Value::Map(_) | Value::Null => {
                    let found = e.found.is_none().then(|| node.describe());
                    let wrong_here = e.span.is_none_or(|s| s == node.span) && e.steps.is_empty();
                    let mut e = if wrong_here {
                        Error { span: None, ..e }
                    } else {
                        e
                    };
                    if wrong_here && !matches!(e.kind, Kind::MissingField(_)) {
                        e.found = e.found.or(found);
                    }
                    e.at_key(key.span)
                }
                _ => e.at(node).at_key(key.span),
            };
            e.under(Step::Key(key.name.clone()))
        })
    }
}

/// A key: a text, or the number that it spells if a number is wanted.
struct KeyText<'de>(&'de str);

/// Integer keys go through the text.
macro_rules! numeric_key {
    ($($method:ident),+) => {
        $(fn $method<V: Visitor<'de>>(self, v: V) -> Result<V::Value, Error> {
            match self.0.parse::<i128>() {
                Ok(n) => integer(n, v),
                Err(_) => Err(Error::invalid_type(Unexpected::Str(self.0), &v)),
            }
        })+
    };
}

impl<'de> Deserializer<'de> for KeyText<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, v: V) -> Result<V::Value, Error> {
        v.visit_borrowed_str(self.0)
    }

    numeric_key!(
        deserialize_i8,
        deserialize_i16,
        deserialize_i32,
        deserialize_i64,
        deserialize_u8,
        deserialize_u16,
        deserialize_u32,
        deserialize_u64
    );

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        v: V,
    ) -> Result<V::Value, Error> {
        v.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, v: V) -> Result<V::Value, Error> {
        v.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        kinds: &'static [&'static str],
        v: V,
    ) -> Result<V::Value, Error> {
        StrDeserializer::new(self.0).deserialize_enum(name, kinds, v)
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// The settings of a kind that stands alone.
static DEFAULTS: Node = Node {
    span: Span {
        text: 0,
        line: 0,
        column: 0,
        width: 0,
    },
    value: Value::Map(Vec::new()),
};

/// One kind of several, with its content.
struct Kinded<'de> {
    name: &'de str,
    span: Span,
    content: Option<&'de Node>,
}

impl<'de> EnumAccess<'de> for Kinded<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        let name: StrDeserializer<'de, Error> = self.name.into_deserializer();
        let kind = seed.deserialize(name).map_err(|e| e.at_key(self.span))?;
        Ok((kind, self))
    }
}

impl<'de> Kinded<'de> {
    /// Runs `f` on the content, with errors placed below the kind's name. A kind alone has the
    /// defaults of all its settings.
    fn content<T>(self, f: impl FnOnce(&'de Node) -> Result<T, Error>) -> Result<T, Error> {
        let Some(node) = self.content else {
            return f(&DEFAULTS).map_err(|e| {
                let settings = match e.kind {
                    Kind::MissingField(key) => format!("{{{key}: ...}}"),
                    _ => "...".to_owned(),
                };
                Error::new(Kind::WrongType, format!("`{}` needs settings", self.name))
                    .hint(format!("write `{}: {settings}`", self.name))
                    .at_key(self.span)
            });
        };
        f(node).map_err(|e| {
            let e = if matches!(
                node.value,
                Value::Str(_) | Value::Int(..) | Value::Float(..) | Value::Bool(_)
            ) {
                e.at(node)
            } else {
                e
            };
            e.at_key(self.span).under(Step::Key(self.name.to_owned()))
        })
    }
}

impl<'de> VariantAccess<'de> for Kinded<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(
                Error::new(Kind::WrongType, format!("`{}` has no settings", self.name))
                    .hint(format!("write `{}` alone, without a colon", self.name))
                    .at_key(self.span),
            ),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        self.content(|node| seed.deserialize(node))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, v: V) -> Result<V::Value, Error> {
        self.content(|node| node.deserialize_seq(v))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        v: V,
    ) -> Result<V::Value, Error> {
        self.content(|node| node.deserialize_struct("", fields, v))
    }
}
