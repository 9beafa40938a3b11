//! Evaluates arithmetic expressions.

use std::collections::HashMap;

/// A problem in an expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The byte position of the problem.
    pub position: usize,
    pub message: String,
}

/// Evaluates an expression with variables.
pub fn eval(text: &str, variables: &HashMap<String, f64>) -> Result<f64, Error> {
    let mut sum = 0.0;
    for part in text.split('+') {
        let part = part.trim();
        sum += match part.parse::<f64>() {
            Ok(number) => number,
            Err(_) => *variables.get(part).ok_or(Error {
                position: 0,
                message: format!("unknown variable {part}"),
            })?,
        };
    }
    Ok(sum)
}
