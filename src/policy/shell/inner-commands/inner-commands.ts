import { mapByName } from '../name-table.ts';
import type { ShellParser, SimpleCommand } from '../parsed-line.ts';
import { gitRuns } from './git.ts';
import { hasExecutingOptions, findOptionRuns, stripVersion } from './option-runs.ts';
import {
  cmakeRuns,
  evalRuns,
  fdRuns,
  findProgramRuns,
  moduleRuns,
  nixRuns,
  socatRuns,
  sqlRuns,
  subscriptRuns,
  tmuxRuns,
  workspaceRuns,
} from './program-runs.ts';
import { SHELL_RUN_FINDERS, envRuns } from './shells.ts';
import { awkRuns, sedRuns } from './awk-and-sed.ts';
import { createHiddenRun, createOpenRun, type InnerRunFinder, type InnerRun } from './inner-run.ts';
import { isWrapper, findWrappedRuns } from './wrapped-runs.ts';
import { COMMAND_WRAPPERS } from './wrappers.ts';

/** Programs that run commands in ways which the tables of wrappers and of options cannot describe. */
const RUN_FINDERS = new Map([
  ...SHELL_RUN_FINDERS,
  ...mapByName<InnerRunFinder>({
    env: envRuns,
    'find, gfind': findProgramRuns,
    'fd, fdfind': fdRuns,
    git: gitRuns,
    python: moduleRuns,
    yarn: workspaceRuns,
    deno: evalRuns,
    cmake: cmakeRuns,
    socat: socatRuns,
    nix: nixRuns,
    tmux: tmuxRuns,
    'sqlite, psql, mysql, mariadb': sqlRuns,
    // Builtins that evaluate the subscript of a variable, which can run a command.
    'test, [, printf, read, unset, declare, typeset, local, let': subscriptRuns,
    'sed, gsed': sedRuns,
    'awk, gawk, mawk, nawk': awkRuns,
  }),
]);

/** Returns the last part of the path of a program. */
export function getProgramName(value: string): string {
  return value.slice(value.lastIndexOf('/') + 1);
}

/**
 * Finds what a command runs because of its arguments, in all known forms: the rest of its words, a text for a shell, the
 * value of an option, code. The content of a file that it runs, such as a Makefile or a script, is not considered.
 */
export function findInnerRuns(command: SimpleCommand, parser: ShellParser): readonly InnerRun[] {
  const [program, ...words] = command.words;
  if (program === undefined || program.value === null) return [];
  const name = getProgramName(program.value);
  const found = [
    ...(findRunFinder(name)?.(words, parser) ?? []),
    ...findWrappedRuns(name, words, parser),
    ...findOptionRuns(name, words, parser),
  ];
  const runs = found.map(countFromProgram);
  if (!command.isOpenEnded) return runs;
  // Words that the line does not show follow, as in `xargs env`.
  if (COMMAND_WRAPPERS.has(name) && runs.length === 0)
    return [createHiddenRun(command.words.length)];
  const canRunCommands =
    findRunFinder(name) !== undefined || isWrapper(name) || hasExecutingOptions(name);
  return canRunCommands ? [...runs, createOpenRun(command.words.length)] : runs;
}

function findRunFinder(name: string): InnerRunFinder | undefined {
  return RUN_FINDERS.get(stripVersion(name));
}

/** Counts the words from the program instead of from the word after it. */
function countFromProgram({ index, tail, ...run }: InnerRun): InnerRun {
  return { ...run, index: index + 1, ...(tail === undefined ? {} : { tail: tail + 1 }) };
}

/** No real command line reaches this number of inner commands. Beyond it, the rest counts as unknown. */
const MAX_INNER_COMMANDS = 500;

/** The commands that a command may run in turn. */
export interface InnerCommands {
  readonly commands: readonly SimpleCommand[];
  /** True if it may run something that the line does not show. */
  readonly isIncomplete: boolean;
}

/** Lists every command that a command runs because of its arguments, and the commands that those run in turn. */
export function listInnerCommands(command: SimpleCommand, parser: ShellParser): InnerCommands {
  const commands: SimpleCommand[] = [];
  const waiting = [command];
  let unsure = false;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [program] = next.words;
    if (program === undefined) continue;
    if (program.value === null || commands.length > MAX_INNER_COMMANDS)
      return { commands, isIncomplete: true };
    for (const run of findInnerRuns(next, parser)) {
      commands.push(...run.commands);
      waiting.push(...run.commands);
      unsure ||= run.visible === 'none';
    }
  }
  return { commands, isIncomplete: unsure };
}
