import type { JsonValue } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import { EFFORTS, type AgentDefinition, type Effort } from '../../protocol/agent.ts';
import { MEMORY_SCOPES } from '../../protocol/memory.ts';
import { withoutControls } from './clean-text.ts';
import type { Field } from '../parsing/fields.ts';
import { withLineFeeds } from '../parsing/split.ts';
import type { FieldReader } from './field-reader.ts';
import { lazy } from '../../base/lazy.ts';

/** Characters of a name; a longer one is cut. */
const MAX_NAME = 200;

/** A string, or a number written where a name stands; null and empty count as absent. */
export function text(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const clean = withoutControls(String(value)).trim();
  return clean === '' ? undefined : clean;
}

/** A prompt as it was written; undefined for none. */
export function promptText(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined;
  const prompt = withLineFeeds(value).replaceAll('\0', '').trim();
  return prompt === '' ? undefined : prompt;
}

/**
 * A value that is one word: the first line, for in broken YAML the lines after it belong to fields
 * that are not known. A narrow mode must not be lost to them.
 */
export function word(value: JsonValue | undefined): string | undefined {
  return text(value)?.split('\n', 1)[0]?.trim();
}

/** The first of several names of one field that the file has. */
export function takeFirst(reader: FieldReader, names: readonly string[]): Field | undefined {
  for (const name of names) {
    const field = reader.take(name);
    if (field !== undefined) return field;
  }
  return undefined;
}

/** Something that is seen: no blank, and nothing that only joins, turns or hides other characters. */
const VISIBLE_ASCII = /[!-~]/;
const VISIBLE = lazy(() => /[^\p{Z}\p{C}\p{M}\p{DI}\u2800]/u);

/** A name on one line; undefined where nobody could see it. */
export function nameText(value: JsonValue | undefined): string | undefined {
  const name = text(value)?.replaceAll(/\s+/g, ' ');
  if (name === undefined) return undefined;
  const isVisible = VISIBLE_ASCII.test(name) || VISIBLE().test(name);
  return isVisible ? truncate(name, MAX_NAME) : undefined;
}

/** The declared name, or the one that the file's place gives. */
export function readName(reader: FieldReader, fallback: string): string {
  const declared = nameText(reader.take('name')?.value);
  if (declared !== undefined) return declared;
  reader.warn('name-from-filename', `No \`name\`; it is called \`${fallback}\` after its file.`);
  return fallback;
}

/** Whole, however long; a literal `\n`, as generators write it, is a line end. */
export function readDescription(reader: FieldReader): string {
  const field = reader.take('description');
  const description = text(field?.value)?.replaceAll('\\n', '\n').trim();
  if (description !== undefined) return description;
  const message = 'No `description`; nothing tells the main agent when to use it.';
  reader.warn('missing-description', message, field?.line);
  return '';
}

export function readAliases(reader: FieldReader): readonly string[] {
  return textList(reader.take('aliases')?.value ?? null);
}

/** A comma-separated string or a list as words; what is no text is left out. */
export function textList(value: JsonValue): readonly string[] {
  const words: readonly JsonValue[] =
    typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
  return words.map((item) => text(item)).filter((item) => item !== undefined);
}

/** A string, or a list of strings: the first that can be had is taken when it is started. */
export function readModel(reader: FieldReader): Pick<AgentDefinition, 'model' | 'models'> {
  const field = reader.take('model');
  if (field === undefined || field.value === null) return {};
  const listed = Array.isArray(field.value) ? field.value : [field.value];
  const models = listed.map((item) => word(item)).filter((item) => item !== undefined);
  const [model] = models;
  if (model !== undefined) return models.length === 1 ? { model } : { model, models };
  reader.warn('invalid-model', '`model` is no name; the model is inherited.', field.line);
  return {};
}

/** Words of vendors for a step that has another name here. */
const EFFORT_WORDS: ReadonlyMap<string, Effort> = new Map<string, Effort>([
  ...EFFORTS.map((each): [string, Effort] => [each, each]),
  ['off', 'none'],
  ['med', 'medium'],
  ['ultra', 'max'],
]);

export const EFFORT_FIELDS = ['effort', 'reasoning-effort', 'model-reasoning-effort', 'thinking'];

export function readEffort(reader: FieldReader): Pick<AgentDefinition, 'effort'> {
  const field = takeFirst(reader, EFFORT_FIELDS);
  if (field === undefined || field.value === null) return {};
  const effort = EFFORT_WORDS.get(word(field.value)?.toLowerCase() ?? '');
  if (effort !== undefined) return { effort };
  const message = `\`effort\` must be ${EFFORTS.join(', ')}; it is ignored.`;
  reader.warn('invalid-effort', message, field.line);
  return {};
}

/** A field that is true or false; undefined where it is absent or neither, which is told. */
export function takeFlag(reader: FieldReader, name: string): boolean | undefined {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return undefined;
  const flag = readBoolean(field.value);
  if (flag === undefined) {
    reader.warn('invalid-flag', `\`${name}\` must be true or false; it is ignored.`, field.line);
  }
  return flag;
}

/** Whether it runs in the background where a call does not say. */
export function readBackground(reader: FieldReader): Pick<AgentDefinition, 'background'> {
  const field = takeFirst(reader, ['background', 'is-background']);
  if (field === undefined || field.value === null) return {};
  const background = readBoolean(field.value);
  if (background !== undefined) return background ? { background } : {};
  reader.warn(
    'invalid-background',
    '`background` must be true or false; it is ignored.',
    field.line,
  );
  return {};
}

/** The broken YAML that is read line by line gives text. */
export function readBoolean(value: JsonValue): boolean | undefined {
  if (typeof value === 'boolean') return value;
  const said = word(value)?.toLowerCase();
  return said === 'true' ? true : said === 'false' ? false : undefined;
}

/** Names of skills: a comma-separated string or a list. */
export function readSkills(reader: FieldReader): Pick<AgentDefinition, 'skills'> {
  const field = reader.take('skills');
  if (field === undefined) return {};
  const names = textList(field.value);
  return names.length === 0 ? {} : { skills: names };
}

/** A directory of notes. What is no word (a table of some vendor's) stays untaken. */
export function readMemory(reader: FieldReader): Pick<AgentDefinition, 'memory'> {
  const value = reader.peek('memory')?.value ?? '';
  if (typeof value === 'object' || typeof value === 'boolean') return {};
  const line = reader.take('memory')?.line;
  const said = word(value)?.toLowerCase();
  if (said === undefined) return {};
  const memory = MEMORY_SCOPES.find((scope) => scope === said);
  if (memory !== undefined) return { memory };
  const valid = MEMORY_SCOPES.join(', ');
  reader.warn('invalid-memory', `\`memory\` must be one of ${valid}; it is ignored.`, line);
  return {};
}

export function readInitialPrompt(reader: FieldReader): Pick<AgentDefinition, 'initialPrompt'> {
  const initialPrompt = text(reader.take('initial-prompt')?.value);
  return initialPrompt === undefined ? {} : { initialPrompt };
}

/** A word or a hexadecimal colour; which words there are is up to whoever draws. */
const COLOR = /^(?:[A-Za-z]{1,20}|#[0-9A-Fa-f]{3,8})$/;

export function readColor(reader: FieldReader): Pick<AgentDefinition, 'color'> {
  const field = reader.take('color');
  if (field === undefined || field.value === null) return {};
  if (typeof field.value === 'string' && COLOR.test(field.value)) return { color: field.value };
  reader.warn(
    'invalid-color',
    '`color` is neither a word nor `#rrggbb`; it is ignored.',
    field.line,
  );
  return {};
}
