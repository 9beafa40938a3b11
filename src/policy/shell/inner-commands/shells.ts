import { mapByName } from '../name-table.ts';
import { createLiteralWord, type ShellParser, type ShellWord } from '../parsed-line.ts';
import {
  createCommand,
  createHiddenRun,
  createOpenRun,
  makeOpenEnded,
  parseScriptRun,
  type InnerRunFinder,
  type InnerRun,
} from './inner-run.ts';

/**
 * Finds the script of `bash -c SCRIPT`. Without -c a shell runs a script file, whose content is not considered, or its
 * standard input.
 */
const findShellRuns: InnerRunFinder = (words, parser) => {
  let script: number | undefined;
  let at = 0;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (word.value === null) return [createHiddenRun(at)];
    if (word.value === '--version' || word.value === '--help') return [];
    if (!/^[-+]./.test(word.value)) break;
    if (/^-[A-Za-z]*c/.test(word.value)) script = at;
    else if (/^-[A-Za-z]*s/.test(word.value)) return [createHiddenRun(words.length)];
    const takesValue = /^[-+][A-Za-z]*[oO]$|^--(?:rcfile|init-file)$/.test(word.value);
    at += takesValue ? 2 : 1;
  }
  const operand = words[at];
  if (operand === undefined || operand.value === '-') return [createHiddenRun(words.length)];
  return script === undefined ? [] : [parseScriptRun(script, [operand], parser)];
};

/** Finds the text that `eval` runs: all its words, joined. It has no options, but accepts `--` before the words. */
const findEvalBuiltinRuns: InnerRunFinder = (words, parser) => {
  const start = words[0]?.value === '--' ? 1 : 0;
  return words.length === start ? [] : [parseScriptRun(start, words.slice(start), parser)];
};

/** Finds the text that `trap` runs: its first word. */
const findTrapRuns: InnerRunFinder = (words, parser) =>
  findEvalBuiltinRuns(words.slice(0, words[0]?.value === '--' ? 2 : 1), parser);

/** Creates the run of `source FILE`. The content of the file is not considered. */
const findSourceRuns: InnerRunFinder = (words) => (words.length === 0 ? [] : [createOpenRun(0)]);

/**
 * Finds the script of `su -c SCRIPT`, with the option at any position. Without the option, `su` runs a shell that reads
 * its standard input.
 */
const findSuRuns: InnerRunFinder = (words, parser) => {
  const runs = findScriptOptions(words, parser, /^(?:-[a-z]*c|--(?:session-)?command)(?:=(.*))?$/s);
  return runs.length > 0 ? runs : [createHiddenRun(words.length)];
};

/** Finds the scripts in the values of an option. */
function findScriptOptions(
  words: readonly ShellWord[],
  parser: ShellParser,
  option: RegExp,
): readonly InnerRun[] {
  return words.flatMap(({ value }, at) => {
    const found = value === null ? null : option.exec(value);
    if (found === null) return [];
    const [, text] = found;
    const next = text === undefined ? words[at + 1] : createLiteralWord(text);
    return [parseScriptRun(at, [next], parser)];
  });
}

/** Creates the run of `env -S`, which takes a full command line as one word, in a syntax that is not parsed. */
export const findEnvRuns: InnerRunFinder = (words) =>
  words.flatMap(({ value }, at) =>
    value !== null && /^(?:-[A-Za-z0]*S|--split-string)/.test(value) ? [createHiddenRun(at)] : [],
  );

/** The maximum number of words before the arguments of parallel that are examined. */
const MAX_WORDS = 50;

/**
 * Finds the commands of `parallel COMMAND ::: ARGUMENTS`. A shell runs each command, or each argument if there is no
 * command.
 */
const findParallelRuns: InnerRunFinder = (words, parser) => {
  const start = words.findIndex(({ value }) => value?.startsWith(':::') === true);
  const own = start < 0 ? words : words.slice(0, start);
  const first = own.findIndex(({ value }) => value === null || !value.startsWith('-'));
  if (own.length > MAX_WORDS) return [createHiddenRun(words.length)];
  if (first >= 0) {
    // Values of options may come before the command, so the command can start at any word.
    const possible = own
      .slice(first)
      .map((_, index) => parseScriptRun(first, own.slice(first + index), parser));
    // With -q the words are not parsed by a shell.
    const asWords = own.slice(first).map((_, index) => createCommand(own.slice(first + index)));
    const commands = [...possible.flatMap((run) => run.commands), ...asWords];
    const isHidden = possible.some(({ visible }) => visible === 'none');
    const withArguments = commands.map(makeOpenEnded);
    return [
      { index: words.length - 1, commands: withArguments, visible: isHidden ? 'none' : 'some' },
    ];
  }
  if (start < 0) return [createHiddenRun(words.length)];
  return words
    .slice(start + 1)
    .map((word, index) => parseScriptRun(start + 1 + index, [word], parser));
};

/** Finds the scripts of programs for which each word that is not an option is a text for a shell. */
const findWordRuns: InnerRunFinder = (words, parser) =>
  words.flatMap((word, at) =>
    word.value?.startsWith('-') === true
      ? []
      : [{ ...parseScriptRun(at, [word], parser), visible: 'some' }],
  );

/** Creates the run of programs that always run their standard input. */
const findStdinRuns: InnerRunFinder = (words) => [createHiddenRun(words.length)];

export const SHELL_RUN_FINDERS = mapByName<InnerRunFinder>({
  'sh, bash, dash, zsh, ksh, ash, fish, mksh': findShellRuns,
  eval: findEvalBuiltinRuns,
  trap: findTrapRuns,
  'source, .': findSourceRuns,
  'su, runuser, script, sg': findSuRuns,
  parallel: findParallelRuns,
  'hyperfine, concurrently': findWordRuns,
  'at, batch': findStdinRuns,
});
