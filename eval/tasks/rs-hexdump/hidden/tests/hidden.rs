use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hexdump"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn dump(args: &[&str], input: &[u8]) -> String {
    let output = run(args, input);
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn forms() {
    assert_eq!(dump(&[], b""), "00000000\n");
    assert_eq!(
        dump(&[], b"0123456789abcdef~\x7f\xff"),
        "00000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  |0123456789abcdef|\n00000010  7e 7f ff                                         |~..|\n00000013\n"
    );
    assert_eq!(dump(&["-w1"], b"ab"), "00000000  61  |a|\n00000001  62  |b|\n00000002\n");
    assert_eq!(dump(&["-w", "2", "-n", "3"], b"abcdef"), "00000000  61 62  |ab|\n00000002  63     |c|\n00000003\n");
    assert_eq!(dump(&["-w2", "-s0x3", "-n2"], b"abcdef"), "00000003  64 65  |de|\n00000005\n");
    assert_eq!(dump(&["-s", "9"], b"abc"), "00000003\n");
    assert_eq!(dump(&["-s", "3"], b"abc"), "00000003\n");
    assert_eq!(dump(&["-n", "0"], b"abc"), "00000000\n");
}

#[test]
fn repeated_lines() {
    assert_eq!(dump(&["-w2"], b"aaaaaaaabb"), "00000000  61 61  |aa|\n*\n00000008  62 62  |bb|\n0000000a\n");
    assert_eq!(dump(&["-w2"], b"aaaa"), "00000000  61 61  |aa|\n*\n00000004\n");
    assert_eq!(dump(&["-w2"], b"aaaaa"), "00000000  61 61  |aa|\n*\n00000004  61     |a|\n00000005\n");
    assert_eq!(dump(&["-w2"], b"aabbaa"), "00000000  61 61  |aa|\n00000002  62 62  |bb|\n00000004  61 61  |aa|\n00000006\n");
}

#[test]
fn reverses() {
    let mut seed = 1u32;
    for round in 0..60u32 {
        let mut data = Vec::new();
        for _ in 0..round * 5 {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            data.push(if (seed >> 20) % 3 == 0 { (seed >> 24) as u8 } else { b'x' });
        }
        data.extend(vec![b'x'; round as usize * 3]);
        let width = format!("-w{}", 1 + round % 20);
        assert_eq!(run(&["-r"], dump(&[&width], &data).as_bytes()).stdout, data, "{round}");
    }
    for wrong in ["zz\n", "00000000  6  |a|\n00000001\n", "00000000  61 62  |ab|\n00000005\n", "00000000  61 62  |ab|\n00000001  63  |c|\n00000002\n", "*\n00000002\n", "00000000  61  |a|\n"] {
        let output = run(&["-r"], wrong.as_bytes());
        assert_eq!(output.status.code(), Some(1), "{wrong:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("hexdump: "), "{wrong:?}");
    }
}

#[test]
fn files_and_usage() {
    let path = std::env::temp_dir().join(format!("-hexdump-{}", std::process::id()));
    std::fs::write(&path, b"ab").unwrap();
    let path = path.to_str().unwrap();
    assert_eq!(dump(&["-w2", path], b""), "00000000  61 62  |ab|\n00000002\n");
    assert_eq!(dump(&["-w2", "--", path], b""), "00000000  61 62  |ab|\n00000002\n");
    std::fs::remove_file(path).unwrap();
    for (args, code) in [
        (vec!["-w0"], 2), (vec!["-w65"], 2), (vec!["-w"], 2), (vec!["-n", "x"], 2), (vec!["-n", "-1"], 2), (vec!["-q"], 2), (vec!["a", "b"], 2),
        (vec!["-s", "0xg"], 2), (vec!["/nonexistent/file"], 1),
    ] {
        let output = run(&args, b"");
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("hexdump: "), "{args:?}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn closed_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hexdump"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let data: Vec<u8> = (0..400_000u32).flat_map(|n| n.to_le_bytes()).collect();
    let _ = stdin.write_all(&data);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
