//! Choices of one word.

/// An enumeration whose variants are words: the word as it is written stands beside each.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name { $($(#[$of])* #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// As it is written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}

pub(crate) use words;
