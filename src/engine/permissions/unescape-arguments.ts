import { unescapeTags } from '../../base/control-tags.ts';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { ToolCallPart } from '../../protocol/message.ts';
import type { AnyTool } from '../../protocol/tool.ts';

/**
 * A call as its model meant it: what it copies from outside text holds the marks that stood in its
 * request and not in the file, so they are taken out where files, searches and commands are named. Words
 * for other agents keep them: there they have work to do.
 */
export function unescapeArguments(
  call: ToolCallPart,
  { kind }: Pick<AnyTool, 'kind'>,
): ToolCallPart {
  if (kind !== 'read' && kind !== 'edit' && kind !== 'execute') return call;
  const input = withoutMarks(call.input);
  return input === call.input ? call : { ...call, input };
}

/** The same value where there is no mark in it. */
function withoutMarks(value: JsonValue): JsonValue {
  if (typeof value === 'string') return unescapeTags(value);
  if (isJsonObject(value)) {
    const entries = Object.entries(value).map(
      ([key, item]) => [key, item === undefined ? item : withoutMarks(item)] as const,
    );
    return entries.every(([key, item]) => item === value[key])
      ? value
      : Object.fromEntries(entries);
  }
  if (typeof value !== 'object' || value === null) return value;
  const items = value.map(withoutMarks);
  return items.every((item, index) => item === value[index]) ? value : items;
}
