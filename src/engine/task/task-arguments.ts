import { dropMissing } from '../../base/drop-missing.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { parseAcceptance, type AcceptanceCriteria } from '../../protocol/acceptance.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { ValidationResult } from '../../protocol/tool.ts';
import { ISOLATIONS, type Isolation } from '../../protocol/workspace.ts';
import { findSizeProblem } from './output-schema.ts';
import { parseJsonLine } from '../../base/jsonl.ts';

/** The agent type of a Task call without `subagent_type`. */
export const DEFAULT_AGENT = 'general-purpose';

/** The checked arguments of a Task call, with aliases resolved. */
export interface TaskArguments {
  readonly description?: string;
  readonly prompt: string;
  readonly subagentType?: string;
  readonly model?: string;
  readonly maxTurns?: number;
  /** The id of an ended task, or the beginning of its id. The task is resumed with `prompt`. */
  readonly resume?: string;
  /** The JSON Schema that the answer must be valid against. Default: that of the agent's definition. */
  readonly outputSchema?: JsonObject;
  /** The conditions under which the work is accepted. Default: those of the agent's definition. */
  readonly accept?: AcceptanceCriteria;
  /** The models that take over in this order when the work is not accepted. Default: none. */
  readonly laterModels?: readonly string[];
  /** The context that the child gets in addition to its prompt. Default: none. */
  readonly context?: ContextArgument;
  /** The isolation of the task. Default: the value in the agent's definition. */
  readonly isolation?: Isolation;
  /** True to run the task in the background. Default: the value in the agent's definition. */
  readonly background?: boolean;
  /** The arguments as the model wrote them. */
  readonly params: JsonObject;
  /** The skill that runs as this task. Not set by an argument. */
  readonly skill?: SkillDefinition;
  /** The name of the template whose item the task runs. Not set by an argument. */
  readonly templateName?: string;
}

/** The argument names of earlier prompts and other clients, with the present names. */
const ARGUMENT_ALIASES: ReadonlyMap<string, string> = new Map([
  ['task', 'prompt'],
  ['input', 'prompt'],
  ['type', 'subagent_type'],
]);

/** The arguments in which an empty text is an error, because no default could be meant. */
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
  'accept',
  'models',
  'context',
  'isolation',
];

/**
 * Reads the arguments of a Task call. Unlike other tools, Task accepts no similar spelling of a name and clamps no
 * number, because a misread argument of a delegation would waste a full run.
 */
export function parseTaskArguments(value: JsonValue): ValidationResult<TaskArguments> {
  if (!isJsonObject(value)) return { ok: false, issues: ['the arguments must be an object'] };
  const args = new Map<string, JsonValue>();
  const issues: string[] = [];
  for (const [key, argument] of Object.entries(value)) {
    if (argument === undefined || (argument === null && isKnown(key))) continue;
    const [name, canonicalValue] = toCanonicalArgument(key, argument);
    // An empty text in an optional argument counts as absent.
    if (canonicalValue === '' && ARGUMENTS.includes(name) && !NEVER_EMPTY.has(name)) continue;
    if (args.has(name)) issues.push(`${key}: means ${name}, which is given too; send one of them`);
    args.set(name, canonicalValue);
  }
  for (const [name, argument] of args) issues.push(...findArgumentIssues(name, argument));
  const text = createTextReader(args, issues);
  const prompt = text('prompt');
  if (prompt === undefined && !args.has('prompt')) {
    issues.push('prompt: is missing; it must be a text that says what the subagent is to do');
  }
  const description = text('description');
  const subagentType = text('subagent_type');
  const model = text('model');
  const resume = text('resume');
  const background = readFlag(args.get('run_in_background'), issues);
  const maxTurns = readTurnCount(args.get('max_turns'), issues);
  const written = readAcceptance(args.get('accept'), issues);
  const ownSchema = readSchema(args.get('output_schema'), issues);
  if (ownSchema !== undefined && written?.schema !== undefined)
    issues.push('accept.schema: means output_schema, which is given too; send one of them');
  const outputSchema = ownSchema ?? written?.schema;
  const accept = written?.criteria;
  const [first, ...laterModels] = readModelNames(args.get('models'), issues);
  if (first !== undefined && model !== undefined)
    issues.push('models: begins with the first model, so `model` must be left out');
  const context = parseContextArgument(args.get('context') ?? 'fresh', issues);
  if (resume !== undefined && (accept !== undefined || first !== undefined)) {
    issues.push('accept, models: are for new tasks; a resumed task keeps its own');
  }
  if (context !== null && resume !== undefined) {
    issues.push('context: is for new tasks; a resumed task keeps its own context');
  }
  const isolation = readIsolationArgument(args.get('isolation'), issues);
  if (isolation !== undefined && resume !== undefined) {
    issues.push('isolation: is for new tasks; a resumed task keeps its own');
  }
  if (issues.length > 0 || prompt === undefined) return { ok: false, issues };
  return {
    ok: true,
    input: {
      prompt,
      params: value,
      ...dropMissing({ background, description, subagentType, model: model ?? first, maxTurns }),
      ...dropMissing({ outputSchema, accept, resume, isolation }),
      ...(laterModels.length === 0 ? {} : { laterModels }),
      ...(context === null ? {} : { context }),
    },
  };
}

function isKnown(key: string): boolean {
  const [name] = toCanonicalArgument(key, true);
  return ARGUMENTS.includes(name);
}

/** Returns the present name of an argument and its value under that name. */
function toCanonicalArgument(given: string, argument: JsonValue): readonly [string, JsonValue] {
  if (given === 'fork' && typeof argument === 'boolean') {
    return ['context', argument ? 'inherit' : 'fresh'];
  }
  return [ARGUMENT_ALIASES.get(given) ?? given, argument];
}

/** Returns the issue of an argument that does not exist, or an empty list. */
function findArgumentIssues(name: string, value: JsonValue): readonly string[] {
  if (ARGUMENTS.includes(name)) return [];
  if (name === 'fork') return [`fork: must be true or false, not ${JSON.stringify(value)}`];
  return [`${name}: is not an argument of Task; valid are ${ARGUMENTS.join(', ')}`];
}

/** Returns a function that reads a text argument and adds an issue if its value is not a text or is blank. */
function createTextReader(args: ReadonlyMap<string, JsonValue>, issues: string[]) {
  return (name: string): string | undefined => {
    const value = args.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') {
      issues.push(`${name}: must be a text, not ${describeType(value)}`);
      return undefined;
    }
    if (value.trim() === '') {
      issues.push(`${name}: must not be empty`);
      return undefined;
    }
    return value;
  };
}

function readFlag(value: JsonValue | undefined, issues: string[]): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  issues.push(`run_in_background: must be true or false, not ${JSON.stringify(value)}`);
  return undefined;
}

function readIsolationArgument(value: JsonValue | undefined, issues: string[]) {
  const isolation = ISOLATIONS.find((each) => each === value);
  if (value !== undefined && isolation === undefined) {
    issues.push(
      `isolation: must be one of ${ISOLATIONS.join(', ')}, not ${formatWrongValue(value)}`,
    );
  }
  return isolation;
}

function readTurnCount(value: JsonValue | undefined, issues: string[]): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  issues.push(`max_turns: must be a whole number above 0, not ${JSON.stringify(value)}`);
  return undefined;
}

/**
 * Reads the output schema. The value may be JSON in a string, because some models write nested objects in that way.
 */
function readSchema(value: JsonValue | undefined, issues: string[]): JsonObject | undefined {
  if (value === undefined) return undefined;
  const schema = typeof value === 'string' ? parseJsonOrKeep(value) : value;
  if (!isJsonObject(schema)) {
    issues.push(`output_schema: must be a JSON Schema (an object), not ${describeType(value)}`);
    return undefined;
  }
  const tooBig = findSizeProblem(schema);
  if (tooBig === null) return schema;
  issues.push(`output_schema: ${tooBig}`);
  return undefined;
}

/** Reads the acceptance criteria. An object may be JSON in a string, as for the output schema. */
function readAcceptance(value: JsonValue | undefined, issues: string[]) {
  return value === undefined ? undefined : parseAcceptance(unquoteObject(value), issues);
}

/** The maximum number of models that may work on one task in turn. */
const MAX_MODELS = 8;

function readModelNames(value: JsonValue | undefined, issues: string[]): readonly string[] {
  if (value === undefined) return [];
  const names: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const texts = names.filter((name) => typeof name === 'string' && name.trim() !== '').map(String);
  if (texts.length < names.length || texts.length === 0 || texts.length > MAX_MODELS) {
    issues.push(`models: must be a list of 1 to ${MAX_MODELS} models, the first to be tried first`);
  }
  return texts;
}

function parseJsonOrKeep(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    // The text is not JSON. The caller reports it as a wrong value.
    return text;
  }
}

function describeType(value: JsonValue): string {
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

/** The context that a Task call gives its child in addition to the prompt. */
export type ContextArgument =
  | { readonly kind: 'inherit' }
  | { readonly kind: 'last'; readonly turns: number }
  | { readonly kind: 'summary' }
  | {
      readonly kind: 'chosen';
      /** The paths as the model wrote them. */
      readonly files: readonly string[];
      /** The ids of tasks, or the beginnings of their ids. */
      readonly results: readonly string[];
    };

/** The maximum number of files, and the maximum number of results, that one call may name. */
const MAX_CHOSEN = 32;

const VALID_CONTEXTS =
  'fresh, inherit, summary, last:N (the last N turns), or {files: [paths], results: [task ids]}';

/**
 * Reads the argument `context` and adds its mistakes to `issues`. Returns null when the child gets only its prompt.
 */
function parseContextArgument(given: JsonValue, issues: string[]): ContextArgument | null {
  const value = unquoteObject(given);
  if (isJsonObject(value)) return readChosenContext(value, issues);
  if (value === 'fresh') return null;
  if (value === 'inherit') return { kind: 'inherit' };
  if (value === 'summary') return { kind: 'summary' };
  const turns = typeof value === 'string' ? /^last:([1-9]\d{0,8})$/.exec(value)?.[1] : undefined;
  if (turns !== undefined) return { kind: 'last', turns: Number(turns) };
  issues.push(`context: must be ${VALID_CONTEXTS}, not ${formatWrongValue(value)}`);
  return null;
}

/** Parses an object that is given as JSON in a string: some models write it that way when both types are valid. */
function unquoteObject(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !value.trimStart().startsWith('{')) return value;
  const parsed = parseJsonLine(value);
  return isJsonObject(parsed) ? parsed : value;
}

function readChosenContext(value: JsonObject, issues: string[]) {
  for (const name of Object.keys(value)) {
    if (name === 'files' || name === 'results') continue;
    issues.push(`context.${name}: is not a part of context; valid are files, results`);
  }
  const before = issues.length;
  const files = readTexts('files', value['files'], issues);
  const results = readTexts('results', value['results'], issues);
  if (issues.length > before) return null;
  if (files.length + results.length === 0) {
    issues.push('context: has neither files nor results; name some, or leave it out');
  }
  return { kind: 'chosen', files, results } as const;
}

function readTexts(
  name: string,
  value: JsonValue | undefined,
  issues: string[],
): readonly string[] {
  if (value === undefined || value === null) return [];
  const values: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  const list = values.filter((each) => typeof each === 'string' && each.trim() !== '');
  if (!Array.isArray(value) || list.length < values.length) {
    issues.push(`context.${name}: must be a list of texts, not ${formatWrongValue(value)}`);
    return [];
  }
  if (list.length > MAX_CHOSEN) {
    issues.push(`context.${name}: may name at most ${MAX_CHOSEN}, not ${list.length}`);
  }
  return [...new Set(list.map(String))];
}

/** The maximum number of code units of a wrong value that a message shows. */
const MAX_SHOWN_LENGTH = 60;

function formatWrongValue(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN_LENGTH ? text : `${text.slice(0, MAX_SHOWN_LENGTH)}…`;
}
