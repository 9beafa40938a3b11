import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { Field } from '../parsing/fields.ts';
import type { FieldReader } from './field-reader.ts';

/** The JSON Schema of its answers, as a map or as JSON text. Whether it is a good one `agents check` tells. */
export function readOutputSchema(
  reader: FieldReader,
  field: Field | undefined,
): Pick<AgentDefinition, 'outputSchema'> {
  if (field === undefined || field.value === null) return {};
  const { value, line } = field;
  const schema = typeof value === 'string' ? parsed(value) : value;
  if (isJsonObject(schema)) return { outputSchema: schema };
  const message =
    'The schema of its answers must be a map, or a JSON object as text; it has no effect.';
  reader.warn('invalid-output-schema', message, line);
  return {};
}

function parsed(text: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    // It is told as what it is: a text.
    return text;
  }
}
