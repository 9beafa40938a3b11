import type { ToolKind } from '../protocol/tool.ts';

/** Tools whose calls are command lines and nothing else. */
const COMMAND_TOOLS: ReadonlySet<string> = new Set(['Bash']);

/**
 * Tells whether the calls of a tool are command lines. Plan mode allows command lines that are proved to change
 * nothing.
 */
export function isCommandTool(tool: string): boolean {
  return COMMAND_TOOLS.has(tool);
}

/**
 * Network tools that only fetch. They change nothing, but their calls need a question, because a request can leak data.
 */
const FETCHING_TOOLS: ReadonlySet<string> = new Set(['WebFetch', 'WebSearch']);

/**
 * Tells whether a tool changes something other than Muster's own notes. Plan mode refuses such tools. Delegation itself
 * changes nothing, and the child never gets more rights than its parent.
 */
export function hasToolEffect(tool: string, kind: ToolKind): boolean {
  switch (kind) {
    case 'edit':
    case 'execute':
      return true;
    case 'network':
      return !FETCHING_TOOLS.has(tool);
    case 'read':
    case 'delegate':
    case 'meta':
      return false;
  }
}
