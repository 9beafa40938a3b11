import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { truncate } from '../../base/text.ts';
import { type AgentDefinition } from '../../protocol/agent.ts';
import { MEMORY_SCOPES } from '../../protocol/memory.ts';
import { removeControls, type Field } from '../parsing/fields.ts';
import { normalizeLineEnds } from '../parsing/split-front-matter.ts';
import type { FieldReader } from './field-reader.ts';
import { lazy } from '../../base/lazy.ts';
import { EFFORTS, type Effort } from '../../protocol/model.ts';

/** The maximum number of characters of a name. A longer name is truncated. */
const MAX_NAME_LENGTH = 200;

/**
 * Reads a string, or a number that was written instead of a string, as text without control characters. Returns
 * undefined for an empty text and for other types.
 */
export function fieldText(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const clean = removeControls(String(value)).trim();
  return clean === '' ? undefined : clean;
}

/** Reads a prompt, keeping its lines. Returns undefined if there is none. */
export function readPromptText(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const prompt = normalizeLineEnds(value).replaceAll('\0', '').trim();
  return prompt === '' ? undefined : prompt;
}

/**
 * Reads the first line of a value that should be a single line. In broken YAML, further lines belong to unknown fields.
 * They must not make a mode that narrows rights unreadable.
 */
export function readSingleLine(value: JsonValue | undefined): string | undefined {
  return fieldText(value)?.split('\n', 1)[0]?.trim();
}

/** Takes a field from the reader by the first of the names that the file uses. */
export function takeFirstField(reader: FieldReader, names: readonly string[]): Field | undefined {
  for (const name of names) {
    const field = reader.take(name);
    if (field !== undefined) return field;
  }
  return undefined;
}

/**
 * Reads a field by the first of the names that the file uses. A value for which `read` returns undefined is reported
 * with the code and the message. Returns undefined if the field is absent or has no valid value.
 */
export function readField<T>(
  reader: FieldReader,
  names: readonly string[],
  read: (value: JsonValue) => T | undefined,
  [code, message]: readonly [code: string, message: string],
): T | undefined {
  const field = takeFirstField(reader, names);
  if (field === undefined || field.value === null) return undefined;
  const value = read(field.value);
  if (value === undefined) reader.warn(code, message, field.line);
  return value;
}

/** Matches a visible ASCII character. */
const VISIBLE_ASCII = /[!-~]/;
/** Matches a visible character: neither a space nor a character that only joins, turns or hides other characters. */
const VISIBLE = lazy(() => /[^\p{Z}\p{C}\p{M}\p{DI}\u2800]/u);

/** Reads a name as one line. Returns undefined if the name has no visible character. */
export function readVisibleName(value: JsonValue | undefined): string | undefined {
  const name = fieldText(value)?.replaceAll(/\s+/g, ' ');
  if (name === undefined) return undefined;
  const isVisible = VISIBLE_ASCII.test(name) || VISIBLE().test(name);
  return isVisible ? truncate(name, MAX_NAME_LENGTH) : undefined;
}

/**
 * Reads the declared name.
 *
 * @param fallback the name from the path of the file, for a file that declares none
 */
export function readName(reader: FieldReader, fallback: string): string {
  const declared = readVisibleName(reader.take('name')?.value);
  if (declared !== undefined) return declared;
  const message = `There is no \`name\`; its name is \`${fallback}\`, from the name of its file.`;
  reader.warn('name-from-filename', message);
  return fallback;
}

/** Reads the full description, whatever its length. A literal `\n`, which some generators write, becomes a line end. */
export function readDescription(reader: FieldReader): string {
  const field = reader.take('description');
  const description = fieldText(field?.value)?.replaceAll('\\n', '\n').trim();
  if (description !== undefined) return description;
  const message = 'There is no `description`; the main agent cannot know when to use it.';
  reader.warn('missing-description', message, field?.line);
  return '';
}

export function readAliases(reader: FieldReader): readonly string[] {
  return textList(reader.take('aliases')?.value ?? null);
}

/** Splits a comma-separated string, or returns the texts in a list. */
export function textList(value: JsonValue): readonly string[] {
  const words: readonly JsonValue[] =
    typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
  return words.map((item) => fieldText(item)).filter((item) => item !== undefined);
}

/** Reads the model, or a list of models. When the agent starts, the first available model of the list is used. */
export function readModel(reader: FieldReader): Pick<AgentDefinition, 'model' | 'models'> {
  const field = reader.take('model');
  if (field === undefined || field.value === null) return {};
  const listed = Array.isArray(field.value) ? field.value : [field.value];
  const models = listed.map((item) => readSingleLine(item)).filter((item) => item !== undefined);
  const [model] = models;
  if (model !== undefined) return models.length === 1 ? { model } : { model, models };
  reader.warn('invalid-model', '`model` must be a name; the model is inherited.', field.line);
  return {};
}

/** The levels of effort, by the names that vendors use for them. */
const EFFORTS_BY_NAME: ReadonlyMap<string, Effort> = new Map<string, Effort>([
  ...EFFORTS.map((each): [string, Effort] => [each, each]),
  ['off', 'none'],
  ['med', 'medium'],
  ['ultra', 'max'],
]);

export const EFFORT_FIELDS = ['effort', 'reasoning-effort', 'model-reasoning-effort', 'thinking'];

export function readEffort(reader: FieldReader): Pick<AgentDefinition, 'effort'> {
  const parseEffort = (value: JsonValue) =>
    EFFORTS_BY_NAME.get(readSingleLine(value)?.toLowerCase() ?? '');
  const message = `\`effort\` must be ${EFFORTS.join(', ')}; it is ignored.`;
  const effort = readField(reader, EFFORT_FIELDS, parseEffort, ['invalid-effort', message]);
  return effort === undefined ? {} : { effort };
}

/**
 * Takes a field that must be true or false, and reports any other value. Returns undefined if the field is absent or
 * has another value.
 */
export function takeBoolean(reader: FieldReader, name: string): boolean | undefined {
  const message = `\`${name}\` must be true or false; it is ignored.`;
  return readField(reader, [name], readBoolean, ['invalid-flag', message]);
}

/**
 * Takes a flag that narrows the rights of the agent. A value that is neither true nor false may have been meant as
 * true, so it counts as true and is reported.
 */
export function takeNarrowingFlag(reader: FieldReader, name: string, code: string): boolean {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return false;
  const flag = readBoolean(field.value);
  if (flag !== undefined) return flag;
  reader.warn(code, `\`${name}\` must be true or false; it counts as true.`, field.line);
  return true;
}

/** Reads whether the agent runs in the background if a call does not specify it. */
export function readBackground(reader: FieldReader): Pick<AgentDefinition, 'background'> {
  const names = ['background', 'is-background'];
  const message = '`background` must be true or false; it is ignored.';
  const background = readField(reader, names, readBoolean, ['invalid-background', message]);
  return background === true ? { background } : {};
}

/** Reads `isolation: worktree` or `process`. Any other value is kept: a task of the agent says that it does not get it. */
export function readIsolation(reader: FieldReader): Pick<AgentDefinition, 'isolation'> {
  const message = '`isolation` must be `worktree`, `process` or `none`; it is ignored.';
  const isolation = readField(reader, ['isolation'], readSingleLine, [
    'invalid-isolation',
    message,
  ]);
  const name = isolation?.toLowerCase();
  return name === undefined || name === '' || name === 'none' ? {} : { isolation: name };
}

/** Reads a boolean. It may be a text, if broken YAML was read line by line. Returns undefined for any other value. */
export function readBoolean(value: JsonValue): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = readSingleLine(value)?.toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Reads the names of skills: a comma-separated string or a list. */
export function readSkills(reader: FieldReader): Pick<AgentDefinition, 'skills'> {
  const field = reader.take('skills');
  if (field === undefined) return {};
  const names = textList(field.value);
  return names.length === 0 ? {} : { skills: names };
}

/**
 * Reads the scope of the agent's memory directory. A value of another type, such as another vendor's table, is not
 * taken.
 */
export function readMemoryScope(reader: FieldReader): Pick<AgentDefinition, 'memory'> {
  const value = reader.peek('memory')?.value ?? '';
  if (typeof value === 'object' || typeof value === 'boolean') return {};
  const line = reader.take('memory')?.line;
  const writtenScope = readSingleLine(value)?.toLowerCase();
  if (writtenScope === undefined) return {};
  const memory = MEMORY_SCOPES.find((scope) => scope === writtenScope);
  if (memory !== undefined) return { memory };
  const valid = MEMORY_SCOPES.join(', ');
  reader.warn('invalid-memory', `\`memory\` must be one of ${valid}; it is ignored.`, line);
  return {};
}

export function readInitialPrompt(reader: FieldReader): Pick<AgentDefinition, 'initialPrompt'> {
  const initialPrompt = fieldText(reader.take('initial-prompt')?.value);
  return initialPrompt === undefined ? {} : { initialPrompt };
}

/** Matches a color name or a hexadecimal color. The user interface decides which names it knows. */
const COLOR = /^(?:[A-Za-z]{1,20}|#[0-9A-Fa-f]{3,8})$/;

export function readColor(reader: FieldReader): Pick<AgentDefinition, 'color'> {
  const parseColor = (value: JsonValue) =>
    typeof value === 'string' && COLOR.test(value) ? value : undefined;
  const message = '`color` must be a name or `#rrggbb`; it is ignored.';
  const color = readField(reader, ['color'], parseColor, ['invalid-color', message]);
  return color === undefined ? {} : { color };
}

/** Merges the permission rules from two parts of a file, without duplicates. */
export function mergeRules(
  first: AgentDefinition['rules'],
  second: AgentDefinition['rules'],
): Pick<AgentDefinition, 'rules'> {
  if (first === undefined || second === undefined) {
    const rules = first ?? second;
    return rules === undefined ? {} : { rules };
  }
  const join = (list: 'ask' | 'deny') => [...new Set([...first[list], ...second[list]])];
  return { rules: { ask: join('ask'), deny: join('deny') } };
}

/**
 * Reads the JSON Schema of the agent's answers, as a map or as JSON text. It does not check the schema itself, which is
 * the task of `agents check`.
 */
export function readOutputSchemaField(
  reader: FieldReader,
  field: Field | undefined,
): Pick<AgentDefinition, 'outputSchema'> {
  if (field === undefined || field.value === null) return {};
  const { value, line } = field;
  const schema = typeof value === 'string' ? parseJsonLine(value) : value;
  if (isJsonObject(schema)) return { outputSchema: schema };
  const message = `The schema of its answers must be a map, or the text of a JSON object; it is ignored.`;
  reader.warn('invalid-output-schema', message, line);
  return {};
}
