import { UsageError } from '../base/errors.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import { PERMISSION_MODES } from '../protocol/permission.ts';
import type { ModeGrant, PermissionMode } from '../protocol/permission.ts';

/** Whether the first one allows less. */
export function isNarrowerMode(a: PermissionMode, b: PermissionMode): boolean {
  return a !== b && narrowerMode(a, b) === a;
}

/** The narrower of two modes. */
export function narrowerMode(a: PermissionMode, b: PermissionMode): PermissionMode {
  return PERMISSION_MODES.indexOf(a) <= PERMISSION_MODES.indexOf(b) ? a : b;
}

/** The wider of two modes. */
export function widerMode(a: PermissionMode, b: PermissionMode): PermissionMode {
  return narrowerMode(a, b) === a ? b : a;
}

/**
 * The mode an agent gets below a task of this mode: what its file asks for, never more than the task
 * has. Where it has no wish, the task's own mode holds (docs/decisions/0002).
 */
export function effectiveMode(
  definition: Pick<AgentDefinition, 'mode'>,
  parentMode: PermissionMode,
): PermissionMode {
  return narrowerMode(parentMode, definition.mode ?? parentMode);
}

/**
 * The mode that an agent gets below a task of this mode: what its definition asks for, at most what that task
 * has or the user grants to the agent. A grant never lifts plan mode: nothing has an effect by delegation from
 * there. Null: the user grants the agent nothing.
 */
export function delegatedMode(
  definition: Pick<AgentDefinition, 'mode'>,
  parentMode: PermissionMode,
  grant: Pick<ModeGrant, 'mode'> | null,
): PermissionMode {
  if (grant === null || parentMode === 'plan') return effectiveMode(definition, parentMode);
  return effectiveMode(definition, widerMode(parentMode, grant.mode));
}

/** Words that users of Claude Code know, where they mean the same for a flag. */
const FLAG_WORDS: ReadonlyMap<string, PermissionMode> = new Map<string, PermissionMode>([
  ...PERMISSION_MODES.map((mode): [string, PermissionMode] => [mode.toLowerCase(), mode]),
  ['manual', 'default'],
  ['auto', 'default'],
  ['bypasspermissions', 'autonomous'],
]);

/** The mode that a user's word means. Undefined: none, or one of two opposite things. */
export function parseMode(word: string): PermissionMode | undefined {
  return FLAG_WORDS.get(word.trim().toLowerCase());
}

/**
 * The value of `--permission-mode`. The user's own word may be any mode.
 *
 * @throws UsageError for an unknown word, and for `dontAsk`, which means two opposite things
 */
export function parseModeFlag(word: string): PermissionMode {
  const folded = word.trim().toLowerCase();
  const mode = parseMode(word);
  if (mode !== undefined) return mode;
  if (folded === 'dontask') {
    throw new UsageError(
      '--permission-mode dontAsk means two opposite things: in Muster and .gen agent files that everything in bounds runs unasked (write `autonomous`), in Claude Code that whatever would ask is refused (write `default`; without a terminal that refuses what would ask).',
    );
  }
  throw new UsageError(
    `--permission-mode ${JSON.stringify(word)} is not a mode; valid are ${PERMISSION_MODES.join(', ')}.`,
  );
}
