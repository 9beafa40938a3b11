import { resolve } from 'node:path';
import type { ConfigInputs, LoadedConfig } from '../../../config/load.ts';
import { describeProblem } from '../../../config/source.ts';
import type { StateWish } from '../../../trust/state-place.ts';
import { untrustedNotice } from '../../../trust/notice.ts';
import { projectTrust } from '../../../trust/project-trust.ts';
import type { Environment } from '../../../sys/env.ts';
import type { ConfigFlags, DataFlags } from '../command.ts';
import type { ModelsReport } from '../../../api/setup/models-report.ts';
import { workspaceRoots } from '../../../api/setup/workspace.ts';

/** What a command works with: everything outside of it comes from here. */
export interface CommandContext {
  /** Writes to stdout, made safe for a terminal; the text brings its own line ends. */
  readonly out: (text: string) => void;
  /** Writes to stderr, likewise. */
  readonly err: (text: string) => void;
  readonly environment: Environment;
  /** Absolute. */
  readonly home: string;
  /** Absolute: the directory of the process. */
  readonly cwd: string;
}

export interface ModelContext extends CommandContext {
  /** The models that this configuration gives, local servers included. May throw UsageError. */
  readonly models: (loaded: LoadedConfig) => Promise<ModelsReport>;
}

export interface TrustContext extends CommandContext {
  /** Asks a person yes or no; null: there is no terminal to ask on. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

/** Throws UsageError for a `--cwd` that is no directory. */
export function configInputs(
  flags: ConfigFlags & Partial<DataFlags>,
  context: CommandContext,
): ConfigInputs {
  const state = statePlace(flags, context);
  const trust = projectTrust({
    ...state,
    decision: flags.trustProject,
    onProblem: (message) => tell(message, context),
  });
  const { environment, home, cwd } = state;
  return { environment, home, cwd, trust, flags: flags.flags };
}

/** Where a command works and where its state lies. Throws UsageError for a `--cwd` that is no directory. */
export function statePlace(
  { cwd: wish, dataDir = null }: { readonly cwd: string | null } & Partial<DataFlags>,
  { environment, home, cwd: here }: CommandContext,
): StateWish {
  const [cwd] = workspaceRoots(resolve(here, wish ?? '.'), []);
  const chosen = dataDir === null ? {} : { dataDir: resolve(here, dataDir) };
  return { environment, home, cwd, ...chosen };
}

/** What a person should know of the configuration that a command has read. */
export function tellNotices(loaded: LoadedConfig, context: CommandContext): void {
  for (const notice of loaded.notices) tell(describeProblem(notice), context);
  const unused = untrustedNotice(loaded);
  if (unused !== null) tell(unused, context);
}

function tell(message: string, context: CommandContext): void {
  context.err(`muster: ${message}\n`);
}
