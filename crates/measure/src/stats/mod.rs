//! Statistics of independent runs and of one long run.

mod interval;
mod special;
mod student;
mod warmup;

pub(crate) use interval::TQuantiles;
pub use interval::{Interval, batch_means, quantile_interval};
pub use student::{student_t_cdf, student_t_quantile};
pub use warmup::mser5;
