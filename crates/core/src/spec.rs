//! Parameters that scenarios write as tables.

/// Parameters as a scenario writes them: each key with its default.
///
/// ```
/// spillgate_core::spec! {
///     /// Parameters of a shop.
///     pub struct ShopSpec {
///         /// People at the counter. Default 2.
///         pub staff: u32 = 2,
///         /// Whether it is open on Sundays. Default false.
///         pub sundays: bool = false,
///     }
/// }
/// assert_eq!(ShopSpec::default(), ShopSpec { staff: 2, sundays: false });
/// ```
#[macro_export]
macro_rules! spec {
    (
        $(#[$about:meta])*
        pub struct $name:ident { $($(#[$attr:meta])* $vis:vis $key:ident: $type:ty = $default:expr,)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name { $($(#[$attr])* $vis $key: $type,)* }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }
    };
}
