use expr::eval;
use std::collections::HashMap;

#[test]
fn examples() {
    let variables = HashMap::from([("x".to_string(), 3.0)]);
    for (text, expected) in [("1 + 2 * x", 7.0), ("-2^2", -4.0), ("max(1, (x), 2)", 3.0), ("2^-1", 0.5)] {
        assert_eq!(eval(text, &variables), Ok(expected), "{text}");
    }
    assert_eq!(eval("1 + y", &variables).unwrap_err().position, 4);
}
