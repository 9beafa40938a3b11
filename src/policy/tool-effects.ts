import type { ToolKind } from '../protocol/tool.ts';

/**
 * Tools whose calls are command lines and nothing else: in plan mode those run that are proved to change
 * nothing.
 */
const COMMAND_TOOLS: ReadonlySet<string> = new Set(['Bash']);

export function isCommandTool(tool: string): boolean {
  return COMMAND_TOOLS.has(tool);
}

/** Network tools that only fetch: what they may leak is asked about, but they change nothing. */
const FETCHING_TOOLS: ReadonlySet<string> = new Set(['WebFetch', 'WebSearch']);

/**
 * Whether a tool changes something outside Muster's own notes, by what it is: what plan mode is
 * without. `delegate` has no effect itself: a child's rights are bounded by its parent's.
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
