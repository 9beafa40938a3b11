import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { truncate } from '../../base/text.ts';
import { type AgentDefinition } from '../../protocol/agent.ts';
import { MEMORY_SCOPES } from '../../protocol/memory.ts';
import { withoutControls, type Field } from '../parsing/fields.ts';
import { withLineFeeds } from '../parsing/split-front-matter.ts';
import type { FieldReader } from './field-reader.ts';
import { lazy } from '../../base/lazy.ts';
import { EFFORTS, type Effort } from '../../protocol/model.ts';

/** The maximum number of characters of a name. A longer one is cut. */
const MAX_NAME = 200;

/** Returns a string, or a number that was written in place of one, as clean text. Undefined: it is empty, or another type. */
export function fieldText(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const clean = withoutControls(String(value)).trim();
  return clean === '' ? undefined : clean;
}

/** Returns a prompt as it was written. Undefined: there is none. */
export function promptTextOf(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const prompt = withLineFeeds(value).replaceAll('\0', '').trim();
  return prompt === '' ? undefined : prompt;
}

/**
 * Returns the first line of a value that should be a single line. In broken YAML, the lines after it belong to
 * unknown fields, and must not make a narrow mode unreadable.
 */
export function singleLineOf(value: JsonValue | undefined): string | undefined {
  return fieldText(value)?.split('\n', 1)[0]?.trim();
}

/** Takes a field by the first of its names that the file uses. */
export function takeFirstField(reader: FieldReader, names: readonly string[]): Field | undefined {
  for (const name of names) {
    const field = reader.take(name);
    if (field !== undefined) return field;
  }
  return undefined;
}

/**
 * Reads a field by the first of its names that the file uses. A value for which `read` returns undefined is reported
 * with the code and the message. Undefined: the field is absent, or it has no valid value.
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

/** Matches a visible character: not a space, and not one that only joins, turns or hides other characters. */
const VISIBLE_ASCII = /[!-~]/;
const VISIBLE = lazy(() => /[^\p{Z}\p{C}\p{M}\p{DI}\u2800]/u);

/** Returns a name on one line. Undefined: it has no visible character. */
export function visibleNameOf(value: JsonValue | undefined): string | undefined {
  const name = fieldText(value)?.replaceAll(/\s+/g, ' ');
  if (name === undefined) return undefined;
  const isVisible = VISIBLE_ASCII.test(name) || VISIBLE().test(name);
  return isVisible ? truncate(name, MAX_NAME) : undefined;
}

/** Reads the declared name. `fallback`: the name from the path of the file. */
export function readName(reader: FieldReader, fallback: string): string {
  const declared = visibleNameOf(reader.take('name')?.value);
  if (declared !== undefined) return declared;
  const message = `There is no \`name\`; its name is \`${fallback}\`, from the name of its file.`;
  reader.warn('name-from-filename', message);
  return fallback;
}

/** Reads the full description, however long. A literal `\n`, which some generators write, is a line end. */
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

/** Reads a string or a list of strings. When the agent starts, the first available model is used. */
export function readModel(reader: FieldReader): Pick<AgentDefinition, 'model' | 'models'> {
  const field = reader.take('model');
  if (field === undefined || field.value === null) return {};
  const listed = Array.isArray(field.value) ? field.value : [field.value];
  const models = listed.map((item) => singleLineOf(item)).filter((item) => item !== undefined);
  const [model] = models;
  if (model !== undefined) return models.length === 1 ? { model } : { model, models };
  reader.warn('invalid-model', '`model` must be a name; the model is inherited.', field.line);
  return {};
}

/** The levels of effort, under the names that vendors use for them. */
const EFFORT_WORDS: ReadonlyMap<string, Effort> = new Map<string, Effort>([
  ...EFFORTS.map((each): [string, Effort] => [each, each]),
  ['off', 'none'],
  ['med', 'medium'],
  ['ultra', 'max'],
]);

export const EFFORT_FIELDS = ['effort', 'reasoning-effort', 'model-reasoning-effort', 'thinking'];

export function readEffort(reader: FieldReader): Pick<AgentDefinition, 'effort'> {
  const wordOf = (value: JsonValue) => EFFORT_WORDS.get(singleLineOf(value)?.toLowerCase() ?? '');
  const message = `\`effort\` must be ${EFFORTS.join(', ')}; it is ignored.`;
  const effort = readField(reader, EFFORT_FIELDS, wordOf, ['invalid-effort', message]);
  return effort === undefined ? {} : { effort };
}

/** Takes a field that must be true or false. Undefined: it is absent, or it has another value, which is reported. */
export function takeBoolean(reader: FieldReader, name: string): boolean | undefined {
  const message = `\`${name}\` must be true or false; it is ignored.`;
  return readField(reader, [name], readBoolean, ['invalid-flag', message]);
}

/**
 * Takes a flag that narrows what may be done. Any value other than a clear `false` may have been meant as true, so it
 * counts as true and is reported.
 */
export function takeNarrowingFlag(reader: FieldReader, name: string, code: string): boolean {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return false;
  const flag = readBoolean(field.value);
  if (flag !== undefined) return flag;
  reader.warn(code, `\`${name}\` must be true or false; it counts as true.`, field.line);
  return true;
}

/** Reads whether the agent runs in the background when a call does not say. */
export function readBackground(reader: FieldReader): Pick<AgentDefinition, 'background'> {
  const names = ['background', 'is-background'];
  const message = '`background` must be true or false; it is ignored.';
  const background = readField(reader, names, readBoolean, ['invalid-background', message]);
  return background === true ? { background } : {};
}

/** Reads a boolean, which is a text where broken YAML was read line by line. Undefined: it is none. */
export function readBoolean(value: JsonValue): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const text = singleLineOf(value)?.toLowerCase();
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Reads the names of skills: a comma-separated string or a list. */
export function readSkills(reader: FieldReader): Pick<AgentDefinition, 'skills'> {
  const field = reader.take('skills');
  if (field === undefined) return {};
  const names = textList(field.value);
  return names.length === 0 ? {} : { skills: names };
}

/** Reads the scope of the directory of notes. Another kind of value, such as a table of another vendor, stays untaken. */
export function readMemoryScope(reader: FieldReader): Pick<AgentDefinition, 'memory'> {
  const value = reader.peek('memory')?.value ?? '';
  if (typeof value === 'object' || typeof value === 'boolean') return {};
  const line = reader.take('memory')?.line;
  const said = singleLineOf(value)?.toLowerCase();
  if (said === undefined) return {};
  const memory = MEMORY_SCOPES.find((scope) => scope === said);
  if (memory !== undefined) return { memory };
  const valid = MEMORY_SCOPES.join(', ');
  reader.warn('invalid-memory', `\`memory\` must be one of ${valid}; it is ignored.`, line);
  return {};
}

export function readInitialPrompt(reader: FieldReader): Pick<AgentDefinition, 'initialPrompt'> {
  const initialPrompt = fieldText(reader.take('initial-prompt')?.value);
  return initialPrompt === undefined ? {} : { initialPrompt };
}

/** A color name or a hexadecimal color. The user interface decides which names it knows. */
const COLOR = /^(?:[A-Za-z]{1,20}|#[0-9A-Fa-f]{3,8})$/;

export function readColor(reader: FieldReader): Pick<AgentDefinition, 'color'> {
  const colorOf = (value: JsonValue) =>
    typeof value === 'string' && COLOR.test(value) ? value : undefined;
  const message = '`color` must be a name or `#rrggbb`; it is ignored.';
  const color = readField(reader, ['color'], colorOf, ['invalid-color', message]);
  return color === undefined ? {} : { color };
}

/** Merges the rules from two parts of a file, without duplicates. */
export function mergeRules(
  one: AgentDefinition['rules'],
  other: AgentDefinition['rules'],
): Pick<AgentDefinition, 'rules'> {
  if (one === undefined || other === undefined) {
    const rules = one ?? other;
    return rules === undefined ? {} : { rules };
  }
  const joined = (list: 'ask' | 'deny') => [...new Set([...one[list], ...other[list]])];
  return { rules: { ask: joined('ask'), deny: joined('deny') } };
}

/** Reads the JSON Schema of the agent's answers, as a map or as JSON text. `agents check` tells whether the schema is valid. */
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
