import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';

/** The fields below which further fields of the protocol stand. Arguments of calls are none of them. */
const HOLDERS = new Set([
  'candidates',
  'content',
  'parts',
  'functionCall',
  'usageMetadata',
  'promptFeedback',
]);

/**
 * Returns a chunk with its field names in camel case: gateways that use Google's Python types send
 * `finish_reason` and `function_call`. A field that is there under both names keeps the value in camel case.
 */
export function withCamelCaseNames(chunk: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(chunk).flatMap(([name, value]) => {
      const camel = name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
      if (value === undefined || (camel !== name && chunk[camel] !== undefined)) return [];
      return [[camel, HOLDERS.has(camel) ? renamedBelow(value) : value] as const];
    }),
  );
}

function renamedBelow(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.map((item) => (isJsonObject(item) ? withCamelCaseNames(item) : item));
  }
  return isJsonObject(value) ? withCamelCaseNames(value) : value;
}
