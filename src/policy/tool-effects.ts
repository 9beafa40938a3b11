import type { ToolKind } from '../protocol/tool.ts';

/** Tools whose calls are command lines and nothing else. */
const COMMAND_TOOLS: ReadonlySet<string> = new Set(['Bash']);

/** Tells whether the calls of a tool are command lines, of which plan mode allows those that are proved to change nothing. */
export function isCommandTool(tool: string): boolean {
  return COMMAND_TOOLS.has(tool);
}

/** Network tools that only fetch. Their calls are asked about, since a request can leak data, but they change nothing. */
const FETCHING_TOOLS: ReadonlySet<string> = new Set(['WebFetch', 'WebSearch']);

/**
 * Tells whether a tool of this kind changes something outside Muster's own notes, which plan mode excludes. `delegate` has
 * no effect itself: a child never gets more rights than its parent.
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
