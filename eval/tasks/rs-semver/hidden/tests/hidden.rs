use versions::{best, Range, Version};

fn version(text: &str) -> Version {
    Version::parse(text).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn parses() {
    let parsed = version("1.2.3-alpha.1.x-y+build.007");
    assert_eq!((parsed.major, parsed.minor, parsed.patch), (1, 2, 3));
    assert_eq!(parsed.pre, ["alpha", "1", "x-y"]);
    assert_eq!(parsed.build, "build.007");
    assert!(version("0.0.0").pre.is_empty());
    assert_eq!(version("1.0.0+a-b").build, "a-b");
    assert_eq!(version("1.0.0-0a").pre, ["0a"]);
    assert_eq!(version("18446744073709551615.0.0").major, u64::MAX);
    for text in ["", "1", "1.2", "1.2.3.4", "01.2.3", "1.02.3", "1.2.03", "1.2.3-", "1.2.3-a..b", "1.2.3-01", "1.2.3+", "1.2.3+a..b",
        "1.2.3-ä", "v1.2.3", " 1.2.3", "1.2.3 ", "-1.2.3", "+1.2.3", "1.+2.3", "18446744073709551616.0.0", "1.2.3-a+b+c", "1.2.x"] {
        assert!(Version::parse(text).is_none(), "{text}");
    }
}

#[test]
fn orders() {
    let ordered = ["0.9.9", "1.0.0-0", "1.0.0-1", "1.0.0-99999999999999999999999", "1.0.0-100000000000000000000000", "1.0.0-A", "1.0.0-alpha",
        "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.10.0", "2.0.0"];
    for (index, low) in ordered.iter().enumerate() {
        for high in &ordered[index + 1..] {
            assert!(version(low) < version(high), "{low} < {high}");
            assert!(version(high) > version(low));
        }
    }
    assert_eq!(version("1.0.0+a"), version("1.0.0+b"));
    assert_ne!(version("1.0.0-a"), version("1.0.0"));
}

#[test]
fn ranges() {
    for (range, yes, no) in [
        ("*", "0.0.0 1.2.3 99.0.0", "1.0.0-a"), ("1", "1.0.0 1.9.9", "0.9.9 2.0.0 1.0.0-a 2.0.0-a"), ("1.2", "1.2.0 1.2.9", "1.3.0 1.1.9"),
        ("1.2.3", "1.2.3 1.2.3+b", "1.2.4 1.2.3-a"), ("=1.2", "1.2.7", "1.3.0"), ("^1.2.3", "1.2.3 1.9.0", "1.2.2 2.0.0 2.0.0-a 1.3.0-a"),
        ("^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2"), ("^0.0.3", "0.0.3", "0.0.4 0.0.2"), ("^0.0", "0.0.0 0.0.9", "0.1.0"), ("^0", "0.0.0 0.9.0", "1.0.0"),
        ("^1", "1.0.0 1.9.0", "2.0.0"), ("^1.2", "1.2.0 1.9.0", "1.1.0 2.0.0"), ("~1.2.3", "1.2.3 1.2.9", "1.3.0 1.2.2"), ("~1.2", "1.2.0 1.2.9", "1.3.0"),
        ("~1", "1.0.0 1.9.0", "2.0.0 0.9.0"), ("~0.0", "0.0.5", "0.1.0"), (">1.2", "1.3.0 2.0.0", "1.2.9 1.2.0"), (">1.2.3", "1.2.4", "1.2.3"), (">=1.2", "1.2.0", "1.1.9"),
        (">1", "2.0.0", "1.9.9"), ("<1.2", "1.1.9", "1.2.0"), ("<=1.2", "1.2.9 1.0.0", "1.3.0"), ("<=1.2.3", "1.2.3", "1.2.4"), ("<=1", "1.9.9", "2.0.0"),
        (">=1.2 <1.4", "1.2.0 1.3.9", "1.4.0 1.1.0"), ("^1.2||~3.1.4", "1.5.0 3.1.9", "2.0.0 3.2.0"), (" 1 || 3 ", "1.0.0 3.3.3", "2.0.0"),
        (">=1.0.0-beta.2", "1.0.0-beta.3 1.0.0-rc.1 1.0.0 2.0.0", "1.0.0-beta.1 2.0.0-a 1.0.1-a"),
        ("^1.2.3-b", "1.2.3-b 1.2.3-c 1.2.3 1.9.0", "1.2.3-a 1.2.4-b 2.0.0"), ("1.2.3-b", "1.2.3-b", "1.2.3 1.2.3-c"),
        (">=1.0.0-a <1.0.0 || 5", "1.0.0-a 1.0.0-b 5.0.0", "1.0.0 5.0.0-a"), ("<2.0.0-b", "1.0.0 2.0.0-a", "2.0.0-b 1.0.0-a"), (">1.0.0-a <=1.0.0-c", "1.0.0-b 1.0.0-c", "1.0.0-a 1.0.0"),
    ] {
        let parsed = Range::parse(range).unwrap_or_else(|| panic!("{range}"));
        for text in yes.split(' ') {
            assert!(parsed.matches(&version(text)), "{range} must match {text}");
        }
        for text in no.split(' ') {
            assert!(!parsed.matches(&version(text)), "{range} must not match {text}");
        }
    }
    for range in ["", "||", "1 ||", "a", "1.2.3.4", "^", "> ", "^^1", "1.2-a", "01", "=>1", "1,2"] {
        assert!(Range::parse(range).is_none(), "{range:?}");
    }
}

#[test]
fn best_match() {
    let all: Vec<_> = ["1.0.0", "3.0.0", "2.5.0", "2.10.0", "2.9.0", "2.11.0-a"].map(version).into();
    let find = |range| best(&all, &Range::parse(range).unwrap()).map(|v| (v.major, v.minor));
    assert_eq!([find("^2"), find("*"), find("^4"), find("<2 || 2.5")], [Some((2, 10)), Some((3, 0)), None, Some((2, 5))]);
}
