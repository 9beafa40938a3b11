//! Versions and ranges of versions.

mod range;
mod version;

pub use range::{best, Range};
pub use version::Version;
