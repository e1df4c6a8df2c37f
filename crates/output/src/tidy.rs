//! Values of runs as one tidy Parquet table: a row a value.
//!
//! Columns: `variant`, `run`, `scope`, `name`, `class`, `metric`, `value` (null where undefined),
//! `unit`, `bound` (what the value cannot exceed; null where nothing is known). With axes also
//! `point`, which is variant and coordinates in one text, and a column for each axis: numbers in a
//! base unit, or texts. A table of several studies says of each row also its `seed` and its
//! `scenario_hash`.
//!
//! All runs of a point have the same texts in the same rows. They are made once where they are not
//! more than a row group has, and each column of a row group is written from them piece by piece;
//! of a run only its values are copied.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, Repetition, Type as PhysicalType};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{Type, TypePtr};
use spillgate_measure::table::{Key, Layout, Metric, Row, Scope};
use spillgate_scenario::plan::{Axis, Plan};

use crate::ceilings::Limits;
use crate::report::Report;

const COLUMNS: &str = "required binary variant (UTF8);
    required int32 run;
    required binary scope (UTF8);
    required binary name (UTF8);
    required binary class (UTF8);
    required binary metric (UTF8);
    optional double value;
    required binary unit (UTF8);
    optional double bound;";

const ORIGIN: &str = "required int64 seed (UINT_64);
    required binary scenario_hash (UTF8);";

/// The column of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Coordinate {
    pub(crate) name: String,
    /// Numbers in this base unit; texts if none.
    pub(crate) unit: Option<&'static str>,
    /// Whether every row has one.
    pub(crate) required: bool,
}

impl Coordinate {
    pub(crate) fn of(axis: &Axis) -> Self {
        Self {
            name: axis.name.clone(),
            unit: axis.numbers.as_ref().and(axis.unit),
            required: true,
        }
    }

    fn field(&self) -> Result<TypePtr> {
        let (kind, converted) = match self.unit {
            Some(_) => (PhysicalType::DOUBLE, ConvertedType::NONE),
            None => (PhysicalType::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let repetition = match self.required {
            true => Repetition::REQUIRED,
            false => Repetition::OPTIONAL,
        };
        let column = Type::primitive_type_builder(&self.name, kind);
        let column = column.with_repetition(repetition);
        Ok(Arc::new(column.with_converted_type(converted).build()?))
    }
}

/// The columns of a table.
fn schema(axes: &[Coordinate], origin: bool) -> Result<TypePtr> {
    let fields = |text: &str| -> Result<Vec<TypePtr>> {
        let message = parse_message_type(&format!("message results {{ {text} }}"))?;
        Ok(message.get_fields().to_vec())
    };
    let mut all = fields(COLUMNS)?;
    if !axes.is_empty() {
        all.extend(fields("required binary point (UTF8);")?);
    }
    for axis in axes {
        all.push(axis.field()?);
    }
    if origin {
        all.extend(fields(ORIGIN)?);
    }
    let message = Type::group_type_builder("results").with_fields(all);
    Ok(Arc::new(message.build()?))
}

/// Rows of a row group. They are all the writer holds, so that its memory does not grow with
/// the number of flows and runs.
const GROUP: usize = 1 << 15;

/// Where a point is on an axis of the table; none if its study does not have it.
enum Place {
    Number(Option<f64>),
    Text(Option<ByteArray>),
}

/// What is said of a value: places in the lists of a [`Point`].
#[derive(Clone, Copy)]
struct Told {
    scope: u8,
    metric: u16,
    name: u32,
    /// Beyond the last if it is of no class.
    class: u32,
}

/// What all runs of a point have in their rows, beside the values.
pub(crate) struct Point {
    variant: ByteArray,
    name: ByteArray,
    coordinates: Vec<Place>,
    seed: u64,
    scenario: ByteArray,
    /// For each value.
    told: Vec<Told>,
    /// For each value what it cannot exceed; empty where nothing is known.
    bounds: Vec<Option<f64>>,
    scopes: Vec<ByteArray>,
    metrics: Vec<ByteArray>,
    units: Vec<ByteArray>,
    names: Vec<ByteArray>,
    /// The last is empty.
    classes: Vec<ByteArray>,
    /// Those that were made last: of few values they are the same for all runs.
    texts: RefCell<Option<Rc<Texts>>>,
}

/// The texts of some values of a point, which follow one another.
struct Texts {
    from: usize,
    scopes: Vec<ByteArray>,
    names: Vec<ByteArray>,
    classes: Vec<ByteArray>,
    metrics: Vec<ByteArray>,
    units: Vec<ByteArray>,
}

impl Point {
    /// That of a plan, in a table with these axes.
    pub(crate) fn of(
        plan: &Plan,
        index: usize,
        layout: &Layout,
        limits: &Limits,
        axes: &[Coordinate],
    ) -> Self {
        let point = &plan.variants[index];
        let world = &point.world;
        let class_of: BTreeMap<&str, u16> =
            world.flows.iter().map(|f| (&*f.name, f.class)).collect();
        let class_named = |name: &str| world.classes.iter().position(|c| c == name);
        let class = |key: &Key| match key.scope {
            Scope::Class => class_named(layout.name(key)),
            Scope::ClassDscp => {
                let class = layout.name(key).rsplit_once('/');
                class.and_then(|(class, _)| class_named(class))
            }
            Scope::Flow => class_of.get(layout.name(key)).map(|c| usize::from(*c)),
            _ => None,
        };
        let told = |key: &Key| Told {
            scope: key.scope as u8,
            metric: key.metric as u16,
            name: key.name,
            class: class(key).unwrap_or(world.classes.len()) as u32,
        };
        let bound = |k: &Key| limits.bound(world, k.scope, layout.name(k), k.metric);
        let mut bounds: Vec<_> = layout.keys.iter().map(bound).collect();
        if bounds.iter().all(Option::is_none) {
            bounds = Vec::new();
        }
        let coordinate = |column: &Coordinate| {
            let mut found = plan.axes.iter().zip(&point.coordinates);
            let found = found.find(|(axis, _)| axis.name == column.name);
            match column.unit {
                Some(_) => Place::Number(
                    found.and_then(|(axis, at)| Some(axis.numbers.as_ref()?[*at as usize])),
                ),
                None => Place::Text(found.map(|(axis, at)| text(&axis.labels[*at as usize]))),
            }
        };
        let classes = world.classes.iter().map(|c| text(c));
        Self {
            // Without axes the variant is the point.
            variant: match plan.axes.is_empty() {
                true => text(&point.name),
                false => text(&point.variant),
            },
            name: text(&point.name),
            coordinates: axes.iter().map(coordinate).collect(),
            seed: plan.seed,
            scenario: text(&plan.hash),
            told: layout.keys.iter().map(told).collect(),
            bounds,
            scopes: Scope::ALL.iter().map(|s| text(s.name())).collect(),
            metrics: Metric::ALL.iter().map(|m| text(m.name())).collect(),
            units: Metric::ALL.iter().map(|m| text(m.unit())).collect(),
            names: layout.names.iter().map(|n| text(n)).collect(),
            classes: classes.chain([text("")]).collect(),
            texts: RefCell::default(),
        }
    }

    /// The texts of the values from one on, of as many as a row group has.
    fn texts(&self, from: usize) -> Rc<Texts> {
        let mut last = self.texts.borrow_mut();
        let known = last.take().filter(|t| t.from == from);
        let found = known.unwrap_or_else(|| {
            let to = self.told.len().min(from + GROUP);
            let told = &self.told[from..to];
            let all = |of: &[ByteArray], at: fn(&Told) -> usize| {
                told.iter().map(|t| of[at(t)].clone()).collect()
            };
            Rc::new(Texts {
                from,
                scopes: all(&self.scopes, |t| t.scope.into()),
                names: all(&self.names, |t| t.name as usize),
                classes: all(&self.classes, |t| t.class as usize),
                metrics: all(&self.metrics, |t| t.metric.into()),
                units: all(&self.units, |t| t.metric.into()),
            })
        });
        *last = Some(Rc::clone(&found));
        found
    }
}

fn text(s: &str) -> ByteArray {
    ByteArray::from(s.as_bytes().to_vec())
}

/// Rows of a run that stand together.
struct Piece {
    point: Rc<Point>,
    texts: Rc<Texts>,
    run: i32,
    /// The place of the first among the values of its run.
    from: usize,
    values: Vec<f64>,
}

impl Piece {
    /// Its part of the texts.
    fn part<'a>(&self, of: &'a [ByteArray]) -> &'a [ByteArray] {
        let from = self.from - self.texts.from;
        &of[from..from + self.values.len()]
    }
}

/// A table that is being written.
pub(crate) struct Table {
    writer: SerializedFileWriter<File>,
    pub(crate) axes: Vec<Coordinate>,
    origin: bool,
    /// Those of the next row group, and how many rows they have.
    pieces: Vec<Piece>,
    rows: usize,
}

impl Table {
    /// An empty table; with `origin` it has the columns for several studies.
    pub(crate) fn create(path: &Path, axes: Vec<Coordinate>, origin: bool) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            // Nobody asks a table of results for its least and largest name.
            .set_statistics_enabled(EnabledStatistics::None)
            .set_created_by(concat!("spillgate ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let file = File::create(path).map_err(|e| ParquetError::External(Box::new(e)))?;
        let schema = schema(&axes, origin)?;
        Ok(Self {
            writer: SerializedFileWriter::new(file, schema, Arc::new(properties))?,
            axes,
            origin,
            pieces: Vec::new(),
            rows: 0,
        })
    }

    /// Adds a run.
    pub(crate) fn add(&mut self, point: &Rc<Point>, run: u32, values: &Row) -> Result<()> {
        let values = Vec::from(values);
        for (chunk, values) in (0..).step_by(GROUP).zip(values.chunks(GROUP)) {
            let texts = point.texts(chunk);
            let mut from = 0;
            while from < values.len() {
                let n = (values.len() - from).min(GROUP - self.rows);
                self.pieces.push(Piece {
                    point: Rc::clone(point),
                    texts: Rc::clone(&texts),
                    run: run as i32,
                    from: chunk + from,
                    values: values[from..from + n].to_vec(),
                });
                (from, self.rows) = (from + n, self.rows + n);
                if self.rows == GROUP {
                    self.flush()?;
                }
            }
        }
        Ok(())
    }

    /// Writes the rows so far as a row group, if there are any.
    fn flush(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = Group {
            pieces: &std::mem::take(&mut self.pieces),
            rows: std::mem::take(&mut self.rows),
            writer: self.writer.next_row_group()?,
        };
        group.same(|p| p.point.variant.clone())?;
        group.numbers::<Int32Type>(|p| p.run)?;
        group.texts(|p| &p.texts.scopes)?;
        group.texts(|p| &p.texts.names)?;
        group.texts(|p| &p.texts.classes)?;
        group.texts(|p| &p.texts.metrics)?;
        group.optional(|p, i| Some(p.values[i]).filter(|v| v.is_finite()))?;
        group.texts(|p| &p.texts.units)?;
        group.optional(|p, i| p.point.bounds.get(p.from + i).copied().flatten())?;
        if !self.axes.is_empty() {
            group.same(|p| p.point.name.clone())?;
        }
        for (i, axis) in self.axes.iter().enumerate() {
            group.coordinates(i, axis.required)?;
        }
        if self.origin {
            group.numbers::<Int64Type>(|p| p.point.seed as i64)?;
            group.same(|p| p.point.scenario.clone())?;
        }
        group.writer.close()?;
        Ok(())
    }

    /// Writes the rest.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.writer.close()?;
        Ok(())
    }
}

/// A row group whose columns are being written, one after the other.
struct Group<'a> {
    pieces: &'a [Piece],
    rows: usize,
    writer: SerializedRowGroupWriter<'a, File>,
}

impl Group<'_> {
    /// A column of what a point has for each value.
    fn texts(&mut self, of: impl Fn(&Piece) -> &[ByteArray]) -> Result<()> {
        let mut column = self.writer.next_column()?.ok_or_else(too_few)?;
        for piece in self.pieces {
            let part = piece.part(of(piece));
            column
                .typed::<ByteArrayType>()
                .write_batch(part, None, None)?;
        }
        column.close()
    }

    /// A column of texts that all rows of a piece share.
    fn same(&mut self, of: impl Fn(&Piece) -> ByteArray) -> Result<()> {
        self.numbers::<ByteArrayType>(of)
    }

    /// A column of what all rows of a piece share.
    fn numbers<T: DataType>(&mut self, of: impl Fn(&Piece) -> T::T) -> Result<()> {
        let mut all = Vec::with_capacity(self.rows);
        for piece in self.pieces {
            all.resize(all.len() + piece.values.len(), of(piece));
        }
        self.put::<T>(&all, None)
    }

    /// A column of numbers that may be undefined, by piece and row of it.
    fn optional(&mut self, of: impl Fn(&Piece, usize) -> Option<f64>) -> Result<()> {
        let mut present = Vec::with_capacity(self.rows);
        let mut levels = Vec::with_capacity(self.rows);
        for piece in self.pieces {
            for value in (0..piece.values.len()).map(|i| of(piece, i)) {
                levels.push(i16::from(value.is_some()));
                present.extend(value);
            }
        }
        self.put::<DoubleType>(&present, Some(&levels))
    }

    /// The column of an axis.
    fn coordinates(&mut self, axis: usize, required: bool) -> Result<()> {
        let (mut numbers, mut texts) = (Vec::new(), Vec::new());
        let mut levels = Vec::with_capacity(self.rows);
        let mut is_number = false;
        for piece in self.pieces {
            let n = piece.values.len();
            let there = match &piece.point.coordinates[axis] {
                Place::Number(at) => {
                    is_number = true;
                    numbers.extend(at.iter().flat_map(|x| std::iter::repeat_n(*x, n)));
                    at.is_some()
                }
                Place::Text(at) => {
                    texts.extend(at.iter().flat_map(|t| std::iter::repeat_n(t.clone(), n)));
                    at.is_some()
                }
            };
            levels.resize(levels.len() + n, i16::from(there));
        }
        let levels = (!required).then_some(&*levels);
        match is_number {
            true => self.put::<DoubleType>(&numbers, levels),
            false => self.put::<ByteArrayType>(&texts, levels),
        }
    }

    fn put<T: DataType>(&mut self, values: &[T::T], levels: Option<&[i16]>) -> Result<()> {
        let mut column = self.writer.next_column()?.ok_or_else(too_few)?;
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()
    }
}

fn too_few() -> ParquetError {
    ParquetError::General("the schema has fewer columns than the data".to_owned())
}

/// Writes all values of the report's runs, but for time series.
///
/// # Errors
/// What the file system or the encoder says.
pub fn write_parquet(report: &Report, path: &Path) -> Result<()> {
    let plan = report.plan();
    let axes: Vec<_> = plan.axes.iter().map(Coordinate::of).collect();
    let mut table = Table::create(path, axes, false)?;
    for variant in 0..plan.variants.len() {
        let (layout, limits) = (report.layout(variant), &report.limits[variant]);
        let point = Rc::new(Point::of(plan, variant, layout, limits, &table.axes));
        for run in report.of(variant) {
            table.add(&point, run.info.run, &run.outcome.values)?;
        }
    }
    table.finish()
}
