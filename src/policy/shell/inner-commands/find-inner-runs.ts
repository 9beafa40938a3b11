import type { ShellParser, SimpleCommand } from '../parsed-line.ts';
import { fdRuns, findProgramRuns } from './find.ts';
import { gitRuns } from './git.ts';
import { hasExecutingOptions, findOptionRuns, removeVersion } from './option-runs.ts';
import {
  cmakeRuns,
  evalRuns,
  moduleRuns,
  nixRuns,
  socatRuns,
  sqlRuns,
  subscriptRuns,
  tmuxRuns,
  SUBSCRIPT_BUILTINS,
  workspaceRuns,
} from './program-runs.ts';
import { SHELL_RUN_FINDERS, envRuns } from './shells.ts';
import { awkRuns, sedRuns } from './awk-and-sed.ts';
import type { InnerRunFinder, InnerRun } from './inner-run.ts';
import { createHiddenRun, createOpenRun } from './inner-run.ts';
import { isWrapper, findWrappedRuns } from './wrapped-runs.ts';
import { COMMAND_WRAPPERS } from './wrappers.ts';

/** Programs that are told in a way of their own, beside the tables of wrappers and of options. */
const RUNNERS: ReadonlyMap<string, InnerRunFinder> = new Map<string, InnerRunFinder>([
  ...SHELL_RUN_FINDERS,
  ['env', envRuns],
  ['find', findProgramRuns],
  ['gfind', findProgramRuns],
  ['fd', fdRuns],
  ['fdfind', fdRuns],
  ['git', gitRuns],
  ['python', moduleRuns],
  ['yarn', workspaceRuns],
  ['deno', evalRuns],
  ['cmake', cmakeRuns],
  ['socat', socatRuns],
  ['nix', nixRuns],
  ['tmux', tmuxRuns],
  ...['sqlite', 'psql', 'mysql', 'mariadb'].map((name) => [name, sqlRuns] as const),
  ...SUBSCRIPT_BUILTINS.map((name) => [name, subscriptRuns] as const),
  ['sed', sedRuns],
  ['gsed', sedRuns],
  ...['awk', 'gawk', 'mawk', 'nawk'].map((name) => [name, awkRuns] as const),
]);

/** The last part of a program's path. */
export function getProgramName(value: string): string {
  return value.slice(value.lastIndexOf('/') + 1);
}

/**
 * What a command is told to run by its arguments, in all forms that are known: the rest of its words, a text for a
 * shell, the value of an option, code. Not what a file holds that it runs, as a Makefile or a script.
 */
export function findInnerRuns(command: SimpleCommand, parser: ShellParser): readonly InnerRun[] {
  const [program, ...words] = command.words;
  if (program === undefined || program.value === null) return [];
  const name = getProgramName(program.value);
  const told = [
    ...(runnerOf(name)?.(words, parser) ?? []),
    ...findWrappedRuns(name, words, parser),
    ...findOptionRuns(name, words, parser),
  ];
  const runs = told.map(fromProgram);
  if (!command.isOpenEnded) return runs;
  // Words that the line does not show follow, as of `xargs env`.
  if (COMMAND_WRAPPERS.has(name) && runs.length === 0)
    return [createHiddenRun(command.words.length)];
  const isRunner = runnerOf(name) !== undefined || isWrapper(name) || hasExecutingOptions(name);
  return isRunner ? [...runs, createOpenRun(command.words.length)] : runs;
}

function runnerOf(name: string): InnerRunFinder | undefined {
  return RUNNERS.get(removeVersion(name));
}

/** Counted from the program, not from the word behind it. */
function fromProgram({ index, tail, ...run }: InnerRun): InnerRun {
  return { ...run, index: index + 1, ...(tail === undefined ? {} : { tail: tail + 1 }) };
}
