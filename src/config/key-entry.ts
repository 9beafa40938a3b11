import type { KeySpec } from './key-kinds.ts';
import { SECTIONS, type ConfigKey } from './keys.ts';

/** A configuration key with its names: `task_tool.max_depth`, `MUSTER_TASK_TOOL_MAX_DEPTH`. */
export interface KeyEntry {
  readonly key: string;
  readonly section: string;
  readonly name: string;
  readonly variable: string;
  readonly spec: KeySpec<unknown>;
}

function variableOf(section: string, name: string): string {
  return `MUSTER_${section}_${name}`.toUpperCase();
}

/**
 * The keys by section and name. They are maps, so that no name from a file can reach a prototype.
 */
export const KEYS_BY_SECTION: ReadonlyMap<string, ReadonlyMap<string, KeyEntry>> = new Map(
  Object.entries(SECTIONS).map(([section, specs]) => [section, sectionKeys(section, specs)]),
);

export const ALL_KEYS: readonly KeyEntry[] = [...KEYS_BY_SECTION.values()].flatMap((keys) =>
  Array.from(keys.values()),
);

function sectionKeys(
  section: string,
  specs: Readonly<Record<string, KeySpec<unknown>>>,
): ReadonlyMap<string, KeyEntry> {
  return new Map(
    Object.entries(specs).map(([name, spec]) => [
      name,
      { key: `${section}.${name}`, section, name, variable: variableOf(section, name), spec },
    ]),
  );
}

/** Finds a key in the table. */
export function findKeyEntry(key: ConfigKey): KeyEntry {
  const entry = ALL_KEYS.find((candidate) => candidate.key === key);
  if (entry === undefined) throw new Error(`the table has no key ${key}`);
  return entry;
}
