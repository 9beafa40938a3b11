import { isJsonObject, type JsonValue } from '../../base/json.ts';

/** Lines of one field: what they come to takes time by their square, and no file needs as many. */
const MAX_ENTRIES = 500;

const ACTIONS = ['allow', 'ask', 'deny'] as const;
export type PermissionAction = (typeof ACTIONS)[number];

/** One line of a permission map: what is done about calls of these tools that touch this. */
export interface PermissionEntry {
  /** The vendor's name for what is allowed (`edit`, `bash`), with `*` and `?`. */
  readonly permission: string;
  /** What a call touches: a path, a command, a name; with `*` and `?`. */
  readonly pattern: string;
  readonly action: PermissionAction;
  /** Whether it is about the tool as a whole, and no line of a map of patterns. */
  readonly whole: boolean;
}

interface ReadEntries {
  readonly entries: readonly PermissionEntry[];
  /** What could not be read, which counts as denied. */
  readonly unreadable: readonly string[];
}

/** opencode's `{write: false}`, an older way to write permissions; more than 500 deny everything. Undefined: it is none. */
export function switchEntries(value: JsonValue): readonly PermissionEntry[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const switches = Object.entries(value);
  if (switches.length === 0 || switches.some(([, on]) => typeof on !== 'boolean')) return undefined;
  if (switches.length > MAX_ENTRIES) return [whole('*', 'deny')];
  return switches.map(([permission, on]) => whole(permission, on === true ? 'allow' : 'deny'));
}

/**
 * A permission field in any of its forms: one word for everything, a map (`{bash: ask}`, `{edit:
 * {"*.md": allow}}`), or a list of `{action, resource, effect}`. Later entries go before earlier ones.
 * More than 500 cannot be read.
 */
export function permissionEntries(value: JsonValue): ReadEntries {
  const read = allEntries(value);
  return read.entries.length <= MAX_ENTRIES
    ? read
    : { entries: [whole('*', 'deny')], unreadable: [`more than ${MAX_ENTRIES} lines`] };
}

function allEntries(value: JsonValue): ReadEntries {
  if (Array.isArray(value)) return joined(value.map((item: JsonValue) => listedEntry(item)));
  if (!isJsonObject(value)) return actionEntry(value, (action) => whole('*', action), '*');
  return joined(Object.entries(value).map(([name, each]) => mapEntries(name, each ?? null)));
}

function mapEntries(permission: string, value: JsonValue): ReadEntries {
  if (!isJsonObject(value)) {
    return actionEntry(value, (action) => whole(permission, action), permission);
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
    return { entries: [whole('*', 'deny')], unreadable: ['a list item'] };
  }
  const made = (action: PermissionAction): PermissionEntry => ({
    permission,
    pattern: resource,
    action,
    whole: resource === '*',
  });
  return actionEntry(effect ?? null, made, permission);
}

/** What nobody understands may have been meant as a denial. */
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

function whole(permission: string, action: PermissionAction): PermissionEntry {
  return { permission, pattern: '*', action, whole: true };
}

function joined(parts: readonly ReadEntries[]): ReadEntries {
  return {
    entries: parts.flatMap(({ entries }) => entries),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
  };
}
