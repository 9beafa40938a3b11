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
 * Tells whether every call of a tool of this kind changes something other than Muster's own notes. Plan mode refuses such
 * tools. The calls of a network tool differ: see `hasCallEffect`. Delegation itself changes nothing, and the child never
 * gets more rights than its parent.
 */
export function hasToolEffect(kind: ToolKind): boolean {
  switch (kind) {
    case 'edit':
    case 'execute':
      return true;
    case 'network':
    case 'read':
    case 'delegate':
    case 'meta':
      return false;
  }
}
