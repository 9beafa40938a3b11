import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';

/** The context that a Task call gives its child in addition to the prompt. */
export type ContextArgument =
  | { readonly kind: 'inherit' }
  | { readonly kind: 'last'; readonly turns: number }
  | { readonly kind: 'summary' }
  | {
      readonly kind: 'chosen';
      /** Paths as the model wrote them. */
      readonly files: readonly string[];
      /** Ids of tasks, or their beginnings. */
      readonly results: readonly string[];
    };

/** The most files, and the most results, that one call may name. */
const MAX_CHOSEN = 32;

const VALID =
  'fresh, inherit, summary, last:N (the last N turns), or {files: [paths], results: [task ids]}';

/** Reads the argument `context`. Returns null when the child gets only its prompt. Adds mistakes to `issues`. */
export function parseContextArgument(given: JsonValue, issues: string[]): ContextArgument | null {
  const value = unquoteObject(given);
  if (isJsonObject(value)) return chosen(value, issues);
  if (value === 'fresh') return null;
  if (value === 'inherit') return { kind: 'inherit' };
  if (value === 'summary') return { kind: 'summary' };
  const turns = typeof value === 'string' ? /^last:([1-9]\d{0,8})$/.exec(value)?.[1] : undefined;
  if (turns !== undefined) return { kind: 'last', turns: Number(turns) };
  issues.push(`context: must be ${VALID}, not ${shown(value)}`);
  return null;
}

/** Parses an object that is given as a text: some models do so where both types are valid. */
function unquoteObject(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return value;
  const parsed = parseJsonLine(value);
  return isJsonObject(parsed) ? parsed : value;
}

function chosen(value: JsonObject, issues: string[]) {
  for (const name of Object.keys(value)) {
    if (name === 'files' || name === 'results') continue;
    issues.push(`context.${name}: is not a part of context; valid are files, results`);
  }
  const before = issues.length;
  const files = texts('files', value['files'], issues);
  const results = texts('results', value['results'], issues);
  if (issues.length > before) return null;
  if (files.length + results.length === 0) {
    issues.push('context: has neither files nor results; name some, or leave it out');
  }
  return { kind: 'chosen', files, results } as const;
}

function texts(name: string, value: JsonValue | undefined, issues: string[]): readonly string[] {
  if (value === undefined || value === null) return [];
  const given: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const list = given.filter((each) => typeof each === 'string' && each.trim() !== '');
  if (!Array.isArray(value) || list.length < given.length) {
    issues.push(`context.${name}: must be a list of texts, not ${shown(value)}`);
    return [];
  }
  if (list.length > MAX_CHOSEN) {
    issues.push(`context.${name}: may name at most ${MAX_CHOSEN}, not ${list.length}`);
  }
  return [...new Set(list.map(String))];
}

/** The most code units of a wrong value that a message shows. */
const SHOWN = 60;

function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}
