//! Counts words with several threads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// A callback that is told how many of all texts are done.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Counts the words of texts.
pub fn count_words(
    texts: &[Vec<u8>],
    threads: usize,
    progress: Option<Progress>,
) -> Result<Vec<(String, usize)>, usize> {
    let counts = Arc::new(Mutex::new(HashMap::new()));
    std::thread::scope(|scope| {
        for part in texts.chunks(texts.len() / threads) {
            let counts = counts.clone();
            scope.spawn(move || {
                for text in part {
                    let text = std::str::from_utf8(text).unwrap();
                    for word in text.split(|c: char| !c.is_alphabetic()) {
                        let seen = counts.lock().unwrap().get(word).copied().unwrap_or(0);
                        counts.lock().unwrap().insert(word.to_string(), seen + 1);
                    }
                    if let Some(progress) = progress {
                        progress(1, texts.len());
                    }
                }
            });
        }
    });
    let counts = counts.lock().unwrap();
    Ok(counts.iter().map(|(word, count)| (word.clone(), *count)).collect())
}
