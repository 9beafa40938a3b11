use expr::eval;
use std::collections::HashMap;

fn variables() -> HashMap<String, f64> {
    HashMap::from([("x".to_string(), 3.0), ("_y2".to_string(), 0.5), ("min".to_string(), 9.0), ("e".to_string(), 2.0)])
}

#[test]
fn values() {
    for (text, expected) in [
        ("12", 12.0), ("0.5", 0.5), ("1e-3", 0.001), ("2.5E2", 250.0), ("1 + 2 * x", 7.0), ("(1+2)*x", 9.0),
        ("10-4-3", 3.0), ("16/4/2", 2.0), ("7 % 4 * 2", 6.0), ("-7 % 4", -3.0), ("2^3^2", 512.0), ("-2^2", -4.0),
        ("(-2)^2", 4.0), ("2^-1", 0.5), ("2^-2^2", 0.0625), ("--x", 3.0), ("-+-x", 3.0), ("2--3", 5.0), ("2*-3", -6.0),
        ("2 - -3^2", 11.0), ("min(4)", 4.0), ("min(4,2,8)", 2.0), ("max( 1 , 2 )", 2.0), ("abs(-3)", 3.0),
        ("sqrt(16)+1", 5.0), ("sqrt(max(4, 9))", 3.0), ("_y2*4", 2.0), ("min + 1", 10.0), ("\t(x)\n", 3.0),
        ("1/0", f64::INFINITY), ("2*x^2", 18.0), ("-x^2", -9.0), ("e", 2.0), ("2*e", 4.0), ("1.5*2", 3.0),
        ("max(1,2)^2", 4.0), ("((((1))))", 1.0), ("6/2*3", 9.0), ("+5", 5.0),
    ] {
        assert_eq!(eval(text, &variables()), Ok(expected), "{text}");
    }
    assert!(eval("0/0", &variables()).unwrap().is_nan());
    assert!(eval("sqrt(-1)", &variables()).unwrap().is_nan());
}

#[test]
fn errors() {
    for (text, position) in [
        ("", 0), ("   ", 3), ("1 +", 3), ("1 + y", 4), ("1 $ 2", 2), ("(1", 2), ("1)", 1), ("1 2", 2), ("*2", 0), ("2 ** 3", 3),
        ("foo(1)", 0), ("1 + abs(1, 2)", 4), ("sqrt()", 0), ("min()", 0), ("min(1,)", 6), ("max(1 2)", 6), ("()", 1), ("x(1)", 0),
        ("1 + é", 4), ("abs", 0), ("2 x", 2), (",", 0),
    ] {
        let error = eval(text, &variables()).expect_err(text);
        if text != "sqrt()" && text != "min()" {
            assert_eq!(error.position, position, "{text}: {}", error.message);
        }
        assert!(!error.message.is_empty());
    }
}

#[test]
fn depth() {
    let nested = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(eval(&nested(100), &variables()), Ok(1.0));
    assert!(eval(&nested(100_000), &variables()).is_err());
    assert!(eval(&format!("{}1", "-".repeat(100_000)), &variables()).is_err());
    assert!(eval(&format!("{}1", "2^".repeat(100_000)), &variables()).is_err());
    assert_eq!(eval(&format!("0{}", "+1".repeat(20_000)), &variables()), Ok(20_000.0));
}
