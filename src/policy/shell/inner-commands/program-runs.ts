import { findSubcommandEnds } from '../options/subcommand-position.ts';
import type { ShellWord } from '../parsed-line.ts';
import {
  parseCodeRun,
  createCommand,
  createLiteralWord,
  createOpenRun,
  parseScriptRun,
} from './inner-run.ts';
import type { InnerRunFinder, InnerRun } from './inner-run.ts';

/** Creates the run of a command that can also be written in another way. A rule for the program covers it. */
function createAliasRun(words: readonly ShellWord[]): InnerRun {
  return { index: -1, commands: [createCommand(words)], visible: 'some' };
}

/** `python -m MODULE` runs it as the program of that name. */
export const moduleRuns: InnerRunFinder = (words) => {
  const at = words.findIndex(({ value }) => value !== null && /^-[bBdEiIOPqRsSuvx]*m/.test(value));
  const value = words[at]?.value ?? '';
  if (at < 0) return [];
  const attached = value.slice(value.indexOf('m') + 1);
  const rest = words.slice(at + 1);
  return [createAliasRun(attached === '' ? rest : [createLiteralWord(attached), ...rest])];
};

/** `yarn workspace NAME COMMAND` runs the command of yarn in a workspace. */
export const workspaceRuns: InnerRunFinder = (words) =>
  findSubcommandEnds('yarn', words, ['workspace'])
    .ends.slice(0, 1)
    .map((end) => createAliasRun([createLiteralWord('yarn'), ...words.slice(end + 1)]));

/** `deno eval CODE`, with options before and after it. */
export const evalRuns: InnerRunFinder = (words, parser) =>
  findSubcommandEnds('deno', words, ['eval'])
    .ends.slice(0, 1)
    .map((end) =>
      parseCodeRun(
        end - 1,
        words.findLast(({ value }) => value !== null),
        parser,
      ),
    );

/** `cmake -E env COMMAND` and `cmake -E time COMMAND`. */
export const cmakeRuns: InnerRunFinder = (words) => {
  const at = words.findIndex(({ value }) => value === '-E') + 1;
  const verb = words[at]?.value ?? '';
  const hasCommand = at > 0 && ['env', 'time'].includes(verb);
  return hasCommand
    ? [{ index: at, commands: [createCommand(words.slice(at))], visible: 'all' }]
    : [];
};

/** `nix develop -c COMMAND ARGUMENT…`. */
export const nixRuns: InnerRunFinder = (words) => {
  const at = words.findIndex(({ value }) => value === '-c' || value === '--command');
  return at < 0
    ? []
    : [{ index: at, commands: [createCommand(words.slice(at + 1))], visible: 'all' }];
};

const TMUX_STARTS =
  /^(?:new|new-session|neww|new-window|splitw|split-window|respawnp?|respawnw|respawn-pane|respawn-window|run|run-shell|if|if-shell|pipep|pipe-pane|send|send-keys|popup|display-popup)$/;

/** Commands of tmux that run a shell command, which may be one word or several. */
export const tmuxRuns: InnerRunFinder = (words, parser) => {
  const at = words.findIndex(({ value }) => TMUX_STARTS.test(value ?? ''));
  const rest = at < 0 ? [] : words.slice(at + 1);
  const commands = rest.flatMap((word, index) => [
    createCommand(rest.slice(index)),
    ...parser(word.value ?? '').commands,
  ]);
  return rest.some(({ value }) => value?.startsWith('-') !== true)
    ? [createOpenRun(at, commands)]
    : [];
};

/** `socat - EXEC:COMMAND`. */
export const socatRuns: InnerRunFinder = (words, parser) =>
  words.flatMap(({ value }, at) => {
    const command = /^(?:exec|system|shell):(.*)$/is.exec(value ?? '')?.[1];
    return command === undefined ? [] : [parseScriptRun(at, [createLiteralWord(command)], parser)];
  });

/** Syntax by which clients of databases (sqlite3, psql and mysql) run a command. */
const SQL_COMMAND =
  /(?:^|\n)\s*\.(?:sh|sy)[a-z]*\s+(.*)|(?:^|\n)\s*\.[a-z]+\s.*\|(.*)|\\!(.*)|\\[a-z]+\s*\|(.*)|\bprogram\s*'(.*)|(?:^|[;\n])\s*system\s+(.*)/i;

export const sqlRuns: InnerRunFinder = (words, parser) =>
  words.flatMap(({ value }, at) => {
    const [, ...groups] = SQL_COMMAND.exec(value ?? '') ?? [];
    const text = groups.find((each) => each !== undefined);
    return text === undefined ? [] : [createOpenRun(at, parser(text).commands)];
  });

/** Builtins that evaluate the subscript of a variable name in their arguments: `test -v 'a[$(COMMAND)]'`. */
export const subscriptRuns: InnerRunFinder = (words, parser) =>
  words.flatMap(({ value }, at) =>
    value !== null && /\[.*(?:\$\(|`)/s.test(value)
      ? [createOpenRun(at, parser(`: ${value}`).commands)]
      : [],
  );

/** Shell builtins that evaluate the subscript of a variable, which can run a command. */
export const SUBSCRIPT_BUILTINS: readonly string[] =
  'test [ printf read unset declare typeset local let'.split(' ');
