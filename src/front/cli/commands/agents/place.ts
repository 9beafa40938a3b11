import { resolve } from 'node:path';
import type { AgentsPlace } from '../../../../api/agents/find-agents.ts';
import { isAgentFile } from '../../../../api/agents/choose-agents.ts';
import type { DataFlags, ProjectFlags } from '../../command.ts';
import type { CommandContext } from '../context.ts';
import { absolutePath } from '../../../../sys/paths.ts';

/** Where a command looks for agents. */
export function agentsPlace(
  { cwd, dataDir, trustProject }: ProjectFlags & DataFlags,
  context: CommandContext,
): AgentsPlace {
  return {
    cwd: resolve(context.cwd, cwd ?? '.'),
    trustProject,
    environment: context.environment,
    onNotice: (line) => context.err(`muster: ${line}\n`),
    ...(dataDir === null ? {} : { dataDir: resolve(context.cwd, dataDir) }),
  };
}

/** Files among these words by their absolute paths; the others are names. */
export function agentWords(
  words: readonly string[],
  { cwd }: Pick<CommandContext, 'cwd'>,
): readonly string[] {
  return words.map((word) => (isAgentFile(word) ? absolutePath(word, cwd) : word));
}

/** The directory of `--dir`, absolute. */
export function dirOption(
  dir: string | null,
  { cwd }: Pick<CommandContext, 'cwd'>,
): { readonly dir?: string } {
  return dir === null ? {} : { dir: resolve(cwd, dir) };
}
