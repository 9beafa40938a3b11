use sections::Document;

const TEXT: &str = "# comment\ntop = x = y\n\n[ one ]\nb=2\n a = 1 \nb = 3\n[two]\n[one]\nc =\n";

#[test]
fn reads() {
    let document = Document::parse(TEXT).unwrap();
    assert_eq!(document.names(), ["", "one", "two"]);
    assert_eq!(document.section("").unwrap().entries(), [("top", "x = y")]);
    assert_eq!(document.section("one").unwrap().entries(), [("b", "3"), ("a", "1"), ("c", "")]);
    assert!(document.section("two").unwrap().entries().is_empty());
    assert_eq!(document.section("two").unwrap().name(), "two");
    assert!(document.section("three").is_none());
    assert_eq!(document.section("one").unwrap().get("zz"), None);
}

#[test]
fn borrows_from_the_text() {
    let text = TEXT.to_string();
    let inside = |part: &str| text.as_bytes().as_ptr_range().contains(&part.as_ptr());
    let (section, value, name) = {
        let document = Document::parse(&text).unwrap();
        let section = document.section("one").unwrap().clone();
        let value = document.section("").unwrap().clone().get("top").map(str::len);
        (section, value, document.names()[1].to_string())
    };
    assert_eq!((section.name(), value, name.as_str()), ("one", Some(5), "one"));
    assert!(section.entries().iter().filter(|(_, v)| !v.is_empty()).all(|(k, v)| inside(k) && inside(v)));
}

#[test]
fn errors_have_the_line() {
    for (text, line) in [("nonsense", "1"), ("a=1\n\n[x]\n oops \n", "4"), ("[x", "1"), ("x]", "1")] {
        let error = Document::parse(text).unwrap_err();
        assert!(error.contains(line), "{text:?}: {error}");
    }
    assert!(Document::parse("").unwrap().section("a").is_none());
}

#[test]
fn renames() {
    let mut document = Document::parse(TEXT).unwrap();
    assert!(document.rename("one", "uno"));
    assert_eq!(document.names(), ["", "uno", "two"]);
    assert_eq!(document.section("uno").unwrap().name(), "uno");
    assert_eq!(document.section("uno").unwrap().get("a"), Some("1"));
    assert!(document.section("one").is_none());
    assert!(!document.rename("one", "x"));
    assert!(!document.rename("uno", "two"));
    assert!(!document.rename("missing", "two"));
    assert_eq!(document.names(), ["", "uno", "two"]);
}

#[test]
fn finds_the_longest_value() {
    let document = Document::parse("[b]\nx = first\n[a]\ny = other\nz = long\n").unwrap();
    assert_eq!(document.longest_value(), Some("first"));
    assert_eq!(Document::parse("a = é\nb = zz\nc = yyy").unwrap().longest_value(), Some("yyy"));
    assert_eq!(Document::parse("[x]").unwrap().longest_value(), None);
}
