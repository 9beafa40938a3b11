import { resolve } from 'node:path';
import type { AgentsLocation } from '../../../../api/index.ts';
import type { AgentScope } from '../../../../protocol/agent.ts';
import type { CommandContext } from '../../command.ts';
import type { FlagReader } from '../../flag-reader.ts';
import type { FlagSpec } from '../../flags.ts';
import {
  outputOptions,
  projectOptions,
  type DataOptions,
  type ProjectOptions,
} from '../../run-options.ts';
import { formatShortPath } from './format.ts';
import { dropMissing } from '../../../../base/drop-missing.ts';

/** The help of `--data-dir` for commands that read only the list of trusted files from the data directory. */
export const TRUST_DATA_DIR: Partial<FlagSpec> = { help: 'where the trusted files are recorded' };
export const REPLACE_FILES: Partial<FlagSpec> = {
  group: 'Directories',
  help: 'replace files that exist',
};
export const AGENT_DIRECTORIES: Partial<FlagSpec> = {
  completes: { words: ['project', 'user'], paths: 'directories' },
};

/** Reads the flags that all commands about agents have. */
export function agentsOptions(flags: FlagReader) {
  return { ...outputOptions(flags), ...projectOptions(flags) };
}

/** Returns the directories in which a command looks for agents. */
export function agentsLocation(
  { cwd, dataDir, trustProject }: ProjectOptions & DataOptions,
  context: CommandContext,
): AgentsLocation {
  return {
    cwd: resolve(context.cwd, cwd ?? '.'),
    trustProject,
    environment: context.environment,
    onNotice: (line) => context.err(`muster: ${line}\n`),
    ...dropMissing({ dataDir: dataDir === null ? null : resolve(context.cwd, dataDir) }),
  };
}

/** Returns the directory of `--dir` as an absolute path. */
export function directoryOption(
  dir: string | null,
  { cwd }: CommandContext,
): { readonly dir?: string } {
  return dir === null ? {} : { dir: resolve(cwd, dir) };
}

/** Reads the directory for new files, and whether they replace existing ones. */
export function targetOptions(flags: FlagReader) {
  return { to: flags.text('to') ?? 'project', force: flags.has('force') };
}

interface WrittenFile {
  readonly path: string;
  /** The scope in which Muster finds the file; null if Muster does not look in its directory. */
  readonly scope: AgentScope | null;
}

/** Lists what a person has to do before new files take effect. The list is empty for the user's own files. */
export function nextSteps(
  files: readonly WrittenFile[],
  { cwd, home }: CommandContext,
): readonly string[] {
  const inProject = files.filter(({ scope }) => scope === 'project');
  const paths = inProject.map(({ path }) => quoteForShell(formatShortPath(path, cwd, home)));
  return [
    ...(inProject.length === 0
      ? []
      : [
          `Files of a project take effect once they are trusted: muster trust add ${paths.join(' ')}`,
        ]),
    ...(files.every(({ scope }) => scope !== null)
      ? []
      : ['Muster does not look for agents there: see "Search order" in docs/agents.md.']),
  ];
}

function quoteForShell(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
