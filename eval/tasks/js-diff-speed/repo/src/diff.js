import { dedupe } from './dedupe.js';

/** Compares two lists of records by their ids. */
export function diffRecords(before, after) {
  const old = dedupe(before);
  const current = dedupe(after);
  const added = current.filter((record) => !old.some(({ id }) => id === record.id));
  const removed = old.filter((record) => !current.some(({ id }) => id === record.id));
  const changed = [];
  for (const record of current) {
    const previous = old.find(({ id }) => id === record.id);
    if (!previous) continue;
    const fields = changedFields(previous, record);
    if (fields.length > 0) changed.push({ id: record.id, fields });
  }
  return { added, removed, changed };
}

function changedFields(a, b) {
  const names = [...Object.keys(a), ...Object.keys(b)];
  return names
    .filter((name, index) => names.indexOf(name) === index)
    .filter((name) => !(name in a) || !(name in b) || !Object.is(a[name], b[name]))
    .sort();
}
