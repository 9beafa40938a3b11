import { errorMessage, UsageError } from '../../base/errors.ts';
import { OUTPUT_FORMATS } from '../../protocol/output-format.ts';
import { oneLine, quoted } from '../../config/quote.ts';
import type { AgentsArgument, ConfigFlags, ProjectFlags, RunCommand } from './command.ts';
import { RUN } from './command-table.ts';
import type { FlagReader } from './flag-reader.ts';
import type { FlagName } from './flags.ts';

/** What the flags say of a run, whichever command begins it. Throws UsageError. */
export function runSettings(
  flags: FlagReader,
): Omit<RunCommand, 'kind' | 'prompt' | 'resume' | 'readsStdin'> {
  return {
    outputFormat: flags.choice('output-format', OUTPUT_FORMATS, 'text'),
    outputSchema: flags.text('output-schema'),
    verbose: flags.given('verbose'),
    screenReader: flags.given('screen-reader'),
    log: !flags.given('no-log'),
    agent: flags.text('agent'),
    agents: agentsArgument(flags.text('agents')),
    maxTurns: flags.count('max-turns'),
    addDirs: flags.texts('add-dir'),
    dataDir: flags.text('data-dir'),
    ...configFlags(flags, RUN.flags),
  };
}

export function configFlags(flags: FlagReader, names: readonly FlagName[]): ConfigFlags {
  return { ...projectFlags(flags), flags: flags.configValues(names) };
}

export function projectFlags(flags: FlagReader): ProjectFlags {
  return { cwd: flags.text('cwd'), trustProject: flags.given('trust-project') };
}

export function agentsArgument(text: string | null): AgentsArgument | null {
  if (text === null) return null;
  if (text.startsWith('@')) {
    if (text.length === 1) throw new UsageError('--agents @ needs a file: --agents @FILE');
    return { kind: 'file', path: text.slice(1) };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `--agents is not JSON (${oneLine(errorMessage(error))}); a file is named as @FILE`,
    );
  }
  if (typeof value !== 'object' || value === null) {
    throw new UsageError(`--agents must be a JSON object or array, not ${quoted(value)}`);
  }
  return { kind: 'json', text };
}
