import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { FieldReader } from './field-reader.ts';

/** The name of the field with the hooks of an agent or a skill. */
export const HOOKS_FIELD = 'hooks';

/** Reads `hooks`. Whether the hooks themselves are right is checked where they are used. */
export function readHooksField(reader: FieldReader): { readonly hooks?: JsonObject } {
  const field = reader.take(HOOKS_FIELD);
  if (field === undefined) return {};
  if (isJsonObject(field.value)) return { hooks: field.value };
  const message = '`hooks` must be a map from events to lists of hooks; none of them runs.';
  reader.warn('invalid-hooks', message, field.line);
  return {};
}
