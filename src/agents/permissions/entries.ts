import { isJsonObject, type JsonValue } from '../../base/json.ts';

/**
 * The maximum number of entries of one field. Translating them takes time proportional to the square of their number,
 * and no file needs more.
 */
const MAX_ENTRIES = 500;

const ACTIONS = ['allow', 'ask', 'deny'] as const;
export type PermissionAction = (typeof ACTIONS)[number];

/** A line of a permission map: the action for the calls of a permission's tools that match a pattern. */
export interface PermissionEntry {
  /** The vendor's name for the permission (`edit`, `bash`), with the wildcards `*` and `?`. */
  readonly permission: string;
  /** The path, command or name that a call concerns, with the wildcards `*` and `?`. */
  readonly pattern: string;
  readonly action: PermissionAction;
  /** Whether the entry concerns all calls of the tools, because it is not in a map of patterns. */
  readonly whole: boolean;
}

interface ReadEntries {
  readonly entries: readonly PermissionEntry[];
  /** The permissions that could not be read. They count as denied. */
  readonly unreadable: readonly string[];
}

/**
 * Reads opencode's `{write: false}`, an older form of permissions. If there are more than 500 entries, everything is
 * denied. Returns undefined if the value has another form.
 */
export function readToolSwitches(value: JsonValue): readonly PermissionEntry[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const switches = Object.entries(value);
  if (switches.length === 0 || switches.some(([, on]) => typeof on !== 'boolean')) return undefined;
  if (switches.length > MAX_ENTRIES) return [wholeToolEntry('*', 'deny')];
  return switches.map(([permission, on]) =>
    wholeToolEntry(permission, on === true ? 'allow' : 'deny'),
  );
}

/**
 * Reads a permission field in any of its forms: one action for everything, a map (`{bash: ask}`, `{edit: {"*.md":
 * allow}}`), or a list of `{action, resource, effect}`. Later entries have precedence over earlier ones. If there are
 * more than 500 entries, everything is denied.
 */
export function readPermissionEntries(value: JsonValue): ReadEntries {
  const read = readAllEntries(value);
  return read.entries.length <= MAX_ENTRIES
    ? read
    : { entries: [wholeToolEntry('*', 'deny')], unreadable: [`more than ${MAX_ENTRIES} lines`] };
}

function readAllEntries(value: JsonValue): ReadEntries {
  if (Array.isArray(value)) return joinEntries(value.map((item: JsonValue) => readListItem(item)));
  if (!isJsonObject(value))
    return readActionEntry(value, (action) => wholeToolEntry('*', action), '*');
  return joinEntries(
    Object.entries(value).map(([name, each]) => readMapEntries(name, each ?? null)),
  );
}

function readMapEntries(permission: string, value: JsonValue): ReadEntries {
  if (!isJsonObject(value)) {
    return readActionEntry(value, (action) => wholeToolEntry(permission, action), permission);
  }
  return joinEntries(
    Object.entries(value).map(([pattern, value]) =>
      readActionEntry(
        value ?? null,
        (action) => ({ permission, pattern, action, whole: false }),
        `${permission}: ${pattern}`,
      ),
    ),
  );
}

function readListItem(item: JsonValue): ReadEntries {
  const { action: permission, resource = '*', effect } = isJsonObject(item) ? item : {};
  if (typeof permission !== 'string' || typeof resource !== 'string') {
    return { entries: [wholeToolEntry('*', 'deny')], unreadable: ['a list item'] };
  }
  const createEntry = (action: PermissionAction): PermissionEntry => ({
    permission,
    pattern: resource,
    action,
    whole: resource === '*',
  });
  return readActionEntry(effect ?? null, createEntry, permission);
}

/** Creates the entry for an action. An unknown action counts as `deny`, because it may have been meant as a denial. */
function readActionEntry(
  value: JsonValue,
  createEntry: (action: PermissionAction) => PermissionEntry,
  shownName: string,
): ReadEntries {
  if (value === null) return { entries: [], unreadable: [] };
  const action = typeof value === 'boolean' ? (value ? 'allow' : 'deny') : parseAction(value);
  return action === undefined
    ? { entries: [createEntry('deny')], unreadable: [shownName] }
    : { entries: [createEntry(action)], unreadable: [] };
}

function parseAction(value: JsonValue): PermissionAction | undefined {
  const name = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return ACTIONS.find((action) => action === name);
}

function wholeToolEntry(permission: string, action: PermissionAction): PermissionEntry {
  return { permission, pattern: '*', action, whole: true };
}

function joinEntries(parts: readonly ReadEntries[]): ReadEntries {
  return {
    entries: parts.flatMap(({ entries }) => entries),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
  };
}
