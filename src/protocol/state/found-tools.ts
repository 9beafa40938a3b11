import { isJsonObject, type JsonValue } from '../../base/json.ts';
import type { TaskEvent } from '../events/event.ts';

/**
 * The tools of MCP servers that a task has found with ToolSearch, by name: the line of the result that describes each of
 * them. The one that was found or called last is the last.
 */
export type FoundTools = Map<string, string>;

/** The maximum number of found tools that are remembered. The oldest are forgotten. */
const MAX_FOUND_TOOLS = 50;

/** Applies the result of a search, and the call of a found tool. */
export function applyToFoundTools(
  found: FoundTools,
  event: Extract<TaskEvent, { type: 'call.started' | 'call.ended' }>,
): void {
  if (event.type === 'call.started') {
    const line = found.get(event.tool);
    if (line !== undefined) addFoundTools(found, [line]);
  } else if (event.tool === 'ToolSearch' && event.error === null) {
    addFoundTools(found, event.text.split('\n'));
  }
}

/** Adds tools by the lines that describe them. Other lines are ignored. */
export function addFoundTools(found: FoundTools, lines: readonly string[]): void {
  for (const line of lines) {
    const name = readToolName(line);
    if (name === null) continue;
    found.delete(name);
    found.set(name, line);
  }
  for (const name of [...found.keys()].slice(0, -MAX_FOUND_TOOLS)) found.delete(name);
}

function readToolName(line: string): string | null {
  if (!line.startsWith('{')) return null;
  try {
    const value = JSON.parse(line) as JsonValue;
    if (!isJsonObject(value) || typeof value['name'] !== 'string') return null;
    return value['name'].startsWith('mcp__') ? value['name'] : null;
  } catch {
    // A line that was cut does not describe a tool completely.
    return null;
  }
}
