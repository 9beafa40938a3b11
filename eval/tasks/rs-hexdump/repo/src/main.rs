//! Prints bytes in hexadecimal.

use std::io::Read;

fn main() {
    let mut data = Vec::new();
    std::io::stdin().read_to_end(&mut data).unwrap();
    for (index, line) in data.chunks(16).enumerate() {
        let hex: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        println!("{:08x}  {}", index * 16, hex.join(" "));
    }
}
