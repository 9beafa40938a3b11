import { subcommandEnds } from '../options/subcommand-words.ts';
import type { ShellWord } from '../shell-parser.ts';
import { codeRun, commandOf, literalWord } from './told-run.ts';
import type { Runner, ToldRun } from './told-run.ts';

/** Another way to write a command. It stays within a rule for the program itself. */
function ownForm(words: readonly ShellWord[]): ToldRun {
  return { at: -1, commands: [commandOf(words)], shown: 'some' };
}

/** `python -m MODULE` runs it as the program of that name. */
export const moduleRuns: Runner = (words) => {
  const at = words.findIndex(({ value }) => value !== null && /^-[bBdEiIOPqRsSuvx]*m/.test(value));
  const value = words[at]?.value ?? '';
  if (at < 0) return [];
  const attached = value.slice(value.indexOf('m') + 1);
  const rest = words.slice(at + 1);
  return [ownForm(attached === '' ? rest : [literalWord(attached), ...rest])];
};

/** `yarn workspace NAME COMMAND` runs the command of yarn in a workspace. */
export const workspaceRuns: Runner = (words) =>
  subcommandEnds('yarn', words, ['workspace'])
    .ends.slice(0, 1)
    .map((end) => ownForm([literalWord('yarn'), ...words.slice(end + 1)]));

/** `deno eval CODE`, with options before and behind it. */
export const evalRuns: Runner = (words, parser) =>
  subcommandEnds('deno', words, ['eval'])
    .ends.slice(0, 1)
    .map((end) =>
      codeRun(
        end - 1,
        words.findLast(({ value }) => value !== null),
        parser,
      ),
    );
