//! The values of the runs of several studies as one [tidy](crate::tidy) table.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use parquet::errors::ParquetError;
use spillgate_measure::table::Row;
use spillgate_scenario::plan::Plan;
use spillgate_sim::layout;

use crate::ceilings::Limits;
use crate::tidy::{Coordinate, Point, Table};

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// An axis of two studies cannot be one column.
    #[error("the axis {name} has {one} in one study and {other} in another")]
    Axis {
        /// Its name.
        name: String,
        /// What its values are there.
        one: String,
        /// What they are elsewhere.
        other: String,
    },
    /// What the file system or the encoder says.
    #[error(transparent)]
    Writing(#[from] ParquetError),
}

/// A table that is being written. It holds a row group and the texts of one point, however many
/// runs it takes.
pub struct Dataset {
    table: Table,
    /// The study and the point that were added to last.
    last: Option<(Arc<Plan>, usize, Rc<Point>)>,
}

impl Dataset {
    /// The table of studies with these plans: it has a column for each axis that any of them has,
    /// null where a study does not have it.
    ///
    /// # Errors
    /// [`DatasetError`]; where it is about an axis, no file is made.
    pub fn create<'p>(
        path: &Path,
        plans: impl IntoIterator<Item = &'p Plan>,
    ) -> Result<Self, DatasetError> {
        Ok(Self {
            table: Table::create(path, axes_of(plans)?, true)?,
            last: None,
        })
    }

    /// Adds the values of a run of one of the plans. Runs of a point are best added one after the
    /// other.
    ///
    /// # Errors
    /// What the file system or the encoder says.
    pub fn add(
        &mut self,
        plan: &Arc<Plan>,
        variant: usize,
        run: u32,
        values: &Row,
    ) -> Result<(), DatasetError> {
        let known = self.last.take();
        let known = known.filter(|(p, v, _)| Arc::ptr_eq(p, plan) && *v == variant);
        let (_, _, point) = self.last.insert(known.unwrap_or_else(|| {
            let layout = layout(&plan.variants[variant].world);
            let limits = Limits::default();
            let point = Point::of(plan, variant, &layout, &limits, &self.table.axes);
            (Arc::clone(plan), variant, Rc::new(point))
        }));
        Ok(self.table.add(point, run, values)?)
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// What the file system or the encoder says.
    pub fn finish(self) -> Result<(), DatasetError> {
        Ok(self.table.finish()?)
    }
}

/// The axes of all plans, each once.
fn axes_of<'p>(plans: impl IntoIterator<Item = &'p Plan>) -> Result<Vec<Coordinate>, DatasetError> {
    let mut axes: Vec<Coordinate> = Vec::new();
    for (number, plan) in plans.into_iter().enumerate() {
        for known in &mut axes {
            known.required &= plan.axes.iter().any(|a| a.name == known.name);
        }
        for axis in plan.axes.iter().map(Coordinate::of) {
            match axes.iter().find(|known| known.name == axis.name) {
                Some(known) if known.unit == axis.unit => {}
                Some(known) => {
                    return Err(DatasetError::Axis {
                        one: said(known.unit),
                        other: said(axis.unit),
                        name: axis.name,
                    });
                }
                None => axes.push(Coordinate {
                    required: number == 0,
                    ..axis
                }),
            }
        }
    }
    Ok(axes)
}

/// What the values of an axis are.
fn said(unit: Option<&str>) -> String {
    match unit {
        None => "texts".to_owned(),
        Some("") => "plain numbers".to_owned(),
        Some(unit) => format!("numbers in {unit}"),
    }
}
