//! How stored runs write numbers: modules for `#[serde(with = "..")]`.

/// Times in picoseconds.
pub mod ps {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::{Dur, Time};

    /// What has a number of picoseconds, perhaps.
    pub trait Ps: Sized {
        /// That number.
        type Number: Serialize + for<'de> Deserialize<'de>;
        /// It for a value.
        fn number(&self) -> Self::Number;
        /// The value for it.
        fn of(number: Self::Number) -> Self;
    }

    macro_rules! in_ps {
        ($($type:ty),+) => {
            $(impl Ps for $type {
                type Number = u64;
                fn number(&self) -> u64 {
                    self.as_ps()
                }
                fn of(number: u64) -> Self {
                    Self::from_ps(number)
                }
            })+
        };
    }

    in_ps!(Dur, Time);

    impl<T: Ps> Ps for Option<T> {
        type Number = Option<T::Number>;
        fn number(&self) -> Self::Number {
            self.as_ref().map(T::number)
        }
        fn of(number: Self::Number) -> Self {
            number.map(T::of)
        }
    }

    /// Writes a time.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Ps, S: Serializer>(time: &T, to: S) -> Result<S::Ok, S::Error> {
        time.number().serialize(to)
    }

    /// Reads a time.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, T: Ps, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        T::Number::deserialize(from).map(T::of)
    }
}

/// Numbers as bytes, eight each, little-endian.
pub mod doubles {
    use std::fmt;

    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};

    /// Writes numbers.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        to.serialize_bytes(&bytes)
    }

    /// Reads numbers.
    ///
    /// # Errors
    /// Those of the deserializer; if there is a part of a number.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<f64>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("doubles as bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<f64>, E> {
                if bytes.len() % 8 != 0 {
                    return Err(E::invalid_length(bytes.len(), &self));
                }
                let double = |b: &[u8]| b.try_into().map_or(f64::NAN, f64::from_le_bytes);
                Ok(bytes.chunks_exact(8).map(double).collect())
            }
        }
        from.deserialize_bytes(Bytes)
    }
}
