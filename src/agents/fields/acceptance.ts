import {
  NO_CRITERIA,
  parseAcceptance,
  type AcceptanceCriteria,
} from '../../protocol/acceptance.ts';
import type { FieldReader } from './field-reader.ts';

/**
 * Reads the acceptance criteria of the work. A schema belongs into `output-schema`. Work must not be done without the
 * criteria that its definition has, so criteria that can't be read become criteria that no work meets.
 */
export function readAcceptanceField(reader: FieldReader): { readonly accept?: AcceptanceCriteria } {
  const field = reader.take('accept');
  if (field === undefined || field.value === null) return {};
  const issues: string[] = [];
  const written = parseAcceptance(field.value, issues);
  if (written?.schema !== undefined)
    issues.push('accept.schema: a schema belongs into `output-schema`');
  if (issues.length === 0 && written !== undefined) return { accept: written.criteria };
  const message = `The acceptance criteria can't be used, so no work will be accepted: ${issues.join('; ')}.`;
  reader.warn('invalid-accept', message, field.line);
  return { accept: UNREADABLE_CRITERIA };
}

/** Criteria that no work meets. */
const UNREADABLE_CRITERIA: AcceptanceCriteria = {
  ...NO_CRITERIA,
  commands: ["echo 'the acceptance criteria of this definition could not be read' >&2; false"],
};
