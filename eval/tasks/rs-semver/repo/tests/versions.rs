use versions::{best, Range, Version};

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

#[test]
fn orders_prereleases() {
    assert!(version("1.0.0-beta.2") < version("1.0.0-beta.11"));
    assert!(version("1.0.0-rc.1") < version("1.0.0"));
}

#[test]
fn finds_the_best() {
    let all: Vec<_> = ["0.2.9", "0.3.0", "0.2.3", "1.0.0"].map(version).into();
    assert_eq!(best(&all, &Range::parse("^0.2.3").unwrap()), Some(&all[0]));
}
