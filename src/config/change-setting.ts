import { UsageError } from '../base/errors.ts';
import { sortByNearness } from '../base/name-suggestions.ts';
import { editToml, type NewValue } from './edit-toml.ts';
import { ALL_KEYS, KEYS_BY_SECTION, type KeyEntry } from './key-entry.ts';
import { describeWrongValue } from './layer.ts';
import { escapeLine } from './message-text.ts';
import type { LoadedConfig } from './load.ts';
import { changeUserFile, unusable } from './user-file.ts';

/** A changed setting of the user's configuration file. */
export interface ChangedSetting {
  readonly key: string;
  /** The value in the file; null if the file does not set the key any more. */
  readonly value: unknown;
  /** `FILE:LINE` of the key, or the file alone if it does not set the key. */
  readonly where: string;
  /** Whether the file was written. */
  readonly isChanged: boolean;
}

/**
 * Sets a key in the user's configuration file, or removes it. Everything else in the file stays, with its comments and its
 * layout. Throws MusterError, and writes nothing, for an unknown key, for a value that the key does not accept, and for a
 * file that cannot be changed.
 *
 * @param text the value as in an environment variable; null removes the key
 */
export async function changeSetting(
  path: string,
  key: string,
  text: string | null,
): Promise<ChangedSetting> {
  const entry = findSetting(key);
  const value = text === null ? undefined : readNewValue(entry, text);
  let isChanged = false;
  const edit = async ({ text: before }: { readonly text: string }): Promise<string> => {
    const { parse } = await import('smol-toml');
    const edited = editToml(before, entry, value, (part) => parse(part));
    if (!edited.ok) throw unusable(path, `${entry.key}: ${edited.problem}: change it by hand`);
    isChanged = edited.text !== before;
    return edited.text;
  };
  const invalidResult = `${entry.key} cannot be changed in it: change it by hand`;
  const { file } = await changeUserFile(path, { edit, invalidResult });
  return {
    key: entry.key,
    value: value ?? null,
    where: file.where([entry.section, entry.name]),
    isChanged,
  };
}

function findSetting(key: string): KeyEntry {
  const [section = '', name = ''] = key.split('.', 2);
  const entry = KEYS_BY_SECTION.get(section)?.get(name);
  if (entry !== undefined && entry.key === key) return entry;
  const near = sortByNearness(
    key,
    ALL_KEYS.map((each) => each.key),
  );
  const names = near.slice(0, 3).join(', ');
  throw new UsageError(`there is no setting ${escapeLine(key)}; the nearest: ${names}`);
}

function readNewValue(entry: KeyEntry, text: string): NewValue {
  const value = entry.spec.fromText(text);
  if (value === null || !entry.spec.accepts(value) || !isNewValue(value)) {
    throw new UsageError(`${entry.key} ${describeWrongValue(entry, text)}`);
  }
  return value;
}

function isNewValue(value: unknown): value is NewValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/**
 * Returns the source that decides a key in place of the user's file, which was just changed: a project's file, an
 * environment variable or a flag. Returns null if there is none.
 */
export function findOverride(
  { settings }: Pick<LoadedConfig, 'settings'>,
  { key, value, where }: Pick<ChangedSetting, 'key' | 'value' | 'where'>,
): string | null {
  const setting = settings.get(key);
  // A list that each source adds to is overridden by none.
  if (value === null || setting === undefined || setting.items.length > 0) return null;
  const { source } = setting;
  return source.kind === 'default' || source.where === where ? null : source.where;
}
