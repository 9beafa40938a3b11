import type { AgentDefinition } from '../protocol/agent.ts';
import { PERMISSION_MODES, type ModeGrant, type PermissionMode } from '../protocol/permission.ts';

/** Tells whether mode `a` allows less than mode `b`. */
export function isNarrowerMode(a: PermissionMode, b: PermissionMode): boolean {
  return a !== b && narrowerMode(a, b) === a;
}

/** Returns the narrower of two modes. */
export function narrowerMode(a: PermissionMode, b: PermissionMode): PermissionMode {
  return PERMISSION_MODES.indexOf(a) <= PERMISSION_MODES.indexOf(b) ? a : b;
}

/** Returns the wider of two modes. */
export function widerMode(a: PermissionMode, b: PermissionMode): PermissionMode {
  return narrowerMode(a, b) === a ? b : a;
}

/**
 * Returns the mode of an agent below a task with the mode `parentMode`: the mode that the definition asks for, but
 * never a wider mode than `parentMode`. A definition that asks for no mode gets `parentMode` (docs/decisions/0002).
 */
export function effectiveMode(
  definition: Pick<AgentDefinition, 'mode'>,
  parentMode: PermissionMode,
): PermissionMode {
  return narrowerMode(parentMode, definition.mode ?? parentMode);
}

/**
 * Returns the mode of an agent below a task like `effectiveMode`, but a grant of the user to the agent may make the
 * mode wider than `parentMode`. A grant has no effect below a task in plan mode.
 *
 * @param grant the user's grant to the agent, or null
 */
export function delegatedMode(
  definition: Pick<AgentDefinition, 'mode'>,
  parentMode: PermissionMode,
  grant: Pick<ModeGrant, 'mode'> | null,
): PermissionMode {
  if (grant === null || parentMode === 'plan') return effectiveMode(definition, parentMode);
  return effectiveMode(definition, widerMode(parentMode, grant.mode));
}

/** The names of modes in lower case, including the names that Claude Code uses for the same modes. */
const MODE_NAMES: ReadonlyMap<string, PermissionMode> = new Map<string, PermissionMode>([
  ...PERMISSION_MODES.map((mode): [string, PermissionMode] => [mode.toLowerCase(), mode]),
  ['manual', 'default'],
  ['auto', 'default'],
  ['bypasspermissions', 'autonomous'],
]);

/**
 * Parses the name of a mode, in any letter case. Returns undefined if the name is unknown, or if vendors use it for
 * opposite things.
 */
function parseMode(name: string): PermissionMode | undefined {
  return MODE_NAMES.get(name.trim().toLowerCase());
}

/** The modes that can be granted to an agent. Plan mode needs no grant. */
export const GRANTABLE_MODES = PERMISSION_MODES.filter((mode) => mode !== 'plan');

export interface AgentMode {
  readonly agent: string;
  readonly mode: PermissionMode;
}

/** Parses `NAME=MODE`, with which a file or a flag grants a mode to an agent. Returns null for any other text. */
export function parseAgentMode(text: string): AgentMode | null {
  const equals = text.lastIndexOf('=');
  const agent = text.slice(0, Math.max(equals, 0)).trim();
  const mode = parseMode(text.slice(equals + 1));
  return agent === '' || mode === undefined || mode === 'plan' ? null : { agent, mode };
}
