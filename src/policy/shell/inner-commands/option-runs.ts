import { mapByName } from '../name-table.ts';
import { isOption, parseOptionTable, splitOption, takesNextWord } from '../options/option-table.ts';
import type { OptionTable } from '../options/option-table.ts';
import { createLiteralWord, type ShellParser, type ShellWord } from '../parsed-line.ts';
import {
  canBeOption,
  createOpenRun,
  parseCodeRun,
  parseScriptRun,
  type InnerRun,
} from './inner-run.ts';

/** The options of a program whose values the program runs. */
export interface ExecutingOptions {
  /** The names of the options, with their dashes. Beginnings of long options match, too. */
  readonly executing: readonly string[];
  /** True if the value is a command line, or code in the language of the program. */
  readonly value: 'script' | 'code';
  /**
   * Set if the options of the program end at the first operand: all its options, in the syntax of `parseOptionTable`.
   */
  readonly options?: string;
  /** If set, only values that match are run. For a script, the first group is the part that runs. */
  readonly only?: RegExp;
  /** True if the program runs its standard input when it has no operand. */
  readonly readsStdin?: true;
  /** True if the first word may consist of option letters without a dash: `tar cIf PROGRAM FILE`. */
  readonly hasOldBundles?: true;
}

/** Describes options whose values a shell runs. `names` are separated by blanks. */
function script(names: string): ExecutingOptions {
  return { executing: names.split(' '), value: 'script' };
}

/** Describes options whose values are code for the program. `names` are separated by blanks. */
function code(names: string): ExecutingOptions {
  return { executing: names.split(' '), value: 'code' };
}

const PYTHON: ExecutingOptions = {
  ...code('-c'),
  options:
    '-bBdEhiIOPqRsSuvVx -W= -X= -c= -m= --help --version --help-all --help-env --help-xoptions --check-hash-based-pycs=',
  readsStdin: true,
};
const NODE: ExecutingOptions = {
  ...code('-e -p -pe --eval --print'),
  options:
    '-chivp -e= -r= -C= --check --eval= --print= --help --version --interactive --require= --import= --loader= --experimental-loader= --input-type= --env-file= --conditions= --inspect[=] --inspect-brk[=] --test --watch --no-warnings --trace-warnings --enable-source-maps --expose-gc --experimental-strip-types --max-old-space-size= --stack-size=',
  readsStdin: true,
};
/** The options for modules, whose value can be an address that contains code. */
const NODE_IMPORT: ExecutingOptions = {
  ...code('--import --loader --experimental-loader'),
  only: /^\s*data:/i,
};
const PERL: ExecutingOptions = {
  ...code('-e -E'),
  options:
    '-acfnpstTuUvVwWX -e= -E= -I= -M[=] -m[=] -i[=] -l[=] -0[=] -F[=] -C[=] -D[=] -d[=] -x[=]',
  readsStdin: true,
};
const APT: ExecutingOptions = {
  ...script('-o --option'),
  only: /^[\w:-]*(?:invoke|install-pkgs|dir::bin)[\w:-]*=(.*)$/is,
};
const SSH: ExecutingOptions = {
  ...script('-o'),
  only: /^\s*(?:proxycommand|localcommand|knownhostscommand|proxyusefdpass)[\s=]+(.*)$/is,
};
const TAR: readonly ExecutingOptions[] = [
  {
    ...script(
      '-I -F --use-compress-program --to-command --info-script --new-volume-script --rmt-command --rsh-command',
    ),
    hasOldBundles: true,
  },
  { ...script('--checkpoint-action'), only: /^exec=(.*)$/s },
];

/** The options whose values programs run, by the name of the program. */
const EXECUTING_OPTIONS = mapByName<readonly ExecutingOptions[]>({
  'tar, gtar, bsdtar': TAR,
  rsync: [script('-e --rsh --rsync-path')],
  'scp, sftp': [script('-S -D'), SSH],
  ssh: [SSH],
  sort: [script('--compress-program')],
  split: [script('--filter')],
  rg: [script('--pre --hostname-bin')],
  man: [script('-P -H --pager --html')],
  zip: [script('-TT --unzip-command')],
  less: [code('+')],
  wget: [
    script('--use-askpass'),
    { ...script('-e --execute'), only: /^\s*use_?askpass\s*=(.*)$/is },
  ],
  'ag, ack, bat, batcat': [script('--pager')],
  'apt, apt-get': [APT],
  dpkg: [script('--pre-invoke --post-invoke')],
  install: [script('--strip-program')],
  cpio: [script('--rsh-command')],
  tcpdump: [script('-z')],
  helm: [script('--post-renderer')],
  ansible: [script('-a --args')],
  vagrant: [script('-c --command')],
  'gcloud, just': [script('--command')],
  go: [script('-exec -toolexec -vettool')],
  'make, gmake, octave': [code('--eval')],
  nodemon: [script('-x --exec')],
  nc: [script('-e -c')],
  ncat: [script('-e -c --exec --sh-exec')],
  'mapfile, readarray, compgen, complete': [script('-C')],
  hyperfine: [script('-p -c -s --prepare --cleanup --setup --conclude')],
  'npm, pnpm': [script('--script-shell')],
  'cargo, hg': [code('--config')],
  'nix-shell': [script('--run --command')],
  gdb: [code('-ex -x --args -iex --command --eval-command --init-eval-command')],
  lldb: [code('-o -O -s -S --one-line --source')],
  'expect, ipython': [code('-c')],
  'ts-node': [code('-e -p --eval --print')],
  'R, gnuplot, scala, Rscript, osascript, groovy': [code('-e')],
  clojure: [code('-e --eval')],
  emacs: [code('-f -l --eval --execute --load --funcall')],
  'vim, vi, nvim, view, ex, gvim, vimdiff': [code('-c --cmd -S -s -W +')],
  'python, pypy': [PYTHON],
  'node, nodejs': [NODE, NODE_IMPORT],
  tsx: [NODE],
  perl: [PERL],
  ruby: [
    {
      ...PERL,
      options: '-acnpsSvwyW -e= -E= -I= -r= -C= -i[=] -l -0[=] -F[=] -x[=] --version --help',
    },
  ],
  php: [
    {
      ...code('-r -B -R -E'),
      options: '-aCHilmnqsvw -r= -B= -R= -E= -F= -f= -c= -d= -z= -t= -S=',
    },
  ],
  lua: [{ ...code('-e'), options: '-iEvW -e= -l=', readsStdin: true }],
  bun: [
    {
      ...code('-e -p --eval --print'),
      options:
        '-biv -c= -e= -p= -r= --cwd= --config= --eval= --print= --bun --watch --hot --silent --env-file=',
    },
  ],
  julia: [code('-e -E --eval --print')],
  elixir: [code('-e --eval --rpc-eval')],
  erl: [code('-eval')],
  pwsh: [code('-c -Command -EncodedCommand -e -ec --command')],
});

/**
 * Removes the version from the name of a program: `python3.12` becomes `python`. Names of known programs are not
 * changed.
 */
export function stripVersion(program: string): string {
  return EXECUTING_OPTIONS.has(program) ? program : program.replace(/(?<=[A-Za-z])[\d.]+$/, '');
}

export function hasExecutingOptions(program: string): boolean {
  return EXECUTING_OPTIONS.has(stripVersion(program));
}

/** Returns all options of an interpreter before its first operand, in the syntax of `parseOptionTable`. */
export function findOptionSyntax(program: string): string | undefined {
  return EXECUTING_OPTIONS.get(stripVersion(program))?.[0]?.options;
}

/** Finds the commands that a program runs because of its options. */
export function findOptionRuns(
  program: string,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly InnerRun[] {
  return (EXECUTING_OPTIONS.get(stripVersion(program)) ?? []).flatMap((each) =>
    findRunsOfOptions(each, words, parser),
  );
}

function findRunsOfOptions(
  program: ExecutingOptions,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly InnerRun[] {
  const { end, hasNoOperand } =
    program.options === undefined
      ? { end: words.length, hasNoOperand: false }
      : findOptionsEnd(words, parseOptionTable(program.options), program);
  const runs = words.slice(0, end).flatMap((word, at) => {
    if (word.value === null) return canBeOption(word) ? [createOpenRun(at)] : [];
    if (at === 0 && isOldOptionBundle(word.value, program)) return [createOpenRun(at)];
    const found = findOptionValue(word.value, program);
    if (found === undefined) return [];
    const value = found === '' ? words[at + 1] : createLiteralWord(found);
    return createValueRun(program, { at, value, parser });
  });
  const stdin = program.readsStdin === true && hasNoOperand ? [createOpenRun(words.length)] : [];
  return [...runs, ...stdin];
}

function createValueRun(
  { value: kind, only }: ExecutingOptions,
  {
    at,
    value,
    parser,
  }: { readonly at: number; readonly value: ShellWord | undefined; readonly parser: ShellParser },
): readonly InnerRun[] {
  if (kind === 'code') {
    const isOther =
      only !== undefined && typeof value?.value === 'string' && !only.test(value.value);
    return isOther ? [] : [parseCodeRun(at, value, parser)];
  }
  if (value === undefined || value.value === null) return [createOpenRun(at)];
  const text = only === undefined ? value.value : only.exec(value.value)?.[1];
  return text === undefined ? [] : [parseScriptRun(at, [createLiteralWord(text)], parser)];
}

/**
 * Tells whether a word consists of option letters without a dash, whose values follow in order: `tar cIf PROGRAM FILE`.
 */
function isOldOptionBundle(word: string, { executing, hasOldBundles }: ExecutingOptions): boolean {
  const letters = hasOldBundles === true && /^[A-Za-z]+$/.test(word) ? word : '';
  return executing.some((option) => option.length === 2 && letters.includes(option.charAt(1)));
}

/**
 * Finds the value that a word gives to an executing option; an empty text if the value is the next word. Returns
 * undefined if the word is not such an option.
 */
function findOptionValue(word: string, { executing }: ExecutingOptions): string | undefined {
  for (const option of executing) {
    if (option === '+' && word.startsWith('+')) return word.slice(1) || ' ';
    if (word === option) return '';
    if (option.startsWith('--')) {
      const [name = '', ...value] = word.split('=');
      // Programs accept the first letters of a long option.
      const isMatch = name.length > 3 && option.startsWith(name);
      if (isMatch) return value.join('=');
    } else if (option.length === 2 && /^-[A-Za-z]/.test(word)) {
      const at = word.indexOf(option.charAt(1), 1);
      if (at > 0 && !/=/.test(word.slice(0, at))) return word.slice(at + 1);
    } else if (option.length > 2) {
      // Long options with one dash, such as those of go, can also be written with two dashes.
      const plain = word.startsWith('--') ? word.slice(1) : word;
      if (plain === option) return '';
      if (plain.startsWith(`${option}=`)) return plain.slice(option.length + 1);
    }
  }
  return undefined;
}

/** Matches options with which a program does not run its standard input although it has no operand. */
const SUFFICIENT_OPTION = /^(?:-[vVh]|--version|--help|--test)$/;

/**
 * Finds the index at which the options end: the first operand, or the number of words if an option is unknown.
 * `hasNoOperand` is true if the program has no operand and therefore runs its standard input.
 */
function findOptionsEnd(
  words: readonly ShellWord[],
  table: OptionTable,
  { executing }: ExecutingOptions,
): { readonly end: number; readonly hasNoOperand: boolean } {
  let at = 0;
  let hasNoOperand = true;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) return { end: canBeOption(word) ? words.length : at, hasNoOperand: false };
    if (!isOption(value) || value === '--')
      return { end: at, hasNoOperand: hasNoOperand && value === '-' };
    const option = splitOption(value, table);
    if (!option.isKnown) return { end: words.length, hasNoOperand: false };
    const { flags, name } = option;
    if (name === '-m' && takesNextWord({ ...option, attachedValue: null })) {
      return { end: at, hasNoOperand: false };
    }
    hasNoOperand &&= ![...flags, name].some(
      (each) => executing.includes(each) || SUFFICIENT_OPTION.test(each),
    );
    at += takesNextWord(option) ? 2 : 1;
  }
  return { end: at, hasNoOperand };
}
