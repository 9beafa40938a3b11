use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;
use std::time::Duration;
use words::count_words;

fn expected(texts: &[Vec<u8>]) -> Vec<(String, usize)> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for text in texts {
        for word in std::str::from_utf8(text).unwrap().split(|c: char| !c.is_alphabetic()).filter(|w| !w.is_empty()) {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    sorted
}

fn texts(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|n| format!("Alpha beta {} Straße ÉTÉ été x{n}y {}", "gamma ".repeat(n % 7), "the ".repeat(n % 3)).into_bytes()).collect()
}

#[test]
fn same_result_for_any_number_of_threads() {
    let texts = texts(500);
    let expected = expected(&texts);
    for threads in [0, 1, 2, 3, 7, 16, 1000] {
        assert_eq!(count_words(&texts, threads, None).as_ref(), Ok(&expected), "{threads} threads");
    }
    assert_eq!(count_words(&[], 4, None), Ok(vec![]));
    assert_eq!(count_words(&[vec![]], 4, None), Ok(vec![]));
}

#[test]
fn progress_in_order_and_one_at_a_time() {
    let texts = texts(200);
    let seen = Mutex::new(Vec::new());
    let busy = AtomicBool::new(false);
    let progress = |done: usize, total: usize| {
        assert!(!busy.swap(true, Ordering::SeqCst), "two at the same time");
        std::thread::sleep(Duration::from_micros(50));
        seen.lock().unwrap().push((done, total));
        busy.store(false, Ordering::SeqCst);
    };
    count_words(&texts, 8, Some(&progress)).unwrap();
    assert_eq!(*seen.lock().unwrap(), (1..=200).map(|n| (n, 200)).collect::<Vec<_>>());
}

#[test]
fn the_smallest_bad_index() {
    for threads in [1, 4, 9] {
        let mut all = texts(300);
        for index in [299, 37, 120] {
            all[index] = vec![b'a', 0xff];
        }
        assert_eq!(count_words(&all, threads, None), Err(37));
        all[0] = vec![0xc3];
        assert_eq!(count_words(&all, threads, None), Err(0));
    }
}

#[test]
fn a_large_text_does_not_leave_the_others_idle() {
    // While the first text waits in its callback, the other threads have to count the rest.
    let texts = texts(60);
    let threads_seen = Mutex::new(HashSet::new());
    let progress = |_: usize, _: usize| {
        threads_seen.lock().unwrap().insert(std::thread::current().id());
        std::thread::sleep(Duration::from_millis(2));
    };
    count_words(&texts, 3, Some(&progress)).unwrap();
    assert!(threads_seen.lock().unwrap().len() > 1);
}

#[test]
fn no_more_threads_than_texts() {
    let threads_seen = Mutex::new(HashSet::new());
    let progress = |_: usize, _: usize| {
        threads_seen.lock().unwrap().insert(std::thread::current().id());
    };
    count_words(&texts(2), 50_000, Some(&progress)).unwrap();
    assert!(threads_seen.lock().unwrap().len() <= 2);
}
