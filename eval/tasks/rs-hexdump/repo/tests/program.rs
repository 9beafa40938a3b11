use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn prints_characters() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hexdump"))
        .args(["-w", "4"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"hello\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let expected = "00000000  68 65 6c 6c  |hell|\n00000004  6f 0a        |o.|\n00000006\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}
