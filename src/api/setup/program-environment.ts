import { NO_HOME, readEnvironment, type Environment } from '../../sys/env.ts';

/** The variables of the process that commands need and that say nothing about the user. */
const NEUTRAL_VARIABLES = ['PATH', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ'] as const;

/** The variables that name directories with files of the user, or set the user's configuration. */
const USER_VARIABLES =
  /^(?:HOME|XDG_.*|MUSTER_.*|CLAUDE_CONFIG_DIR|CODEX_HOME|COPILOT_HOME|GEMINI_CLI_HOME|PI_CODING_AGENT_DIR|QWEN_HOME)$/;

/** The environments of a session that a program opens. */
export interface ProgramEnvironments {
  /** The variables in which Muster looks for the user's files, settings and keys. */
  readonly session: Environment;
  /** The variables from which the commands of tasks get theirs. */
  readonly commands: Environment;
}

/**
 * Returns the environments of a session that a program opens. Without `inherit`, they have the variables of the program, and of
 * the process only those that say nothing about the user; no variable leads Muster to the user's files and settings then.
 */
export function createProgramEnvironments(
  { inherit, environment }: { readonly inherit: boolean; readonly environment?: Environment },
  process: Environment = readEnvironment(),
): ProgramEnvironments {
  if (inherit) return { session: environment ?? process, commands: environment ?? process };
  const neutral = Object.fromEntries(NEUTRAL_VARIABLES.map((name) => [name, process[name]]));
  const commands = { ...neutral, HOME: NO_HOME, ...environment };
  const session = Object.entries(commands).filter(([name]) => !USER_VARIABLES.test(name));
  return { session: { ...Object.fromEntries(session), HOME: NO_HOME }, commands };
}
