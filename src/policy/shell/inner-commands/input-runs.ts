import { mapByName } from '../name-table.ts';
import {
  createLiteralWord,
  type FedInput,
  type ShellParser,
  type ShellWord,
} from '../parsed-line.ts';
import { isOption, parseOptionTable, splitOption, takesNextWord } from '../options/option-table.ts';
import {
  createHiddenRun,
  createOpenRun,
  parseCodeRun,
  parseScriptRun,
  type InnerRun,
} from './inner-run.ts';
import { findOptionSyntax, stripVersion } from './option-runs.ts';
import { findSqlRuns } from './program-runs.ts';

/** The case in which a program runs its standard input, and the language of the input. */
interface InputReader {
  /**
   * `bare`: without an operand. `shell`: as `findShellRuns` finds out. `file`: if a word names the standard input as a file.
   * `always`: with any words. `no_command`: unless the words after it are certainly a command. `no_words`: if they name no
   * command at all.
   */
  readonly when: 'bare' | 'shell' | 'file' | 'always' | 'no_command' | 'no_words';
  readonly language: 'shell' | 'sql' | 'other';
  /** Options with which the standard input is not run. In the case `bare`, they come before the first operand. */
  readonly unless?: RegExp;
}

const INTERPRETER: InputReader = {
  when: 'bare',
  language: 'other',
  unless: /^(?:-[A-Za-z]*[eE]$|-c$|-Command$|--(?:eval|print)(?:=|$)|--version$|--help$)/,
};
const PYTHON: InputReader = {
  ...INTERPRETER,
  unless: /^(?:-[A-Za-z]*[cmVh]|--version$|--help)/,
};
const NODE: InputReader = {
  ...INTERPRETER,
  unless: /^(?:-[a-z]*[epvh]$|--(?:eval|print)(?:=|$)|--version$|--help$|--test$)/,
};

/** The programs that run their standard input. Programs that run commands from their arguments have other tables. */
const INPUT_READERS = mapByName<InputReader>({
  'sh, bash, dash, zsh, ksh, ash, mksh': { when: 'shell', language: 'shell' },
  fish: { when: 'shell', language: 'other' },
  'su, runuser, sg': {
    when: 'always',
    language: 'shell',
    unless: /^(?:-[a-z]*c|--(?:session-)?command)/,
  },
  'at, batch': { when: 'always', language: 'shell' },
  parallel: { when: 'no_words', language: 'shell' },
  'ssh, mosh, sudo, doas, pkexec, chroot, unshare, nsenter, fakeroot, proot, firejail, screen, script':
    { when: 'no_command', language: 'shell' },
  'python, pypy': PYTHON,
  'node, nodejs, tsx': NODE,
  'perl, ruby, php, lua, luajit, julia, elixir, iex, erl, pwsh, powershell, ts-node, R, Rscript':
    INTERPRETER,
  'scala, osascript, groovy, clojure, ipython, irb, tclsh, wish, expect, ghci, runghc, ocaml':
    INTERPRETER,
  'swipl, sbcl, guile, racket, octave, gnuplot, m4, dc': INTERPRETER,
  'ed, ex, vi, vim, nvim, emacs, gdb, lldb, ftp, sftp, lftp, smbclient, nix-shell': {
    when: 'always',
    language: 'other',
  },
  'sqlite, psql, mysql, mariadb': { when: 'always', language: 'sql' },
  'source, .': { when: 'file', language: 'shell' },
  'bun, deno, make, gmake, cmake, awk, gawk, mawk, nawk, sed, gsed, crontab, tmux, ansible-playbook':
    { when: 'file', language: 'other' },
  // The command that `uv run -` and similar wrappers run.
  '-': { when: 'always', language: 'other' },
});

/** Matches a word that names the standard input, or another input of the line, as a file. */
const INPUT_DEVICE = /\/dev\/(?:stdin|fd\/\d+)$|\/proc\/[^/]+\/fd\/\d+$/;

/** Matches a word that names the standard input by a dash, alone or as the value of an option. */
const DASH = /^(?:-[A-Za-z]|--?[\w-]+=)?-$/;

/**
 * Finds the run of the text that a line feeds to a program which runs its standard input. No rule for the program covers
 * such a run, so its index lies behind all words.
 *
 * @param runs the runs that the words of the program cause
 */
export function findInputRuns(
  {
    name,
    words,
    input,
  }: { readonly name: string; readonly words: readonly ShellWord[]; readonly input: FedInput },
  runs: readonly InnerRun[],
  parser: ShellParser,
): readonly InnerRun[] {
  const reader = INPUT_READERS.get(name) ?? INPUT_READERS.get(stripVersion(name));
  if (reader === undefined || !readsInput(reader, { name, words, runs })) return [];
  const at = Number.POSITIVE_INFINITY;
  const { text } = input;
  const code = createLiteralWord(text ?? '');
  if (reader.language === 'shell') {
    return [text === null ? createHiddenRun(at) : parseScriptRun(at, [code], parser)];
  }
  if (text === null) return [createOpenRun(at)];
  if (reader.language === 'other') return [parseCodeRun(at, code, parser)];
  const commands = findSqlRuns([code], parser);
  return commands.length === 0
    ? []
    : [
        createOpenRun(
          at,
          commands.flatMap((run) => run.commands),
        ),
      ];
}

/** A program with the words after it, and the runs that these words cause. */
interface FedProgram {
  readonly name: string;
  readonly words: readonly ShellWord[];
  readonly runs: readonly InnerRun[];
}

function readsInput(reader: InputReader, { name, words, runs }: FedProgram): boolean {
  const { when, unless } = reader;
  switch (when) {
    case 'always':
      return words.every(({ value }) => value === null || unless?.test(value) !== true);
    case 'file':
      return words.some(canBeInput);
    case 'no_words':
      return runs.every(({ commands }) => commands.length === 0);
    case 'no_command':
      return runs.every(({ commands, visible }) => commands.length === 0 || visible !== 'all');
    case 'shell':
      return (
        words.some(isInputDevice) ||
        runs.some(({ index, visible }) => visible === 'none' && index === words.length)
      );
    case 'bare':
      return words.some(isInputDevice) || readsWithoutOperand(reader, name, words);
  }
}

function canBeInput(word: ShellWord): boolean {
  return word.value === null || DASH.test(word.value) || isInputDevice(word);
}

function isInputDevice({ value, form }: ShellWord): boolean {
  return form === 'pipe' || (value !== null && INPUT_DEVICE.test(value));
}

/** Tells whether an interpreter has no operand, so that it runs its standard input, or whether that is not certain. */
function readsWithoutOperand(
  { unless }: InputReader,
  name: string,
  words: readonly ShellWord[],
): boolean {
  const table = parseOptionTable(findOptionSyntax(name) ?? '');
  let at = 0;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) return true;
    if (value === '--') {
      const operand = words[at + 1];
      return operand === undefined || canBeInput(operand);
    }
    if (!isOption(value)) return canBeInput(word);
    if (unless?.test(value) === true) return false;
    const option = splitOption(value, table);
    if (!option.isKnown) return true;
    at += takesNextWord(option) ? 2 : 1;
  }
  return true;
}
