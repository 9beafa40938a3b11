import type { KeySpec } from './key-kinds.ts';
import { SECTIONS, type ConfigKey } from './keys.ts';

/** A configuration key, its names, and the environment variable that sets it. */
export interface KeyEntry {
  /** The full name: `task_tool.max_depth`. */
  readonly key: string;
  readonly section: string;
  readonly name: string;
  /** The environment variable: `MUSTER_TASK_TOOL_MAX_DEPTH`. */
  readonly variable: string;
  readonly spec: KeySpec<unknown>;
}

function variableName(section: string, name: string): string {
  return `MUSTER_${section}_${name}`.toUpperCase();
}

/**
 * The keys by section and name. These are maps and not objects, so that a name from a file such as `__proto__` is only
 * an unknown key.
 */
export const KEYS_BY_SECTION: ReadonlyMap<string, ReadonlyMap<string, KeyEntry>> = new Map(
  Object.entries(SECTIONS).map(([section, specs]) => [
    section,
    createSectionEntries(section, specs),
  ]),
);

export const ALL_KEYS: readonly KeyEntry[] = [...KEYS_BY_SECTION.values()].flatMap((keys) =>
  Array.from(keys.values()),
);

function createSectionEntries(
  section: string,
  specs: Readonly<Record<string, KeySpec<unknown>>>,
): ReadonlyMap<string, KeyEntry> {
  return new Map(
    Object.entries(specs).map(([name, spec]) => [
      name,
      { key: `${section}.${name}`, section, name, variable: variableName(section, name), spec },
    ]),
  );
}

/** Finds the entry of a key. Throws if the table has no such key. */
export function findKeyEntry(key: ConfigKey): KeyEntry {
  const entry = ALL_KEYS.find((candidate) => candidate.key === key);
  if (entry === undefined) throw new Error(`the table of configuration keys has no key ${key}`);
  return entry;
}
