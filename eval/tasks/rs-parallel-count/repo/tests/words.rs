use words::count_words;

#[test]
fn counts() {
    let texts: Vec<Vec<u8>> = vec![b"The cat, the dog".to_vec(), b"the end".to_vec()];
    let expected: Vec<(String, usize)> =
        [("the", 3), ("cat", 1), ("dog", 1), ("end", 1)].map(|(word, count)| (word.to_string(), count)).into();
    for threads in [1, 2, 8] {
        assert_eq!(count_words(&texts, threads, None), Ok(expected.clone()));
    }
}
