import { findSubcommandEnds } from '../options/subcommand-position.ts';
import { createLiteralWord, type ShellWord } from '../parsed-line.ts';
import {
  createCommand,
  createOpenRun,
  listPossibleCommands,
  parseCodeRun,
  parseScriptRun,
  type InnerRunFinder,
  type InnerRun,
} from './inner-run.ts';

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

const ACTION = /^-(?:exec|ok)(?:dir)?$/;
const FD_ACTION = /^(?:-x|-X|--exec|--exec-batch)$/;

/** `find … -exec COMMAND ;` and similar actions, any number of them. */
export const findProgramRuns: InnerRunFinder = (words) => findActions(words, ACTION);

/** `fd -x COMMAND`, up to the end or a `;`. The option may also be one of several letters in a word, or have its value attached. */
export const fdRuns: InnerRunFinder = (words) => {
  const combined = words.findIndex(({ value }) =>
    /^(?:-[A-Za-z]*[xX].*|--exec(?:-batch)?=.*)$/s.test(value ?? ''),
  );
  const isPlain = combined < 0 || FD_ACTION.test(words[combined]?.value ?? '');
  const runs = findActions(words, FD_ACTION);
  return isPlain
    ? runs
    : [...runs, createOpenRun(combined, [createCommand(words.slice(combined + 1), true)])];
};

function findActions(words: readonly ShellWord[], action: RegExp): readonly InnerRun[] {
  const runs: InnerRun[] = [];
  let end = 0;
  for (const [at, { value, form }] of words.entries()) {
    if (at < end) continue;
    if (value === null) {
      const rest = words.slice(at + 1);
      // A word that turns out to be `-exec` needs an end of its command after it.
      const hasEnd =
        form !== 'text' || rest.some((word) => word.value === null || ENDS.has(word.value));
      // All words after it could be its command, so there is nothing more to find.
      if (hasEnd && canBeAction(words[at]))
        return [...runs, createOpenRun(at, listPossibleCommands(rest))];
    } else if (action.test(value)) {
      const found = words.findIndex((_, index) => index > at && isEnd(words, index));
      end = found < 0 ? words.length : found;
      const command = createCommand(words.slice(at + 1, end));
      runs.push({
        index: at,
        commands: [command],
        visible: insertsFileNames(command.words) ? 'some' : 'all',
      });
    }
  }
  return runs;
}

function canBeAction(word: ShellWord | undefined): boolean {
  if (word === undefined || FILE_PATTERN.test(word.text)) return false;
  return /^["']*[-$`*?[{]/.test(word.text);
}

/** A pattern such as `*.ts` without quotes. It is no option whatever files there are, since no option of find has a dot. */
const FILE_PATTERN = /^\*\.\w+$/;

const ENDS: ReadonlySet<string> = new Set([';', '+']);

/** Tells whether the word at this index is a `;`, or a `+` after `{}`. */
function isEnd(words: readonly ShellWord[], index: number): boolean {
  const value = words[index]?.value;
  return value === ';' || (value === '+' && words[index - 1]?.value === '{}');
}

/** Tells whether the name of a file becomes a part of a word, which may be a text for a shell. */
function insertsFileNames(words: readonly ShellWord[]): boolean {
  return words.some(({ value }) => value === null || (value !== '{}' && value.includes('{}')));
}
