/** Keeps the first record of each id. */
export function dedupe(records) {
  return records.reduce(
    (kept, record) => (kept.some(({ id }) => id === record.id) ? kept : [...kept, record]),
    [],
  );
}
