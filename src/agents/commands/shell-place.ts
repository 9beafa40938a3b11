import { lazy } from '../../base/lazy.ts';

/** A shell part around the place of an argument. */
export interface ShellPlace {
  /** The command up to the argument, with a NUL character in the place of each earlier argument. */
  readonly before: string;
  /** The command with `$ARGUMENT` in the place of every argument. */
  readonly command: string;
}

/** The quotation marks in which a place of a shell command stands. */
export type Quotation = 'none' | 'single' | 'double' | 'unclear';

/** Programs and words of the shell that run a part of their arguments or of their input as code. */
const INTERPRETERS = (
  'sh bash rbash dash ash zsh ksh mksh fish csh tcsh pwsh powershell busybox toybox nu ' +
  'eval source trap alias bind complete compgen mapfile readarray enable fc ' +
  'let declare typeset local export readonly unset read ' +
  'awk gawk mawk nawk sed gsed ed ex vi vim nvim emacs perl raku python pypy ruby irb node nodejs deno bun tsx ts-node ' +
  'php lua luajit tclsh wish expect rscript julia osascript groovy jshell ghci erl elixir guile racket sbcl ' +
  'psql mysql sqlite3 gdb lldb m4 dc gnuplot octave make gmake npx bunx ' +
  'ssh mosh su sudo doas pkexec run0 xargs parallel watch entr hyperfine script flock tmux screen at batch crontab'
)
  .split(' ')
  .join('|');

const INTERPRETER = lazy(
  () => new RegExp(String.raw`(?<![\w.@%+:=-])(?:${INTERPRETERS})[\d.]*(?![\w/=.:-])`, 'i'),
);
/** Matches `. FILE`, which runs a file as `source` does. */
const DOT_COMMAND = /(?:^|[\s;&|(])\.[ \t]/;
/** Matches arithmetic and the places that bash evaluates as arithmetic, such as the index of an array. */
const ARITHMETIC = /\(\(|\[/;
/** Matches a command whose program the shell or an argument decides. */
const CHOSEN_PROGRAM =
  /(?:^|[;&|({\n!])[ \t]*(?:(?:then|do|else|elif|if|while|until|time|exec|command|builtin|env|nohup|nice)[ \t]+)*(?:\w+=[^\s$(]*[ \t]+)*[^\s;&|()={!]*[$`]/;
/** Matches an option right before a place that takes code in many programs, as `-c` does in shells. */
const CODE_OPTION =
  /(?:^|\s)(?:-[ce]|--?(?:eval|exec|execute|command|cmd|code|run|script)|-execdir|-ok(?:dir)?)(?:=|[ \t]+)$/i;
/** Matches the options of `test` and `printf` that take the name of a variable, which may have an index. */
const VARIABLE_OPTION = /\s-[vR]/;

/**
 * Describes, as the rest of a sentence, why a shell may take an argument at a place as code although it is quoted there.
 * Returns null if it cannot. A command that does not follow the simple rules counts as one that may.
 */
export function findCodePlace({ before, command }: ShellPlace): string | null {
  const quotation = findQuotation(before);
  if (quotation === 'unclear') return 'where its quotation marks are not clear';
  if (quotation !== 'none') return 'inside quotation marks';
  // Quotation marks and backslashes do not change which program runs.
  const bare = command.replaceAll(/["'\\]/g, '');
  if (ARITHMETIC.test(bare)) return 'in a command with arithmetic or brackets';
  const interpreter = INTERPRETER().exec(bare)?.[0] ?? DOT_COMMAND.exec(bare)?.[0].trim();
  if (interpreter !== undefined) return `in a command with ${interpreter}, which may run it`;
  if (CHOSEN_PROGRAM.test(bare)) return 'in a command whose program is not written in the file';
  if (CODE_OPTION.test(before)) return 'behind an option that often takes code';
  const isVariable = VARIABLE_OPTION.test(bare) && /\b(?:test|printf)\b/.test(bare);
  return isVariable ? 'in a command that takes the name of a variable' : null;
}

/** Matches syntax after which the quotation marks of a command do not follow the simple rules of `findQuotation`. */
const UNCLEAR = /`|<<|\$'|\$"|\$\{|\$\(\(|(?:^|[\s;&|()])#/;

/** Finds out in which quotation marks the end of a part of a shell command stands. */
export function findQuotation(before: string): Quotation {
  if (UNCLEAR.test(before)) return 'unclear';
  let state: 'none' | 'single' | 'double' = 'none';
  for (let at = 0; at < before.length; at += 1) {
    const char = before[at];
    if (char === '\\' && state !== 'single') {
      // A backslash at the end would escape the first character of the argument.
      if (at === before.length - 1) return 'unclear';
      at += 1;
    } else if (char === "'" && state !== 'double') state = state === 'none' ? 'single' : 'none';
    else if (char === '"' && state !== 'single') state = state === 'none' ? 'double' : 'none';
    // A command inside double quotation marks has quotation marks of its own.
    else if (char === '$' && before[at + 1] === '(' && state === 'double') return 'unclear';
  }
  return state;
}

/** Matches what separates the words of a command. */
const SEPARATOR = /[\s;|&()<>]/;
/** Matches `--` as the last word, apart from arguments. */
const AFTER_DASHES = /\s--[ \t]+(?:\0+[ \t]+)*$/;

/**
 * Tells whether an argument that begins with `-` would be an option at an unquoted place. It would not inside of a word, and
 * behind `--`. Between `--` and the place only arguments may stand: in `env -- git log`, the `--` belongs to another program.
 */
export function isOptionPlace({ before }: Pick<ShellPlace, 'before'>): boolean {
  if (AFTER_DASHES.test(before)) return false;
  const word = before.split(SEPARATOR).at(-1) ?? '';
  // Quotation marks, arguments and variables can be empty.
  return /[$`{}]/.test(word) || word.replaceAll(/["'\0]/g, '') === '';
}
