import type { ShellParser, SimpleCommand } from '../shell-parser.ts';
import { fdRuns, findRuns } from './find.ts';
import { gitRuns } from './git.ts';
import { isTelling, optionRuns, plainName } from './option-runs.ts';
import {
  cmakeRuns,
  evalRuns,
  moduleRuns,
  nixRuns,
  socatRuns,
  sqlRuns,
  subscriptRuns,
  tmuxRuns,
  WITH_SUBSCRIPTS,
  workspaceRuns,
} from './own-forms.ts';
import { SHELL_RUNNERS, splitString } from './shells.ts';
import { awkRuns, sedRuns } from './text-programs.ts';
import type { Runner, ToldRun } from './told-run.ts';
import { hiddenRun, openRun } from './told-run.ts';
import { isWrapper, wrappedRuns } from './wrapped.ts';
import { WRAPPERS } from './wrappers.ts';

/** Programs that are told in a way of their own, beside the tables of wrappers and of options. */
const RUNNERS: ReadonlyMap<string, Runner> = new Map<string, Runner>([
  ...SHELL_RUNNERS,
  ['env', splitString],
  ['find', findRuns],
  ['gfind', findRuns],
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
  ...WITH_SUBSCRIPTS.map((name) => [name, subscriptRuns] as const),
  ['sed', sedRuns],
  ['gsed', sedRuns],
  ...['awk', 'gawk', 'mawk', 'nawk'].map((name) => [name, awkRuns] as const),
]);

/** The last part of a program's path. */
export function programName(value: string): string {
  return value.slice(value.lastIndexOf('/') + 1);
}

/**
 * What a command is told to run by its arguments, in all forms that are known: the rest of its words, a text for a
 * shell, the value of an option, code. Not what a file holds that it runs, as a Makefile or a script.
 */
export function runsOf(command: SimpleCommand, parser: ShellParser): readonly ToldRun[] {
  const [program, ...words] = command.words;
  if (program === undefined || program.value === null) return [];
  const name = programName(program.value);
  const told = [
    ...(runnerOf(name)?.(words, parser) ?? []),
    ...wrappedRuns(name, words, parser),
    ...optionRuns(name, words, parser),
  ];
  const runs = told.map(fromProgram);
  if (!command.openEnded) return runs;
  // Words that the line does not show follow, as of `xargs env`.
  if (WRAPPERS.has(name) && runs.length === 0) return [hiddenRun(command.words.length)];
  const isRunner = runnerOf(name) !== undefined || isWrapper(name) || isTelling(name);
  return isRunner ? [...runs, openRun(command.words.length)] : runs;
}

function runnerOf(name: string): Runner | undefined {
  return RUNNERS.get(plainName(name));
}

/** Counted from the program, not from the word behind it. */
function fromProgram({ at, tail, ...run }: ToldRun): ToldRun {
  return { ...run, at: at + 1, ...(tail === undefined ? {} : { tail: tail + 1 }) };
}
