import { isJsonObject, type JsonValue } from '../../base/json.ts';

/**
 * The maximum number of lines of one field. Translating them takes time proportional to their square, and no file
 * needs as many.
 */
const MAX_ENTRIES = 500;

const ACTIONS = ['allow', 'ask', 'deny'] as const;
export type PermissionAction = (typeof ACTIONS)[number];

/** A line of a permission map: the action for calls of some tools that concern something. */
export interface PermissionEntry {
  /** The vendor's name for the permission (`edit`, `bash`), with the wildcards `*` and `?`. */
  readonly permission: string;
  /** The path, command or name that a call concerns, with the wildcards `*` and `?`. */
  readonly pattern: string;
  readonly action: PermissionAction;
  /** Whether it concerns the tool as a whole, and is not a line of a map of patterns. */
  readonly whole: boolean;
}

interface ReadEntries {
  readonly entries: readonly PermissionEntry[];
  /** The permissions that could not be read and count as denied. */
  readonly unreadable: readonly string[];
}

/** Reads opencode's `{write: false}`, an older form of permissions. More than 500 entries deny everything. Undefined: the value has another form. */
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
 * Reads a permission field in any of its forms: one action for everything, a map (`{bash: ask}`,
 * `{edit: {"*.md": allow}}`), or a list of `{action, resource, effect}`. Later entries have precedence over
 * earlier ones. More than 500 entries cannot be read.
 */
export function readPermissionEntries(value: JsonValue): ReadEntries {
  const read = allEntries(value);
  return read.entries.length <= MAX_ENTRIES
    ? read
    : { entries: [wholeToolEntry('*', 'deny')], unreadable: [`more than ${MAX_ENTRIES} lines`] };
}

function allEntries(value: JsonValue): ReadEntries {
  if (Array.isArray(value)) return joined(value.map((item: JsonValue) => listedEntry(item)));
  if (!isJsonObject(value)) return actionEntry(value, (action) => wholeToolEntry('*', action), '*');
  return joined(Object.entries(value).map(([name, each]) => mapEntries(name, each ?? null)));
}

function mapEntries(permission: string, value: JsonValue): ReadEntries {
  if (!isJsonObject(value)) {
    return actionEntry(value, (action) => wholeToolEntry(permission, action), permission);
  }
  return joined(
    Object.entries(value).map(([pattern, word]) =>
      actionEntry(
        word ?? null,
        (action) => ({ permission, pattern, action, whole: false }),
        `${permission}: ${pattern}`,
      ),
    ),
  );
}

function listedEntry(item: JsonValue): ReadEntries {
  const { action: permission, resource = '*', effect } = isJsonObject(item) ? item : {};
  if (typeof permission !== 'string' || typeof resource !== 'string') {
    return { entries: [wholeToolEntry('*', 'deny')], unreadable: ['a list item'] };
  }
  const made = (action: PermissionAction): PermissionEntry => ({
    permission,
    pattern: resource,
    action,
    whole: resource === '*',
  });
  return actionEntry(effect ?? null, made, permission);
}

/** An action that is not understood may have been meant as a denial. */
function actionEntry(
  word: JsonValue,
  made: (action: PermissionAction) => PermissionEntry,
  what: string,
): ReadEntries {
  if (word === null) return { entries: [], unreadable: [] };
  const action = typeof word === 'boolean' ? (word ? 'allow' : 'deny') : actionOf(word);
  return action === undefined
    ? { entries: [made('deny')], unreadable: [what] }
    : { entries: [made(action)], unreadable: [] };
}

function actionOf(word: JsonValue): PermissionAction | undefined {
  const said = typeof word === 'string' ? word.trim().toLowerCase() : '';
  return ACTIONS.find((action) => action === said);
}

function wholeToolEntry(permission: string, action: PermissionAction): PermissionEntry {
  return { permission, pattern: '*', action, whole: true };
}

function joined(parts: readonly ReadEntries[]): ReadEntries {
  return {
    entries: parts.flatMap(({ entries }) => entries),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
  };
}
