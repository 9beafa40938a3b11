use std::cmp::Ordering;

/// A version such as `1.2.3-beta.1+build`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    /// The identifiers of the pre-release; empty for a release.
    pub pre: Vec<String>,
    pub build: String,
}

impl Version {
    pub fn parse(text: &str) -> Option<Version> {
        let (numbers, pre) = text.split_once('-').unwrap_or((text, ""));
        let mut parts = numbers.split('.').map(|part| part.parse().ok());
        Some(Version {
            major: parts.next()??,
            minor: parts.next()??,
            patch: parts.next()??,
            pre: pre.split('.').map(String::from).collect(),
            build: String::new(),
        })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}
