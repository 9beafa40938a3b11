import { resolve } from 'node:path';
import type { ConfigInputs, LoadedConfig } from '../../../api/config/load.ts';
import type { ModelsReport } from '../../../api/config/models-report.ts';
import { workspaceRoots } from '../../../api/workspace.ts';
import type { Environment } from '../../../sys/env.ts';
import type { ConfigFlags } from '../command.ts';

/** What a command works with: everything outside of it comes from here. */
export interface CommandContext {
  /** Writes to stdout; the text brings its own line ends. */
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

/** Throws UsageError for a `--cwd` that is no directory. */
export function configInputs(flags: ConfigFlags, context: CommandContext): ConfigInputs {
  const [cwd] = workspaceRoots(resolve(context.cwd, flags.cwd ?? '.'), []);
  return {
    environment: context.environment,
    home: context.home,
    cwd,
    trustProject: flags.trustProject,
    flags: flags.flags,
  };
}
