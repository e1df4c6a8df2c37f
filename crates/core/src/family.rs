//! Families of interchangeable parts: each member is listed once.

/// A member of a family, or another thing that can be named in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The key under which a scenario writes it.
    pub kind: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
}

impl Kind {
    /// Of this key and summary.
    pub const fn new(kind: &'static str, summary: &'static str) -> Self {
        Self { kind, summary }
    }

    /// The kind of this key.
    pub fn find(kinds: &'static [Self], kind: &str) -> Option<&'static Self> {
        kinds.iter().find(|k| k.kind == kind)
    }

    /// Where it was published: what its summary ends with, in brackets.
    pub fn source(&self) -> Option<&'static str> {
        let (_, last) = self.summary.rsplit_once('(')?;
        last.strip_suffix(").")
    }
}

/// Generates the types of a family from a list with a line for each member.
///
/// *Written*: the enum that a scenario writes, with `KINDS` and `kind()`. *Running*: the enum of
/// what runs, with `From` for each member, and `TryFrom` back. A family has one of them, or both.
/// `by name` defines a macro that dispatches: `name!(value, x => call)` does the same with any
/// member, and `name!(value, x: X => call)` knows the running type of that member as `X`.
///
/// ```
/// use spillgate_core::family;
/// trait Sound { fn sound(&self) -> &'static str; }
/// struct Dog;
/// impl Sound for Dog { fn sound(&self) -> &'static str { "wuff" } }
/// struct Cat;
/// impl Sound for Cat { fn sound(&self) -> &'static str { "meow" } }
/// family! {
///     /// An animal.
///     running enum Animal by animal;
///     Dog(Dog);
///     Cat(Cat);
/// }
/// let pet = Animal::from(Cat);
/// assert_eq!(animal!(&pet, a => a.sound()), "meow");
/// ```
#[macro_export]
macro_rules! family {
    (
        $(#[$about:meta])* $vis:vis written enum $Spec:ident by $each:ident;
        $(#[$run_about:meta])* $run_vis:vis running enum $Run:ident by $run_each:ident;
        $($(#[doc = $doc:literal])+ $kind:literal: $variant:ident($spec:ty) => $run:ty;)+
        $(beside $other:ident($unnamed:ty);)*
    ) => {
        $crate::family! {
            $(#[$about])* $vis written enum $Spec by $each;
            $($(#[doc = $doc])+ $kind: $variant($spec) => $run;)+
        }
        $crate::family! {
            $(#[$run_about])* $run_vis running enum $Run by $run_each;
            $($(#[doc = $doc])+ $variant($run);)+
            $(#[doc = "Has no specification."] $other($unnamed);)*
        }
    };
    (
        $(#[$about:meta])* $vis:vis written enum $Spec:ident by $each:ident;
        $($(#[doc = $doc:literal])+ $kind:literal: $variant:ident($spec:ty) $(=> $run:ty)?;)+
    ) => {
        $(#[$about])*
        $vis enum $Spec { $($(#[doc = $doc])+ #[serde(rename = $kind)] $variant($spec),)+ }
        $crate::family! { @kinds $Spec $($kind, $variant, [$($doc)+];)+ }

        #[allow(unused_macros)]
        macro_rules! $each {
            ($value:expr, $x:ident => $call:expr) => {
                match $value { $($Spec::$variant($x) => $call,)+ }
            };
            ($value:expr, $x:ident: $X:ident => $call:expr) => {
                match $value { $($Spec::$variant($x) => { $(type $X = $run;)? $call })+ }
            };
        }
    };
    (
        $(#[$about:meta])* $vis:vis running enum $Run:ident by $each:ident;
        $($(#[doc = $doc:literal])+ $key:ident = $variant:ident($run:ty);)+
    ) => {
        $crate::family! {
            $(#[$about])* $vis running enum $Run by $each;
            $($(#[doc = $doc])+ $variant($run);)+
        }
        $crate::family! { @kinds $Run $(stringify!($key), $variant, [$($doc)+];)+ }
    };
    (
        $(#[$about:meta])* $vis:vis running enum $Run:ident by $each:ident;
        $($(#[doc = $doc:literal])* $variant:ident($run:ty);)+
    ) => {
        $(#[$about])*
        $vis enum $Run { $($(#[doc = $doc])* $variant($run),)+ }

        $(impl From<$run> for $Run {
            fn from(member: $run) -> Self {
                Self::$variant(member)
            }
        }

        /// The member, if it is of this type.
        impl<'a> TryFrom<&'a mut $Run> for &'a mut $run {
            type Error = ();

            fn try_from(member: &'a mut $Run) -> Result<Self, ()> {
                match member {
                    $Run::$variant(member) => Ok(member),
                    #[allow(unreachable_patterns)]
                    _ => Err(()),
                }
            }
        })+

        #[allow(unused_macros)]
        macro_rules! $each {
            ($value:expr, $x:ident => $call:expr) => {
                match $value { $($Run::$variant($x) => $call,)+ }
            };
            ($value:expr, $x:ident: $X:ident => $call:expr) => {
                match $value { $($Run::$variant($x) => { type $X = $run; $call })+ }
            };
        }
    };
    (@kinds $Name:ident $($kind:expr, $variant:ident, [$($doc:literal)+];)+) => {
        impl $Name {
            /// Every kind, in order.
            pub const KINDS: &[$crate::Kind] =
                &[$($crate::Kind::new($kind, concat!($($doc),+).trim_ascii()),)+];

            /// Their keys.
            pub const NAMES: &[&str] = &[$($kind),+];

            /// The key under which a scenario writes it.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ }
            }
        }
    };
}
