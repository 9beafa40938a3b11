import type { JsonValue } from '../../base/json.ts';
import { MAX_ATTEMPTS, type TemplateDefinition } from '../../protocol/template.ts';
import { ISOLATIONS } from '../../protocol/workspace.ts';
import { fieldText, readSingleLine, textList } from '../fields/common.ts';
import type { FieldReader } from '../fields/field-reader.ts';

/** The names of the fields about where an item is worked on, and how often. */
export const ATTEMPT_FIELDS = ['isolation', 'attempts', 'models', 'score'] as const;

type AttemptFields = Pick<TemplateDefinition, (typeof ATTEMPT_FIELDS)[number]>;

/** A field that can't be used. */
interface UnusableField {
  readonly code: string;
  readonly message: string;
}

/**
 * Reads the fields about where an item is worked on, and how often. Without one of them, several tasks could change the
 * files of the user at the same time, so a value that can't be used is an error, and not ignored.
 */
export function readAttemptFields(reader: FieldReader): AttemptFields | UnusableField {
  const read: { -readonly [Name in keyof AttemptFields]: AttemptFields[Name] } = {};
  const take = (name: string): JsonValue => reader.take(name)?.value ?? null;
  const isolation = take('isolation');
  if (isolation !== null) {
    const name = readSingleLine(isolation)?.toLowerCase();
    const known = ISOLATIONS.find((each) => each === name);
    if (known === undefined)
      return unusable('isolation', `must be one of ${ISOLATIONS.join(', ')}`);
    read.isolation = known;
  }
  const attempts = take('attempts');
  if (attempts !== null) {
    const count = Number(readSingleLine(attempts));
    const isCount = Number.isSafeInteger(count) && count >= 1 && count <= MAX_ATTEMPTS;
    if (!isCount) return unusable('attempts', `must be a whole number from 1 to ${MAX_ATTEMPTS}`);
    read.attempts = count;
  }
  const models = take('models');
  if (models !== null) {
    const names = textList(models);
    const isList = names.length > 0 && names.length <= MAX_ATTEMPTS;
    if (!isList) return unusable('models', `must be a list of 1 to ${MAX_ATTEMPTS} models`);
    read.models = names;
  }
  const score = take('score');
  if (score !== null) {
    const command = typeof score === 'string' ? fieldText(score) : undefined;
    if (command === undefined) return unusable('score', 'must be a command line');
    read.score = command;
  }
  return read;
}

function unusable(field: (typeof ATTEMPT_FIELDS)[number], what: string): UnusableField {
  return { code: `invalid-${field}`, message: `\`${field}\` ${what}.` };
}
