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

/**
 * Creates the run of a command that is another spelling of the same command. Every rule for the program covers this
 * run.
 */
function createAliasRun(words: readonly ShellWord[]): InnerRun {
  return { index: -1, commands: [createCommand(words)], visible: 'some' };
}

/** Finds the module that `python -m MODULE` runs like a program of that name. */
export const findModuleRuns: InnerRunFinder = (words) => {
  const at = words.findIndex(({ value }) => value !== null && /^-[bBdEiIOPqRsSuvx]*m/.test(value));
  const value = words[at]?.value ?? '';
  if (at < 0) return [];
  const attached = value.slice(value.indexOf('m') + 1);
  const rest = words.slice(at + 1);
  return [createAliasRun(attached === '' ? rest : [createLiteralWord(attached), ...rest])];
};

/** Finds the command of yarn that `yarn workspace NAME COMMAND` runs in a workspace. */
export const findWorkspaceRuns: InnerRunFinder = (words) =>
  findSubcommandEnds('yarn', words, ['workspace'])
    .ends.slice(0, 1)
    .map((end) => createAliasRun([createLiteralWord('yarn'), ...words.slice(end + 1)]));

/** Finds the code of `deno eval CODE`, with options before and after it. */
export const findEvalRuns: InnerRunFinder = (words, parser) =>
  findSubcommandEnds('deno', words, ['eval'])
    .ends.slice(0, 1)
    .map((end) =>
      parseCodeRun(
        end - 1,
        words.findLast(({ value }) => value !== null),
        parser,
      ),
    );

/** Finds the command of `cmake -E env COMMAND` and `cmake -E time COMMAND`. */
export const findCmakeRuns: InnerRunFinder = (words) => {
  const at = words.findIndex(({ value }) => value === '-E') + 1;
  const verb = words[at]?.value ?? '';
  const hasCommand = at > 0 && ['env', 'time'].includes(verb);
  return hasCommand
    ? [{ index: at, commands: [createCommand(words.slice(at))], visible: 'all' }]
    : [];
};

/** Finds the command of `nix develop -c COMMAND ARGUMENT…`. */
export const findNixRuns: InnerRunFinder = (words) => {
  const at = words.findIndex(({ value }) => value === '-c' || value === '--command');
  return at < 0
    ? []
    : [{ index: at, commands: [createCommand(words.slice(at + 1))], visible: 'all' }];
};

const TMUX_STARTS =
  /^(?:new|new-session|neww|new-window|splitw|split-window|respawnp?|respawnw|respawn-pane|respawn-window|run|run-shell|if|if-shell|pipep|pipe-pane|send|send-keys|popup|display-popup)$/;

/** Finds the shell command that a command of tmux runs. It may be one word or several. */
export const findTmuxRuns: InnerRunFinder = (words, parser) => {
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

/** Finds the command of `socat - EXEC:COMMAND`. */
export const findSocatRuns: InnerRunFinder = (words, parser) =>
  words.flatMap(({ value }, at) => {
    const command = /^(?:exec|system|shell):(.*)$/is.exec(value ?? '')?.[1];
    return command === undefined ? [] : [parseScriptRun(at, [createLiteralWord(command)], parser)];
  });

/** Matches the syntax with which clients of databases (sqlite3, psql and mysql) run a command. */
const SQL_COMMAND =
  /(?:^|\n)\s*\.(?:sh|sy)[a-z]*\s+(.*)|(?:^|\n)\s*\.[a-z]+\s.*\|(.*)|\\!(.*)|\\[a-z]+\s*\|(.*)|\bprogram\s*'(.*)|(?:^|[;\n])\s*system\s+(.*)/i;

export const findSqlRuns: InnerRunFinder = (words, parser) =>
  words.flatMap(({ value }, at) => {
    const [, ...groups] = SQL_COMMAND.exec(value ?? '') ?? [];
    const text = groups.find((each) => each !== undefined);
    return text === undefined ? [] : [createOpenRun(at, parser(text).commands)];
  });

/**
 * Finds the command in the subscript of a variable name, for builtins that evaluate the subscript: `test -v
 * 'a[$(COMMAND)]'`.
 */
export const findSubscriptRuns: InnerRunFinder = (words, parser) =>
  words.flatMap(({ value }, at) =>
    value !== null && /\[.*(?:\$\(|`)/s.test(value)
      ? [createOpenRun(at, parser(`: ${value}`).commands)]
      : [],
  );

const ACTION = /^-(?:exec|ok)(?:dir)?$/;
const FD_ACTION = /^(?:-x|-X|--exec|--exec-batch)$/;

/** Finds the commands of all `-exec COMMAND ;` and similar actions of find. */
export const findProgramRuns: InnerRunFinder = (words) => findActions(words, ACTION);

/**
 * Finds the command of `fd -x COMMAND`, up to the end or a `;`. The option may also be in a group of letters, or have
 * its value attached.
 */
export const findFdRuns: InnerRunFinder = (words) => {
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
      // If the word is `-exec` when the shell runs, the end of its command must follow.
      const hasEnd =
        form !== 'text' || rest.some((word) => word.value === null || ENDS.has(word.value));
      // All words after this word could belong to its command, so the search ends here.
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

/**
 * Matches a glob such as `*.ts`. No file name that matches such a glob is an option, because no option of find contains
 * a dot.
 */
const FILE_PATTERN = /^\*\.\w+$/;

const ENDS: ReadonlySet<string> = new Set([';', '+']);

/** Tells whether the word at this index is a `;`, or a `+` after `{}`. */
function isEnd(words: readonly ShellWord[], index: number): boolean {
  const value = words[index]?.value;
  return value === ';' || (value === '+' && words[index - 1]?.value === '{}');
}

/** Tells whether file names are inserted into longer words, which may be texts for a shell. */
function insertsFileNames(words: readonly ShellWord[]): boolean {
  return words.some(({ value }) => value === null || (value !== '{}' && value.includes('{}')));
}
