import { nameCovers } from '../../policy/rules/tool-cover.ts';
import { canNameServer } from '../../protocol/server-tool-names.ts';
import type { ServerUser } from '../../protocol/mcp.ts';

/**
 * A moment at which servers may have to be asked for their tools:
 * - `open`: a session is opened. `agent` is the agent of its first task; null if no task begins by itself.
 * - `start`: a conversation begins while a person looks on, who may go on without the servers.
 * - `resume`: a task continues with the tools that it had, of which `agent` lists the names.
 * - `spawn`: a task is created by another one or by a template.
 */
export type ServerMoment =
  | { readonly kind: 'open'; readonly isAttended: boolean; readonly agent: ServerUser | null }
  | { readonly kind: 'start' | 'resume' | 'spawn'; readonly agent: ServerUser };

/** The servers to ask at a moment. */
export interface ServerWait {
  /** The parts of the tools' names that stand for the servers to ask. */
  readonly asked: readonly string[];
  /** Whether the answers are waited for. */
  readonly waits: boolean;
  /** Whether a line says so when the answers take long. The terminal UI says so itself. */
  readonly isAnnounced: boolean;
}

/**
 * Decides which servers are asked for their tools at a moment, and whether their answers are waited for. Only servers
 * are asked whose tools are not known and that the agent may use.
 *
 * @param unknown the parts of the servers whose tools are not known
 */
export function planServerWait(moment: ServerMoment, unknown: readonly string[]): ServerWait {
  const { kind, agent } = moment;
  const asked = agent === null ? [] : unknown.filter((part) => mayUseServer(agent, part));
  if (asked.length === 0) return { asked, waits: false, isAnnounced: false };
  switch (kind) {
    case 'open':
      return { asked, waits: !moment.isAttended, isAnnounced: !moment.isAttended };
    case 'start':
      return { asked, waits: true, isAnnounced: false };
    case 'resume':
    case 'spawn':
      return { asked, waits: true, isAnnounced: true };
  }
}

/** Tells whether an agent may use a tool of a server, as far as the lists of its definition say. */
function mayUseServer({ tools, disallowedTools }: ServerUser, part: string): boolean {
  const denied = [...disallowedTools, ...(tools.mode === 'deny' ? tools.names : [])];
  if (denied.some((name) => nameCovers(name, `mcp__${part}__*`, 'narrow'))) return false;
  return tools.mode !== 'allow' || tools.names.some((name) => canNameServer(name, part));
}
