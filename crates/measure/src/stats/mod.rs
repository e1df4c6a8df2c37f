//! Statistics of independent runs.
//!
//! ```
//! use spillgate_measure::sla::{Verdict, further_runs, judge};
//! use spillgate_measure::stats::{Interval, Looks};
//!
//! // Mean delays of five runs, in seconds, against a bound of 20 ms.
//! let delay = Interval::of(&[0.017, 0.021, 0.018, 0.020, 0.019], 0.95);
//! assert_eq!(judge(&delay, Some(0.020), None), Verdict::Undecided);
//! assert_eq!(further_runs(&delay, Some(0.020), None), Some(8));
//! // Who looks now and again then needs more.
//! let again = delay.for_looks(Looks::Any);
//! assert_eq!(further_runs(&again, Some(0.020), None), Some(31));
//! ```

mod interval;
mod sequence;
mod special;
mod student;
#[cfg(test)]
mod testkit;
mod warmup;

pub use interval::Interval;
pub(crate) use interval::TQuantiles;
pub use sequence::Looks;
pub(crate) use sequence::p_value as p_value_of_looks;
pub use student::{student_t_cdf, student_t_quantile};
pub use warmup::{Transient, mser5, transient};
