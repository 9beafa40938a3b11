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
   * `bare`: without an operand. `file`: if a word names the standard input as a file. `always`: with any words.
   * `no_command`: unless the words after it are certainly a command. `no_words`: if they name no command at all.
   */
  readonly when: 'bare' | 'file' | 'always' | 'no_command' | 'no_words';
  readonly language: 'shell' | 'sql' | 'other';
  /** Options with which the standard input is not run. */
  readonly unless?: RegExp;
}

const SHELL: InputReader = {
  when: 'bare',
  language: 'shell',
  unless: /^(?:-[A-Za-z]*c|--version$|--help$)/,
};

/** The programs that run their standard input. Programs that run commands from their arguments have other tables. */
const INPUT_READERS = mapByName<InputReader>({
  'sh, bash, dash, zsh, ksh, ash, mksh': SHELL,
  fish: { ...SHELL, language: 'other' },
  'su, runuser, sg': {
    when: 'always',
    language: 'shell',
    unless: /^(?:-[a-z]*c|--(?:session-)?command)/,
  },
  'at, batch': { when: 'always', language: 'shell' },
  parallel: { when: 'no_words', language: 'shell' },
  'ssh, mosh, sudo, doas, pkexec, chroot, unshare, nsenter, fakeroot, proot, firejail, screen, script':
    {
      when: 'no_command',
      language: 'shell',
    },
  'python, pypy': {
    when: 'bare',
    language: 'other',
    unless: /^(?:-[A-Za-z]*[cmVh]|--version$|--help)/,
  },
  'node, nodejs, tsx': {
    when: 'bare',
    language: 'other',
    unless: /^(?:-[a-z]*[epvh]$|--(?:eval|print)(?:=|$)|--version$|--help$|--test$)/,
  },
  'perl, ruby': {
    when: 'bare',
    language: 'other',
    unless: /^(?:-[A-Za-z]*[eE]|--version$|--help$)/,
  },
  'php, lua, luajit, julia, elixir, iex, erl, pwsh, powershell, ts-node, R, Rscript, scala, osascript':
    { when: 'bare', language: 'other' },
  'groovy, clojure, ipython, irb, tclsh, wish, expect, ghci, runghc, ocaml, swipl, sbcl, guile': {
    when: 'bare',
    language: 'other',
  },
  'racket, octave, gnuplot, m4, dc': { when: 'bare', language: 'other' },
  'ed, ex, vi, vim, nvim, emacs, gdb, lldb, ftp, sftp, lftp, smbclient, nix-shell': {
    when: 'always',
    language: 'other',
  },
  'sqlite, psql, mysql, mariadb': { when: 'always', language: 'sql' },
  'source, .': { when: 'file', language: 'shell' },
  'bun, deno, make, gmake, awk, gawk, mawk, nawk, sed, gsed, crontab, tmux, ansible-playbook': {
    when: 'file',
    language: 'other',
  },
  // The command that `uv run -` and similar wrappers run.
  '-': { when: 'always', language: 'other' },
});

/** Matches a word that names the standard input as a file, alone or as the value of an option. */
const STANDARD_INPUT =
  /^(?:-[A-Za-z]|--?[\w-]+=)?-$|\/dev\/(?:stdin|fd\/\d+)$|\/proc\/[^/]+\/fd\/\d+$/;

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

function readsInput(
  { when, unless }: InputReader,
  {
    name,
    words,
    runs,
  }: {
    readonly name: string;
    readonly words: readonly ShellWord[];
    readonly runs: readonly InnerRun[];
  },
): boolean {
  if (words.some(({ value }) => value !== null && unless?.test(value) === true)) return false;
  switch (when) {
    case 'always':
      return true;
    case 'file':
      return words.some(canBeInput);
    case 'no_words':
      return runs.every(({ commands }) => commands.length === 0);
    case 'no_command':
      return runs.every(({ commands, visible }) => commands.length === 0 || visible !== 'all');
    case 'bare': {
      const operand = findOperand(name, words);
      return operand === null || canBeInput(operand);
    }
  }
}

function canBeInput({ value, form }: ShellWord): boolean {
  return form === 'pipe' || value === null || STANDARD_INPUT.test(value);
}

/** Returns the first operand of an interpreter; null if there is none, or if it is not certain which word it is. */
function findOperand(name: string, words: readonly ShellWord[]): ShellWord | null {
  const table = parseOptionTable(findOptionSyntax(name) ?? '');
  let at = 0;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) return word;
    if (value === '--') return words[at + 1] ?? null;
    if (!isOption(value)) return word;
    const option = splitOption(value, table);
    if (!option.isKnown) return null;
    at += takesNextWord(option) ? 2 : 1;
  }
  return null;
}
