import { isJsonObject } from '../base/json.ts';
import type { ToolCallPart } from './message.ts';
import { isServerToolName } from './server-tool-names.ts';

/** The tool by which models call tools of MCP servers that their requests do not list. */
export const MCP_CALL = 'McpCall';

/**
 * Returns the tool and the arguments of a call in an answer, for people: those of the named tool if the call is one of
 * McpCall.
 */
export function readSentCall({
  name,
  input,
}: Pick<ToolCallPart, 'name' | 'input'>): Pick<ToolCallPart, 'name' | 'input'> {
  if (name !== MCP_CALL || !isJsonObject(input)) return { name, input };
  const { tool, arguments: given = {} } = input;
  return typeof tool === 'string' && isServerToolName(tool)
    ? { name: tool, input: given }
    : { name, input };
}
