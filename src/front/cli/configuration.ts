import { resolve } from 'node:path';
import type { CommandContext } from './command.ts';
import type { ConfigOptions, DataOptions } from './run-options.ts';
import { loadConfig, type ConfigInputs, type LoadedConfig } from '../../config/load.ts';
import { describeConfigProblem } from '../../config/setting.ts';
import type { StateOptions } from '../../trust/state-directory.ts';
import { createUntrustedNotice } from '../../trust/untrusted-notice.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import { workspaceRoots } from '../../api/index.ts';

/**
 * Loads the configuration for a command and reports its notices on stderr. Throws UsageError for a wrong
 * configuration, and for a `--cwd` that is no directory.
 */
export async function loadConfiguration(
  options: ConfigOptions,
  context: CommandContext,
): Promise<LoadedConfig> {
  const loaded = await loadConfig(configInputs(options, context));
  for (const notice of loaded.notices) report(describeConfigProblem(notice), context);
  const untrusted = createUntrustedNotice(loaded);
  if (untrusted !== null) report(untrusted, context);
  return loaded;
}

/** Returns the sources from which the configuration is read. Throws UsageError for a `--cwd` that is no directory. */
export function configInputs(options: ConfigOptions, context: CommandContext): ConfigInputs {
  const state = stateLocation(options, context);
  const trust = createProjectTrust({
    ...state,
    decision: options.trustProject,
    onProblem: (message) => report(message, context),
  });
  const { environment, home, cwd } = state;
  return { environment, home, cwd, trust, flags: options.flags };
}

/** Returns the directories in which a command works and keeps its state. Throws UsageError for a `--cwd` that is no directory. */
export function stateLocation(
  { cwd: directory, dataDir }: { readonly cwd: string | null } & DataOptions,
  { environment, home, cwd: current }: CommandContext,
): StateOptions {
  const [cwd] = workspaceRoots(resolve(current, directory ?? '.'), []);
  return {
    environment,
    home,
    cwd,
    ...(dataDir === null ? {} : { dataDir: resolve(current, dataDir) }),
  };
}

function report(message: string, context: CommandContext): void {
  context.err(`muster: ${message}\n`);
}
