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

/** `bash -c SCRIPT`. Without -c a shell runs a script file, whose content is not considered, or its standard input. */
const shellRuns: InnerRunFinder = (words, parser) => {
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
  if (operand === undefined) return [createHiddenRun(words.length)];
  return script === undefined ? [] : [parseScriptRun(script, [operand], parser)];
};

/** `eval` runs all its words together. `--` ends its options, of which there are none. */
const evalBuiltinRuns: InnerRunFinder = (words, parser) => {
  const start = words[0]?.value === '--' ? 1 : 0;
  return words.length === start ? [] : [parseScriptRun(start, words.slice(start), parser)];
};

/** `trap` runs its first word. */
const trapRuns: InnerRunFinder = (words, parser) =>
  evalBuiltinRuns(words.slice(0, words[0]?.value === '--' ? 2 : 1), parser);

/** `source FILE` runs the lines of a file, whose content is not considered. */
const sourceRuns: InnerRunFinder = (words) => (words.length === 0 ? [] : [createOpenRun(0)]);

/** `su -c SCRIPT`, with the option at any position. Without it, `su` runs a shell that reads its standard input. */
const suRuns: InnerRunFinder = (words, parser) => {
  const runs = findScriptOptions(words, parser, /^(?:-[a-z]*c|--(?:session-)?command)(?:=(.*))?$/s);
  return runs.length > 0 ? runs : [createHiddenRun(words.length)];
};

/** Finds the texts for a shell in the values of an option. */
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

/** `env -S` takes a full command line as one word, in a syntax of its own. */
export const envRuns: InnerRunFinder = (words) =>
  words.flatMap(({ value }, at) =>
    value !== null && /^(?:-[A-Za-z0]*S|--split-string)/.test(value) ? [createHiddenRun(at)] : [],
  );

/** The most words before the arguments of parallel that are examined. */
const MAX_WORDS = 50;

/** `parallel COMMAND ::: ARGUMENTS`. A shell gets each command, or each argument if there is no command. */
const parallelRuns: InnerRunFinder = (words, parser) => {
  const start = words.findIndex(({ value }) => value?.startsWith(':::') === true);
  const own = start < 0 ? words : words.slice(0, start);
  const first = own.findIndex(({ value }) => value === null || !value.startsWith('-'));
  if (own.length > MAX_WORDS) return [createHiddenRun(words.length)];
  if (first >= 0) {
    // Values of its options may stand before the command.
    const possible = own
      .slice(first)
      .map((_, index) => parseScriptRun(first, own.slice(first + index), parser));
    // With -q the words are passed on unchanged.
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

/** Each word that is no option is a text for the shell. */
const wordRuns: InnerRunFinder = (words, parser) =>
  words.flatMap((word, at) =>
    word.value?.startsWith('-') === true
      ? []
      : [{ ...parseScriptRun(at, [word], parser), visible: 'some' }],
  );

/** Programs that run their standard input, whatever their arguments are. */
const stdinRuns: InnerRunFinder = (words) => [createHiddenRun(words.length)];

export const SHELL_RUN_FINDERS = mapByName<InnerRunFinder>({
  'sh, bash, dash, zsh, ksh, ash, fish, mksh': shellRuns,
  eval: evalBuiltinRuns,
  trap: trapRuns,
  'source, .': sourceRuns,
  'su, runuser, script, sg': suRuns,
  parallel: parallelRuns,
  'hyperfine, concurrently': wordRuns,
  'at, batch': stdinRuns,
});
