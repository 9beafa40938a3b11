use sections::Document;

#[test]
fn reads_sections() {
    let text = String::from("a = 1\n[one]\nb = 2\n");
    let section = {
        let document = Document::parse(&text).unwrap();
        assert_eq!(document.names(), ["", "one"]);
        document.section("one").unwrap().clone()
    };
    assert_eq!(section.get("b"), Some("2"));
}
