import type { JsonValue } from '../../base/json.ts';
import { oneLine, truncate } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { withoutControls } from '../fields/clean-text.ts';
import type { FieldReader } from '../fields/field-reader.ts';
import { readBoolean, text, word } from '../fields/common.ts';

/** Characters of a description: hostile ones are far longer. */
const MAX_DESCRIPTION = 20_000;
/** Of the text, where its beginning stands for a description; and of that. */
const LOOKED_AT = 4_000;
const MAX_BEGINNING = 500;
const MAX_HINT = 200;
/** More than anybody writes in a list of arguments. */
const MAX_ARGUMENTS = 50;
const ARGUMENT_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** Says where the declared name is not the folder's. */
export function compareNames(reader: FieldReader, folder: string): void {
  const field = reader.take('name');
  const declared = word(field?.value);
  if (declared === undefined || declared === folder) return;
  const message = `Its name is \`${declared}\`, its folder's \`${folder}\`; the folder counts. Make them the same.`;
  reader.warn('name-differs-from-folder', message, field?.line);
}

/** The description with what some products keep apart from it; without one, how the text begins. */
export function readDescription(reader: FieldReader, body: string): string {
  const field = reader.take('description');
  const parts = [field?.value, reader.take('when_to_use')?.value].map(text);
  const written = parts.filter((part) => part !== undefined).join(' ');
  if (written !== '') return truncate(written, MAX_DESCRIPTION);
  const message =
    'No `description`: the beginning of the text stands for it. Say what it does and when to use it.';
  reader.warn('missing-description', message, field?.line);
  const beginning = withoutControls(truncate(body, LOOKED_AT)).replace(/^(?:#.*\n|\s)+/, '');
  return truncate(oneLine(beginning.split('\n\n', 1)[0] ?? ''), MAX_BEGINNING);
}

export function readContext(reader: FieldReader): Pick<SkillDefinition, 'context' | 'agent'> {
  const field = reader.take('context');
  const agent = word(reader.take('agent')?.value);
  const context = word(field?.value);
  if (context === 'fork') return { context, ...(agent === undefined ? {} : { agent }) };
  if (context !== undefined && context !== 'inline' && context !== 'inherit') {
    const message = `\`context\` can only be \`fork\`; \`${context}\` is ignored.`;
    reader.warn('invalid-context', message, field?.line);
  }
  if (agent === undefined) return {};
  const message = '`agent` acts only with `context: fork`.';
  reader.warn('agent-without-fork', message, field?.line);
  return { agent };
}

/** `unclear`: what stands for a value that is neither true nor false. */
export function readFlag(
  reader: FieldReader,
  name: string,
  { unclear }: { readonly unclear: boolean },
): boolean {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return false;
  const said = readBoolean(field.value);
  if (said !== undefined) return said;
  reader.warn('invalid-flag', `\`${name}\` is neither true nor false.`, field.line);
  return unclear;
}

/** A list in brackets is how many write it without quotes: `[issue-number]`. */
export function readHint(reader: FieldReader): string | undefined {
  const value = reader.take('argument-hint')?.value;
  const hint = Array.isArray(value)
    ? value.map((each: JsonValue) => `[${text(each) ?? ''}]`).join(' ')
    : text(value);
  return hint === undefined ? undefined : truncate(oneLine(hint), MAX_HINT);
}

export function readArgumentNames(reader: FieldReader): readonly string[] {
  const field = reader.take('arguments');
  const value = field?.value ?? [];
  const words: readonly JsonValue[] = Array.isArray(value)
    ? value
    : (text(value) ?? '').split(/[\s,]+/);
  const names = words
    .slice(0, MAX_ARGUMENTS)
    .map((each) => text(each))
    .filter((each) => each !== undefined);
  const wrong = names.filter((each) => !ARGUMENT_NAME.test(each));
  if (wrong.length > 0) {
    const message = `\`arguments\` are names of letters, digits, \`-\` and \`_\`; ignored: ${wrong.join(', ')}.`;
    reader.warn('invalid-arguments', message, field?.line);
    // The others would be in the wrong places without them.
    return [];
  }
  return names;
}
