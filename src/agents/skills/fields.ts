import type { JsonValue } from '../../base/json.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import { withoutControls } from '../fields/clean-text.ts';
import type { FieldReader } from '../fields/field-reader.ts';
import { readBoolean, fieldText, singleLineOf } from '../fields/common.ts';

/** The most characters of a description: hostile files have far longer ones. */
const MAX_DESCRIPTION = 20_000;
/** The characters of the text that are searched for a description, and the most characters of that description. */
const LOOKED_AT = 4_000;
const MAX_BEGINNING = 500;
const MAX_HINT = 200;
/** The most arguments: more than anybody writes. */
const MAX_ARGUMENTS = 50;
const ARGUMENT_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** Reports a declared name that differs from the name of the folder. */
export function compareNames(reader: FieldReader, folder: string): void {
  const field = reader.take('name');
  const declared = singleLineOf(field?.value);
  if (declared === undefined || declared === folder) return;
  const message = `Its name is \`${declared}\`, and the name of its folder is \`${folder}\`; the folder counts. Make them the same.`;
  reader.warn('name-differs-from-folder', message, field?.line);
}

/** Reads the description, with the `when_to_use` of some products. Without one, it is the beginning of the text. */
export function readSkillDescription(reader: FieldReader, body: string): string {
  const field = reader.take('description');
  const parts = [field?.value, reader.take('when_to_use')?.value].map(fieldText);
  const written = parts.filter((part) => part !== undefined).join(' ');
  if (written !== '') return truncate(written, MAX_DESCRIPTION);
  const message =
    'There is no `description`: the beginning of the text is used instead. Say what it does and when to use it.';
  reader.warn('missing-description', message, field?.line);
  const beginning = withoutControls(truncate(body, LOOKED_AT)).replace(/^(?:#.*\n|\s)+/, '');
  return truncate(collapseWhitespace(beginning.split('\n\n', 1)[0] ?? ''), MAX_BEGINNING);
}

export function readContext(reader: FieldReader): Pick<SkillDefinition, 'context' | 'agent'> {
  const field = reader.take('context');
  const agent = singleLineOf(reader.take('agent')?.value);
  const context = singleLineOf(field?.value);
  if (context === 'fork') return { context, ...(agent === undefined ? {} : { agent }) };
  if (context !== undefined && context !== 'inline' && context !== 'inherit') {
    const message = `\`context\` can only be \`fork\`; \`${context}\` is ignored.`;
    reader.warn('invalid-context', message, field?.line);
  }
  if (agent === undefined) return {};
  const message = '`agent` has an effect only with `context: fork`.';
  reader.warn('agent-without-fork', message, field?.line);
  return { agent };
}

/** @param options.unclear the result for a value that is neither true nor false */
export function readFlag(
  reader: FieldReader,
  name: string,
  { unclear }: { readonly unclear: boolean },
): boolean {
  const field = reader.take(name);
  if (field === undefined || field.value === null) return false;
  const value = readBoolean(field.value);
  if (value !== undefined) return value;
  reader.warn(
    'invalid-flag',
    `\`${name}\` must be true or false; it counts as ${String(unclear)}.`,
    field.line,
  );
  return unclear;
}

/** Many files write the hint without quotation marks, `[issue-number]`, which is a list in YAML. */
export function readHint(reader: FieldReader): string | undefined {
  const value = reader.take('argument-hint')?.value;
  const hint = Array.isArray(value)
    ? value.map((each: JsonValue) => `[${fieldText(each) ?? ''}]`).join(' ')
    : fieldText(value);
  return hint === undefined ? undefined : truncate(collapseWhitespace(hint), MAX_HINT);
}

export function readArgumentNames(reader: FieldReader): readonly string[] {
  const field = reader.take('arguments');
  const value = field?.value ?? [];
  const words: readonly JsonValue[] = Array.isArray(value)
    ? value
    : (fieldText(value) ?? '').split(/[\s,]+/);
  const names = words
    .slice(0, MAX_ARGUMENTS)
    .map((each) => fieldText(each))
    .filter((each) => each !== undefined);
  const wrong = names.filter((each) => !ARGUMENT_NAME.test(each));
  if (wrong.length > 0) {
    const message = `\`arguments\` are names of letters, digits, \`-\` and \`_\`; ignored: ${wrong.join(', ')}.`;
    reader.warn('invalid-arguments', message, field?.line);
    // Without them, the other arguments would have the wrong positions.
    return [];
  }
  return names;
}
