import type { JsonValue } from '../../base/json.ts';
import { truncate } from '../../base/text.ts';
import { EFFORTS, type AgentDefinition, type AgentLimits } from '../../protocol/agent.ts';
import type { PermissionMode } from '../../protocol/permission.ts';
import { withoutControls } from './clean-text.ts';
import type { FieldReader } from './field-reader.ts';
import type { ModeWords } from './modes.ts';

/** Characters of a name; a longer one is cut. */
const MAX_NAME = 200;

/** A string, or a number written where a name stands; null and empty count as absent. */
function text(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const clean = withoutControls(String(value)).trim();
  return clean === '' ? undefined : clean;
}

/**
 * A value that is one word: the first line, for in broken YAML the lines after it belong to fields
 * that are not known. A narrow mode must not be lost to them.
 */
function word(value: JsonValue | undefined): string | undefined {
  return text(value)?.split('\n', 1)[0]?.trim();
}

/** The declared name, or the one that the file's place gives. Shown on one line. */
export function readName(reader: FieldReader, fallback: string): string {
  const declared = text(reader.take('name')?.value)?.replaceAll(/\s+/g, ' ');
  if (declared !== undefined) return truncate(declared, MAX_NAME);
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
  const field = reader.take('aliases');
  if (field === undefined) return [];
  const { value } = field;
  const words: readonly JsonValue[] = typeof value === 'string' ? value.split(',') : asList(value);
  return words.map((item) => text(item)).filter((item) => item !== undefined);
}

function asList(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** A string, or the first string of a list. */
export function readModel(reader: FieldReader): Pick<AgentDefinition, 'model'> {
  const field = reader.take('model');
  if (field === undefined || field.value === null) return {};
  const model = Array.isArray(field.value)
    ? field.value.map((item) => word(item)).find((item) => item !== undefined)
    : word(field.value);
  if (model !== undefined) return { model };
  reader.warn('invalid-model', '`model` is no name; the model is inherited.', field.line);
  return {};
}

interface ModeFields {
  readonly permissionMode: string | null;
  readonly mode: PermissionMode | null;
}

/** What is not understood may have been meant as a narrow mode, so it is capped at `default`. */
export function readMode(reader: FieldReader, words: ModeWords): ModeFields {
  const field = reader.take('permission-mode');
  if (field === undefined || field.value === null) return { permissionMode: null, mode: null };
  const wish = word(field.value);
  const mode = wish === undefined ? undefined : words.get(wish);
  if (wish !== undefined && mode !== undefined) return { permissionMode: wish, mode };
  const valid = [...words.keys()].join(', ');
  const message = `\`${wish ?? 'this'}\` is no permission mode; it gets \`default\` at most. Valid: ${valid}.`;
  reader.warn('invalid-permission-mode', message, field.line);
  return { permissionMode: null, mode: 'default' };
}

/** The limits that a file can set, by the names of their fields. */
export const LIMIT_FIELDS = {
  'max-turns': 'maxTurns',
  'max-tokens': 'maxTokens',
  'wall-seconds': 'wallSeconds',
  'result-max-tokens': 'resultMaxTokens',
} as const satisfies Record<string, keyof AgentLimits>;
type LimitField = keyof typeof LIMIT_FIELDS;

export function readLimits(reader: FieldReader, names: readonly LimitField[]): AgentLimits {
  const limits: Partial<Record<keyof AgentLimits, number>> = {};
  for (const name of names) {
    const value = readPositiveInteger(reader, name);
    if (value !== undefined) limits[LIMIT_FIELDS[name]] = value;
  }
  return limits;
}

function readPositiveInteger(reader: FieldReader, name: string): number | undefined {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return undefined;
  const value = Number(word(field.value));
  if (Number.isSafeInteger(value) && value > 0) return value;
  const message = `\`${name}\` must be a whole number above 0; it is ignored.`;
  reader.warn('invalid-limit', message, field.line);
  return undefined;
}

export function readEffort(reader: FieldReader): Pick<AgentDefinition, 'effort'> {
  const field = reader.take('effort');
  if (field === undefined || field.value === null) return {};
  const effort = EFFORTS.find((each) => each === word(field.value));
  if (effort !== undefined) return { effort };
  const message = `\`effort\` must be ${EFFORTS.join(', ')}; it is ignored.`;
  reader.warn('invalid-effort', message, field.line);
  return {};
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
