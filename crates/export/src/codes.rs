//! Codes of what is wrong with an export.

/// An interface or link that is to be exported does not exist or has no policy.
pub(crate) const NO_PORT: &str = "E0731";
/// The rate of a port to be exported is not known.
pub(crate) const NO_RATE: &str = "E0732";
/// A text cannot be the name of a network device.
pub(crate) const BAD_DEVICE: &str = "E0733";
/// Several policies are to be exported for one network device.
pub(crate) const ONE_DEVICE: &str = "E0734";
/// No interface has an output policy to export.
pub(crate) const NOTHING: &str = "E0735";
/// A policy or variant to be exported does not exist, or it is not said which.
pub(crate) const NO_CHOICE: &str = "E0736";
/// The rate that is given for an export is none.
pub(crate) const BAD_RATE: &str = "E0737";
