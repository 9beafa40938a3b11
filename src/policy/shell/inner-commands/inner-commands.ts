import { mapByName } from '../name-table.ts';
import { addInput, type FedInput, type ShellParser, type SimpleCommand } from '../parsed-line.ts';
import { findInputRuns } from './input-runs.ts';
import { findGitRuns } from './git.ts';
import { hasExecutingOptions, findOptionRuns, stripVersion } from './option-runs.ts';
import {
  findCmakeRuns,
  findEvalRuns,
  findFdRuns,
  findProgramRuns,
  findModuleRuns,
  findNixRuns,
  findSocatRuns,
  findSqlRuns,
  findSubscriptRuns,
  findTmuxRuns,
  findWorkspaceRuns,
} from './program-runs.ts';
import { SHELL_RUN_FINDERS, findEnvRuns } from './shells.ts';
import { findAwkRuns, findSedRuns } from './awk-and-sed.ts';
import { createHiddenRun, createOpenRun, type InnerRunFinder, type InnerRun } from './inner-run.ts';
import { isWrapper, findWrappedRuns } from './wrapped-runs.ts';
import { COMMAND_WRAPPERS } from './wrappers.ts';

/** The finders for programs that run commands in ways which the tables of wrappers and of options cannot describe. */
const RUN_FINDERS = new Map([
  ...SHELL_RUN_FINDERS,
  ...mapByName<InnerRunFinder>({
    env: findEnvRuns,
    'find, gfind': findProgramRuns,
    'fd, fdfind': findFdRuns,
    git: findGitRuns,
    python: findModuleRuns,
    yarn: findWorkspaceRuns,
    deno: findEvalRuns,
    cmake: findCmakeRuns,
    socat: findSocatRuns,
    nix: findNixRuns,
    tmux: findTmuxRuns,
    'sqlite, psql, mysql, mariadb': findSqlRuns,
    // Builtins that evaluate the subscript of a variable, which can run a command.
    'test, [, printf, read, unset, declare, typeset, local, let': findSubscriptRuns,
    'sed, gsed': findSedRuns,
    'awk, gawk, mawk, nawk': findAwkRuns,
  }),
]);

/** Returns the last part of the path of a program. */
export function getProgramName(value: string): string {
  return value.slice(value.lastIndexOf('/') + 1);
}

/**
 * Finds the commands that a command runs because of its arguments or of what the line feeds it, in all known forms: the
 * rest of its words, a text for a shell, the value of an option, or code. The content of files that it runs, such as a
 * Makefile or a script, is not considered.
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
  const { input } = command;
  const read = input ?? (words.some(({ form }) => form === 'pipe') ? { text: null } : undefined);
  const fed = read === undefined ? [] : findInputRuns({ name, words, input: read }, found, parser);
  // A command in a text for a shell reads the rest of this text.
  const ownFed = fed.map((run) => feedRun(run, { text: null }));
  // The commands that a program runs inherit its standard input.
  const inherited = input === undefined ? found : found.map((run) => feedRun(run, input));
  const runs = [...inherited, ...ownFed].map(countFromProgram);
  if (!command.isOpenEnded) return runs;
  // The words that follow, which may be a command, are not in the line, as in `xargs env`.
  if (COMMAND_WRAPPERS.has(name) && runs.length === 0)
    return [createHiddenRun(command.words.length)];
  const canRunCommands =
    findRunFinder(name) !== undefined || isWrapper(name) || hasExecutingOptions(name);
  return canRunCommands ? [...runs, createOpenRun(command.words.length)] : runs;
}

function feedRun(run: InnerRun, input: FedInput): InnerRun {
  return { ...run, commands: run.commands.map((command) => addInput(command, input)) };
}

function findRunFinder(name: string): InnerRunFinder | undefined {
  return RUN_FINDERS.get(stripVersion(name));
}

/**
 * Converts the indexes of a run, which count from the word after the program, to indexes that count from the program.
 */
function countFromProgram({ index, tail, ...run }: InnerRun): InnerRun {
  return { ...run, index: index + 1, ...(tail === undefined ? {} : { tail: tail + 1 }) };
}

/**
 * The maximum number of inner commands that are examined. No real command line has more; the rest counts as unknown.
 */
const MAX_INNER_COMMANDS = 500;

/** The commands that a command may run in turn. */
export interface InnerCommands {
  readonly commands: readonly SimpleCommand[];
  /** True if the command may run something that the line does not show. */
  readonly isIncomplete: boolean;
}

/** Tells whether commands, or the commands that these run in turn, run the text that the line feeds them. */
export function runFedInput(commands: readonly SimpleCommand[], parser: ShellParser): boolean {
  const waiting = commands.filter(({ input }) => input !== undefined);
  for (let count = 0; count <= MAX_INNER_COMMANDS; count += 1) {
    const next = waiting.pop();
    if (next === undefined) return false;
    const runs = findInnerRuns(next, parser);
    if (runs.some(({ index }) => index === Number.POSITIVE_INFINITY)) return true;
    waiting.push(...runs.flatMap((run) => run.commands));
  }
  return true;
}

/** Lists every command that a command runs because of its arguments, and the commands that those run in turn. */
export function listInnerCommands(command: SimpleCommand, parser: ShellParser): InnerCommands {
  const commands: SimpleCommand[] = [];
  const waiting = [command];
  let isIncomplete = false;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [program] = next.words;
    if (program === undefined) continue;
    if (program.value === null || commands.length > MAX_INNER_COMMANDS)
      return { commands, isIncomplete: true };
    for (const run of findInnerRuns(next, parser)) {
      commands.push(...run.commands);
      waiting.push(...run.commands);
      isIncomplete ||= run.visible === 'none';
    }
  }
  return { commands, isIncomplete };
}
