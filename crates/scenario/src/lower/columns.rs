//! The columns of tables of flows, and the kinds of source to which each applies.

use crate::error::Diagnostic;
use crate::node::{Key, Node, Value};
use crate::scalar;
use crate::table::Cell;
use crate::{codes, ctx::Ctx, node::Step};

/// Columns in the order in which a flow lists them.
pub(super) const COLUMNS: [&str; 35] = [
    "name",
    "count",
    "class",
    "from",
    "to",
    "dscp",
    "ecn",
    "rate",
    "packet",
    "source",
    "jitter",
    "phase",
    "codec",
    "bitrate",
    "packetization",
    "vbr",
    "headers",
    "extra",
    "vad",
    "fps",
    "gop",
    "weights",
    "variation",
    "distribution",
    "scene",
    "scene_variation",
    "mtu",
    "spread",
    "src",
    "dst",
    "protocol",
    "sport",
    "dport",
    "start",
    "stop",
];
/// Columns that every row needs.
pub(super) const REQUIRED: [&str; 3] = ["name", "from", "to"];
/// Whether a column belongs to the source, not to the flow.
pub(super) fn is_of_source(column: &str) -> bool {
    RowKind::ALL.iter().any(|(_, kind)| kind.has(column))
}
/// Columns whose cells are numbers, not text.
const NUMBERS: [&str; 4] = ["count", "fps", "sport", "dport"];

/// The kind of source of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowKind {
    Cbr,
    Poisson,
    Voip,
    Video,
}

impl RowKind {
    /// The kinds by the names of their sources.
    pub(super) const ALL: [(&'static str, Self); 4] = [
        ("cbr", Self::Cbr),
        ("poisson", Self::Poisson),
        ("voip", Self::Voip),
        ("video", Self::Video),
    ];

    /// The columns that tell the kind of a row without a `source`.
    pub(super) const TELLING: [(&'static str, &'static str); 2] =
        [("codec", "voip"), ("fps", "video")];

    /// The columns that a row of this kind needs beside [`REQUIRED`].
    pub(super) fn required(self) -> &'static [&'static str] {
        match self {
            Self::Cbr | Self::Poisson => &["rate", "packet"],
            Self::Voip => &["codec"],
            Self::Video => &["rate", "fps"],
        }
    }

    /// Whether a column applies to this kind of source.
    pub(super) fn has(self, column: &str) -> bool {
        match column {
            "rate" => self != Self::Voip,
            "packet" => matches!(self, Self::Cbr | Self::Poisson),
            "jitter" => matches!(self, Self::Cbr | Self::Voip),
            "phase" => self != Self::Poisson,
            "codec" | "bitrate" | "packetization" | "vbr" | "headers" | "extra" | "vad" => {
                self == Self::Voip
            }
            "fps" | "gop" | "weights" | "variation" | "distribution" | "scene"
            | "scene_variation" | "mtu" | "spread" => self == Self::Video,
            _ => false,
        }
    }
}

/// The cell that tells the kind of a row without a `source`, and the kind.
pub(super) fn told<'a>(
    cell: impl Fn(&str) -> Option<&'a Cell>,
) -> Option<(&'a Cell, Option<&'static str>)> {
    let mut telling = RowKind::TELLING.iter();
    telling.find_map(|(column, kind)| Some((cell(column)?, Some(*kind))))
}

/// The value of a cell.
pub(super) fn value(ctx: &mut Ctx<'_>, column: &str, cell: &Cell, base: &[Step]) -> Option<Value> {
    match column {
        "weights" => weights(cell).or_else(|| {
            let d = Diagnostic::error(
                codes::TABLE_ROW,
                "weights are three numbers: of I, P and B frames",
            )
            .found(&cell.text)
            .hint("write them with colons between, such as 5:3:1");
            ctx.report(ctx.texts.place(d, cell.span, base));
            None
        }),
        _ if NUMBERS.contains(&column) => Some(scalar::resolve(&cell.text)),
        _ => Some(Value::Str(cell.text.clone())),
    }
}

/// The weights of a cell such as `5:3:1`, as a source has them.
fn weights(cell: &Cell) -> Option<Value> {
    let parts: Vec<&str> = cell.text.split(':').map(str::trim).collect();
    let [_, _, _] = parts[..] else { return None };
    let entry = |(name, text): (&str, &&str)| {
        let value = scalar::resolve(text);
        let number = matches!(value, Value::Int(..) | Value::Float(..));
        let key = Key {
            name: name.to_owned(),
            span: cell.span,
        };
        number.then_some((
            key,
            Node {
                span: cell.span,
                value,
            },
        ))
    };
    let entries: Option<Vec<_>> = ["i", "p", "b"].into_iter().zip(&parts).map(entry).collect();
    entries.map(Value::Map)
}
