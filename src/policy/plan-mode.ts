import type { ToolKind } from '../protocol/tool.ts';

/**
 * Whether a shell command can be proved to change nothing. While none can, plan mode does not even
 * offer the tools that execute, since `hasEffect` has every call of theirs refused.
 */
export const PROVES_READ_ONLY: boolean = false;

/** Network tools that only fetch: what they may leak is asked about, but they change nothing. */
const FETCHING_TOOLS: ReadonlySet<string> = new Set(['WebFetch', 'WebSearch']);

/**
 * Whether a tool changes something outside Muster's own notes, by what it is: what plan mode is
 * without. `delegate` has no effect itself: a child's rights are bounded by its parent's.
 */
export function hasEffect(tool: string, kind: ToolKind): boolean {
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
