import { isJsonObject, type JsonValue } from '../base/json.ts';

/** The keyword by which a tool asks for an argument in a header (revision 2026-07-28). */
const KEYWORD = 'x-mcp-header';
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const TYPES = new Set(['string', 'integer', 'boolean']);
/** The maximum nesting of a schema that is checked. */
const MAX_DEPTH = 64;

/**
 * Tells whether the schema of a tool breaks the rules for `x-mcp-header`, so that a client has to leave the tool out
 * when it talks to the server over streamable HTTP: the keyword stands at a text, a whole number or a flag that is
 * reached by `properties` alone, and names a header of its own.
 */
export function hasInvalidParamHeaders(schema: JsonValue): boolean {
  const headers = new Set<string>();
  const isWrong = (value: JsonValue | undefined, isProperty: boolean, depth: number): boolean => {
    if (typeof value !== 'object' || value === null) return false;
    if (depth > MAX_DEPTH) return true;
    if (!isJsonObject(value)) return value.some((item) => isWrong(item, false, depth + 1));
    if (Object.hasOwn(value, KEYWORD) && !accepts(value[KEYWORD], value['type'], isProperty))
      return true;
    return Object.entries(value).some(([keyword, inner]) => {
      if (keyword !== 'properties' || !isJsonObject(inner)) return isWrong(inner, false, depth + 1);
      // Below another keyword, no property is reached by `properties` alone.
      const isReached = depth === 0 || isProperty;
      return Object.values(inner).some((each) => isWrong(each, isReached, depth + 1));
    });
  };
  const accepts = (
    name: JsonValue | undefined,
    type: JsonValue | undefined,
    isProperty: boolean,
  ) => {
    if (!isProperty || typeof name !== 'string' || !TOKEN.test(name)) return false;
    const lower = name.toLowerCase();
    const isNew = !headers.has(lower);
    headers.add(lower);
    return isNew && typeof type === 'string' && TYPES.has(type);
  };
  return isWrong(schema, false, 0);
}
