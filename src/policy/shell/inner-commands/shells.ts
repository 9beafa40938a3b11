import type { ShellParser, ShellWord } from '../parsed-line.ts';
import {
  createCommand,
  createHiddenRun,
  createLiteralWord,
  createOpenRun,
  parseScriptRun,
  makeOpenEnded,
} from './inner-run.ts';
import type { InnerRunFinder, InnerRun } from './inner-run.ts';

/** `bash -c SCRIPT`; without it a script file, which is not looked into, or whatever comes on stdin. */
const shell: InnerRunFinder = (words, parser) => {
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

/** All words together, as `eval` reads them; `--` ends the options, of which there are none. */
const joined: InnerRunFinder = (words, parser) => {
  const start = words[0]?.value === '--' ? 1 : 0;
  return words.length === start ? [] : [parseScriptRun(start, words.slice(start), parser)];
};

/** The first word is a text for the shell, as of `trap`. */
const firstWord: InnerRunFinder = (words, parser) =>
  joined(words.slice(0, words[0]?.value === '--' ? 2 : 1), parser);

/** A file whose lines the shell runs itself. What it holds is not looked into. */
const sourced: InnerRunFinder = (words) => (words.length === 0 ? [] : [createOpenRun(0)]);

/** `su -c SCRIPT`, wherever it stands; without one, a shell that reads from stdin. */
const otherUser: InnerRunFinder = (words, parser) => {
  const runs = scriptOptions(words, parser, /^(?:-[a-z]*c|--(?:session-)?command)(?:=(.*))?$/s);
  return runs.length > 0 ? runs : [createHiddenRun(words.length)];
};

/** `script -c SCRIPT`; without one it starts a shell that reads from stdin. */
function scriptOptions(
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

/** `env -S` takes a whole command line as one word, in a syntax of its own. */
export const envRuns: InnerRunFinder = (words) =>
  words.flatMap(({ value }, at) =>
    value !== null && /^(?:-[A-Za-z0]*S|--split-string)/.test(value) ? [createHiddenRun(at)] : [],
  );

/** More words than these before its arguments are not looked into. */
const MAX_WORDS = 50;

/** `parallel COMMAND ::: ARGUMENTS`; a shell gets each command, and without one each argument. */
const parallel: InnerRunFinder = (words, parser) => {
  const start = words.findIndex(({ value }) => value?.startsWith(':::') === true);
  const own = start < 0 ? words : words.slice(0, start);
  const first = own.findIndex(({ value }) => value === null || !value.startsWith('-'));
  if (own.length > MAX_WORDS) return [createHiddenRun(words.length)];
  if (first >= 0) {
    // The values of its options may stand before the command.
    const possible = own
      .slice(first)
      .map((_, index) => parseScriptRun(first, own.slice(first + index), parser));
    // With -q it passes the words on as they are.
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
const eachWord: InnerRunFinder = (words, parser) =>
  words.flatMap((word, at) =>
    word.value?.startsWith('-') === true
      ? []
      : [{ ...parseScriptRun(at, [word], parser), visible: 'some' }],
  );

/** Programs that run what comes on stdin, whatever their arguments are. */
const fromStdin: InnerRunFinder = (words) => [createHiddenRun(words.length)];

export const SHELL_RUN_FINDERS: ReadonlyMap<string, InnerRunFinder> = new Map<
  string,
  InnerRunFinder
>([
  ...['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'fish', 'mksh'].map(
    (name) => [name, shell] as const,
  ),
  ['eval', joined],
  ['trap', firstWord],
  ['source', sourced],
  ['.', sourced],
  ['su', otherUser],
  ['runuser', otherUser],
  ['script', otherUser],
  ['sg', otherUser],
  ['parallel', parallel],
  ['hyperfine', eachWord],
  ['concurrently', eachWord],
  ['at', fromStdin],
  ['batch', fromStdin],
]);
