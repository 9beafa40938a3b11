import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Tool } from '../../protocol/tool.ts';

/** The tool, whose arguments of these names may also be lists of globs: they become one string. */
export function takingGlobLists<I>(tool: Tool<I>, names: readonly string[]): Tool<I> {
  return {
    ...tool,
    parse: (input) => tool.parse(isJsonObject(input) ? withJoinedLists(input, names) : input),
  };
}

function withJoinedLists(input: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      names.includes(name) ? joinedList(value) : value,
    ]),
  );
}

/** As `listedGlobs` takes it apart again. */
function joinedList(value: JsonValue | undefined): JsonValue | undefined {
  const isList = Array.isArray(value) && value.length > 0;
  return isList && value.every((each) => typeof each === 'string') ? JSON.stringify(value) : value;
}
