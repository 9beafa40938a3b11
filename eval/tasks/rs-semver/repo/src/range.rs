use crate::Version;

/// A condition on versions, such as `^1.2 || >=3.0.0 <4`.
#[derive(Debug, Clone)]
pub struct Range {
    low: Version,
    high: Version,
}

impl Range {
    pub fn parse(text: &str) -> Option<Range> {
        let low = Version::parse(text.trim_start_matches(['^', '~']))?;
        let mut high = low.clone();
        high.major += 1;
        Some(Range { low, high })
    }

    pub fn matches(&self, version: &Version) -> bool {
        *version >= self.low && *version < self.high
    }
}

/// Returns the highest version that matches.
pub fn best<'a>(versions: &'a [Version], range: &Range) -> Option<&'a Version> {
    versions.iter().filter(|version| range.matches(version)).last()
}
