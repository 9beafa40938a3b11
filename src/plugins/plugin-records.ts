import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../base/json.ts';
import type { ListFormat } from '../store/state/state-list.ts';
import { PLUGINS_FILE } from '../trust/state-directory.ts';
import { isPluginName } from './plugin-paths.ts';
import { readStoredSource, type PluginSource } from './plugin-source.ts';

/** The record of an installed plugin. It is the user's approval of exactly these files. */
export interface PluginRecord {
  readonly name: string;
  /** The marketplace from which it comes, or `direct`. */
  readonly marketplace: string;
  readonly version: string | null;
  /** The hash of the approved files. */
  readonly hash: string;
  /** The source of a plugin without a marketplace, or the source that the marketplace named. */
  readonly source: PluginSource;
  /** The commit of the files. Null if they do not come from a repository. */
  readonly commit: string | null;
  /** The entry of the marketplace at the time of the approval. Null if it comes from none. */
  readonly entry: { readonly fields: JsonObject; readonly isStrict: boolean } | null;
  readonly isEnabled: boolean;
  /** The time of the approval, in ISO 8601. */
  readonly approvedOn: string;
}

/** The record of a marketplace. */
export interface MarketplaceRecord {
  readonly name: string;
  readonly source: PluginSource;
  readonly commit: string | null;
  /** The content of its file. */
  readonly text: string;
  /** The time at which its file was last read, in ISO 8601. */
  readonly updatedOn: string;
}

/** Returns the name by which people mean an installed plugin: `NAME@MARKETPLACE`. */
export function pluginId({
  name,
  marketplace,
}: Pick<PluginRecord, 'name' | 'marketplace'>): string {
  return `${name}@${marketplace}`;
}

/**
 * Returns the hash that a person approves, in hexadecimal: of the files and of the entry of the marketplace, which adds to
 * them. Without an entry, it is the hash of the files.
 */
export function hashApproval({ hash, entry }: Pick<PluginRecord, 'hash' | 'entry'>): string {
  if (entry === null) return hash;
  const parts = JSON.stringify([hash, entry.fields, entry.isStrict]);
  return createHash('sha256').update(parts).digest('hex');
}

const HASH = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The format of the file with the installed plugins. */
export const PLUGIN_RECORDS: ListFormat<PluginRecord> = {
  fileName: PLUGINS_FILE,
  remedy: 'install your plugins again',
  listName: 'plugins',
  keyOf: pluginId,
  describeInvalid: (position) => `entry ${position} is not a valid plugin`,
  read({ name, marketplace, version, hash, source, commit, entry, isEnabled, approvedOn }) {
    const read = readStoredSource(source);
    const readEntry = readStoredEntry(entry);
    if (
      !isPluginName(name) ||
      !isPluginName(marketplace) ||
      !isTextOrNull(version) ||
      typeof hash !== 'string' ||
      !HASH.test(hash) ||
      read === null ||
      !isTextOrNull(commit) ||
      readEntry === undefined ||
      typeof isEnabled !== 'boolean' ||
      !isTime(approvedOn)
    ) {
      return undefined;
    }
    const details = { version, hash, source: read, commit, entry: readEntry };
    return { name, marketplace, ...details, isEnabled, approvedOn };
  },
};

/** The format of the file with the marketplaces. */
export const MARKETPLACE_RECORDS: ListFormat<MarketplaceRecord> = {
  fileName: 'marketplaces.json',
  remedy: 'add your marketplaces again',
  listName: 'marketplaces',
  keyOf: ({ name }) => name,
  describeInvalid: (position) => `entry ${position} is not a valid marketplace`,
  read({ name, source, commit, text, updatedOn }) {
    const read = readStoredSource(source);
    const isValid =
      isPluginName(name) && read !== null && isTextOrNull(commit) && typeof text === 'string';
    return isValid && isTime(updatedOn)
      ? { name, source: read, commit, text, updatedOn }
      : undefined;
  },
};

function readStoredEntry(value: JsonValue | undefined): PluginRecord['entry'] | undefined {
  if (value === null) return null;
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const { fields, isStrict } = value as JsonObject;
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined;
  return typeof isStrict === 'boolean' ? { fields: fields as JsonObject, isStrict } : undefined;
}

function isTextOrNull(value: JsonValue | undefined): value is string | null {
  return value === null || typeof value === 'string';
}

function isTime(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && TIME.test(value);
}
