import { ALL_KEYS, type ConfigKey, type KeyEntry } from './keys.ts';

/** The row of the table for a key. */
export function findKeyEntry(key: ConfigKey): KeyEntry {
  const entry = ALL_KEYS.find((candidate) => candidate.key === key);
  if (entry === undefined) throw new Error(`the table has no key ${key}`);
  return entry;
}
