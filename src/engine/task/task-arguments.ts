import { dropMissing } from '../../base/drop-missing.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { ValidationResult } from '../../protocol/tool.ts';
import { findSizeProblem } from './output-schema.ts';
import { parseJsonLine } from '../../base/jsonl.ts';

/** The agent type of a Task call that names none. */
export const DEFAULT_AGENT = 'general-purpose';

/** The checked arguments of a Task call, with aliases resolved. */
export interface TaskArguments {
  readonly description?: string;
  readonly prompt: string;
  readonly subagentType?: string;
  readonly model?: string;
  readonly maxTurns?: number;
  /** The id of an ended task, or its beginning, that is resumed with `prompt`. */
  readonly resume?: string;
  /** The JSON Schema that the answer must be valid against. Default: that of the agent's definition. */
  readonly outputSchema?: JsonObject;
  /** The context that it gets in addition to its prompt. Default: none. */
  readonly context?: ContextArgument;
  /** Runs the task in the background. Default: as the agent's definition says. */
  readonly background?: boolean;
  /** The arguments as the model wrote them. */
  readonly params: JsonObject;
  /** The skill that runs as this task. Not set by an argument. */
  readonly skill?: SkillDefinition;
  /** The name of the template of which this task runs an item. Not set by an argument. */
  readonly templateName?: string;
}

/** Names of arguments that earlier prompts and other clients use, with the present names. */
const ARGUMENT_ALIASES: ReadonlyMap<string, string> = new Map([
  ['task', 'prompt'],
  ['input', 'prompt'],
  ['type', 'subagent_type'],
]);

/** The arguments in which an empty text is an error, since no default could be meant. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['prompt', 'subagent_type', 'resume']);
const ARGUMENTS = [
  'description',
  'prompt',
  'subagent_type',
  'model',
  'run_in_background',
  'resume',
  'max_turns',
  'output_schema',
  'context',
];

/** Arguments that are not supported yet, with their only valid value, which states the present behaviour. */
const FIXED_ARGUMENTS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['isolation', 'none'],
]);

/**
 * Reads the arguments of a Task call. Unlike other tools it accepts no other spelling of a name and clamps no
 * number, since a misread argument of a delegation would waste a full run.
 */
export function parseTaskArguments(value: JsonValue): ValidationResult<TaskArguments> {
  if (!isJsonObject(value)) return { ok: false, issues: ['the arguments must be an object'] };
  const args = new Map<string, JsonValue>();
  const issues: string[] = [];
  for (const [given, argument] of Object.entries(value)) {
    if (argument === undefined || (argument === null && isKnown(given))) continue;
    const [name, canonicalValue] = canonical(given, argument);
    // An empty text in an optional argument counts as absent.
    if (canonicalValue === '' && ARGUMENTS.includes(name) && !NEVER_EMPTY.has(name)) continue;
    if (args.has(name))
      issues.push(`${given}: means ${name}, which is given too; send one of them`);
    args.set(name, canonicalValue);
  }
  for (const [name, argument] of args) issues.push(...unknownArgument(name, argument));
  const text = textReader(args, issues);
  const prompt = text('prompt');
  if (prompt === undefined && !args.has('prompt')) {
    issues.push('prompt: is missing; it must be a text that says what the subagent is to do');
  }
  const description = text('description');
  const subagentType = text('subagent_type');
  const model = text('model');
  const resume = text('resume');
  const background = flag(args.get('run_in_background'), issues);
  const maxTurns = turnCount(args.get('max_turns'), issues);
  const outputSchema = schemaOf(args.get('output_schema'), issues);
  const context = parseContextArgument(args.get('context') ?? 'fresh', issues);
  if (context !== null && resume !== undefined) {
    issues.push('context: is for new tasks; a resumed task keeps its own context');
  }
  if (issues.length > 0 || prompt === undefined) return { ok: false, issues };
  return {
    ok: true,
    input: {
      prompt,
      params: value,
      ...dropMissing({ background, description, subagentType, model, maxTurns }),
      ...dropMissing({ outputSchema, resume }),
      ...(context === null ? {} : { context }),
    },
  };
}

function isKnown(given: string): boolean {
  const [name] = canonical(given, true);
  return ARGUMENTS.includes(name) || FIXED_ARGUMENTS.has(name);
}

/** Returns the present name of an argument and its value under that name. */
function canonical(given: string, argument: JsonValue): readonly [string, JsonValue] {
  if (given === 'fork' && typeof argument === 'boolean') {
    return ['context', argument ? 'inherit' : 'fresh'];
  }
  return [ARGUMENT_ALIASES.get(given) ?? given, argument];
}

function unknownArgument(name: string, value: JsonValue): readonly string[] {
  if (ARGUMENTS.includes(name)) return [];
  if (name === 'fork') return [`fork: must be true or false, not ${JSON.stringify(value)}`];
  if (!FIXED_ARGUMENTS.has(name)) {
    return [`${name}: is not an argument of Task; valid are ${ARGUMENTS.join(', ')}`];
  }
  const fixed = JSON.stringify(FIXED_ARGUMENTS.get(name));
  if (JSON.stringify(value) === fixed) return [];
  return [`${name}: is not available in this version; leave it out (it acts as ${fixed})`];
}

function textReader(args: ReadonlyMap<string, JsonValue>, issues: string[]) {
  return (name: string): string | undefined => {
    const value = args.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') {
      issues.push(`${name}: must be a text, not ${kindOf(value)}`);
      return undefined;
    }
    if (value.trim() === '') {
      issues.push(`${name}: must not be empty`);
      return undefined;
    }
    return value;
  };
}

function flag(value: JsonValue | undefined, issues: string[]): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  issues.push(`run_in_background: must be true or false, not ${JSON.stringify(value)}`);
  return undefined;
}

function turnCount(value: JsonValue | undefined, issues: string[]): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  issues.push(`max_turns: must be a whole number above 0, not ${JSON.stringify(value)}`);
  return undefined;
}

/** Reads the output schema. It may be given as a text, since some models write nested objects that way. */
function schemaOf(value: JsonValue | undefined, issues: string[]): JsonObject | undefined {
  if (value === undefined) return undefined;
  const schema = typeof value === 'string' ? parsed(value) : value;
  if (!isJsonObject(schema)) {
    issues.push(`output_schema: must be a JSON Schema (an object), not ${kindOf(value)}`);
    return undefined;
  }
  const tooBig = findSizeProblem(schema);
  if (tooBig === null) return schema;
  issues.push(`output_schema: ${tooBig}`);
  return undefined;
}

function parsed(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    // The text is not JSON, and is reported as a text.
    return text;
  }
}

function kindOf(value: JsonValue): string {
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

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

/** The maximum number of files, and the maximum number of results, that one call may name. */
const MAX_CHOSEN = 32;

const VALID =
  'fresh, inherit, summary, last:N (the last N turns), or {files: [paths], results: [task ids]}';

/** Reads the argument `context`. Returns null when the child gets only its prompt. Adds mistakes to `issues`. */
function parseContextArgument(given: JsonValue, issues: string[]): ContextArgument | null {
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

/** The maximum number of code units of a wrong value that a message shows. */
const SHOWN = 60;

function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}
