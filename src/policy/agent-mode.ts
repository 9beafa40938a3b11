import { PERMISSION_MODES, type PermissionMode } from '../protocol/permission.ts';
import { parseMode } from './modes.ts';

/** The modes that can be granted to an agent. Plan mode needs no grant. */
export const GRANTABLE_MODES = PERMISSION_MODES.filter((mode) => mode !== 'plan');

export interface AgentMode {
  readonly agent: string;
  readonly mode: PermissionMode;
}

/** Reads `NAME=MODE`, as a file or a flag grants a mode to an agent. Returns null for a text of another form. */
export function parseAgentMode(text: string): AgentMode | null {
  const at = text.lastIndexOf('=');
  const agent = text.slice(0, Math.max(at, 0)).trim();
  const mode = parseMode(text.slice(at + 1));
  return agent === '' || mode === undefined || mode === 'plan' ? null : { agent, mode };
}
