import { isOption, optionTable, splitOption, takesNextWord } from '../options/option-table.ts';
import type { OptionTable } from '../options/option-table.ts';
import { lazy } from '../../base/lazy.ts';
import type { ShellParser, ShellWord } from '../shell-parser.ts';
import { codeRun, literalWord, mayBeOption, openRun, scriptRun } from './told-run.ts';
import type { ToldRun } from './told-run.ts';

/** A program with options whose value it runs. */
interface TellingProgram {
  /** These options, with their dashes. Long ones are also known by their first letters. */
  readonly tells: readonly string[];
  /** Whether the value is a command line, or code in a language of the program. */
  readonly value: 'script' | 'code';
  /** Where the options end with the first operand: all of them, as `optionTable` spells them. */
  readonly options?: string;
  /** Only values that match this are run: the group is the part that is. */
  readonly only?: RegExp;
  /** Whether without an operand it runs what comes on stdin. */
  readonly readsStdin?: true;
  /** Whether the first word may be letters of options without a dash. */
  readonly hasOldBundles?: true;
}

const PYTHON: TellingProgram = {
  tells: ['-c'],
  value: 'code',
  options:
    '-bBdEhiIOPqRsSuvVx -W= -X= -c= -m= --help --version --help-all --help-env --help-xoptions --check-hash-based-pycs=',
  readsStdin: true,
};
const NODE: TellingProgram = {
  tells: ['-e', '-p', '-pe', '--eval', '--print'],
  value: 'code',
  options:
    '-chivp -e= -r= -C= --check --eval= --print= --help --version --interactive --require= --import= --loader= --experimental-loader= --input-type= --env-file= --conditions= --inspect[=] --inspect-brk[=] --test --watch --no-warnings --trace-warnings --enable-source-maps --expose-gc --experimental-strip-types --max-old-space-size= --stack-size=',
  readsStdin: true,
};
const PERL: TellingProgram = {
  tells: ['-e', '-E'],
  value: 'code',
  options:
    '-acfnpstTuUvVwWX -e= -E= -I= -M[=] -m[=] -i[=] -l[=] -0[=] -F[=] -C[=] -D[=] -d[=] -x[=]',
  readsStdin: true,
};
const VIM: TellingProgram = { tells: ['-c', '--cmd', '-S', '-s', '-W', '+'], value: 'code' };
const SSH_OPTION =
  /^\s*(?:proxycommand|localcommand|knownhostscommand|proxyusefdpass)[\s=]+(.*)$/is;
const REMOTE_COPY: TellingProgram = { tells: ['-S', '-D'], value: 'script' };

const PROGRAMS: ReadonlyMap<string, readonly TellingProgram[]> = new Map<
  string,
  readonly TellingProgram[]
>([
  [
    'tar',
    [
      {
        tells: [
          '-I',
          '-F',
          '--use-compress-program',
          '--to-command',
          '--info-script',
          '--new-volume-script',
          '--rmt-command',
          '--rsh-command',
        ],
        value: 'script',
        hasOldBundles: true,
      },
      { tells: ['--checkpoint-action'], value: 'script', only: /^exec=(.*)$/s },
    ],
  ],
  ['rsync', [{ tells: ['-e', '--rsh', '--rsync-path'], value: 'script' }]],
  ['scp', [REMOTE_COPY, { tells: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['sftp', [REMOTE_COPY, { tells: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['ssh', [{ tells: ['-o'], value: 'script', only: SSH_OPTION }]],
  ['sort', [{ tells: ['--compress-program'], value: 'script' }]],
  ['split', [{ tells: ['--filter'], value: 'script' }]],
  ['rg', [{ tells: ['--pre', '--hostname-bin'], value: 'script' }]],
  ['man', [{ tells: ['-P', '-H', '--pager', '--html'], value: 'script' }]],
  ['zip', [{ tells: ['-TT', '--unzip-command'], value: 'script' }]],
  ['less', [{ tells: ['+'], value: 'code' }]],
  ['wget', [{ tells: ['--use-askpass'], value: 'script' }]],
  [
    'hyperfine',
    [
      {
        tells: ['-p', '-c', '-s', '--prepare', '--cleanup', '--setup', '--conclude'],
        value: 'script',
      },
    ],
  ],
  ['npm', [{ tells: ['--script-shell'], value: 'script' }]],
  ['pnpm', [{ tells: ['--script-shell'], value: 'script' }]],
  ['cargo', [{ tells: ['--config'], value: 'code' }]],
  ['hg', [{ tells: ['--config'], value: 'code' }]],
  ['nix', [{ tells: ['-c', '--command'], value: 'script' }]],
  ['nix-shell', [{ tells: ['--run', '--command'], value: 'script' }]],
  ['gdb', [{ tells: ['-ex', '-x', '--args', '-iex'], value: 'code' }]],
  ['emacs', [{ tells: ['-f', '-l', '--eval', '--execute', '--load', '--funcall'], value: 'code' }]],
  ...['vim', 'vi', 'nvim', 'view', 'ex', 'gvim', 'vimdiff'].map((name) => [name, [VIM]] as const),
  ['python', [PYTHON]],
  ['pypy', [PYTHON]],
  ['node', [NODE]],
  ['nodejs', [NODE]],
  ['tsx', [{ ...NODE, readsStdin: true }]],
  ['perl', [PERL]],
  [
    'ruby',
    [
      {
        ...PERL,
        options: '-acnpsSvwyW -e= -E= -I= -r= -C= -i[=] -l -0[=] -F[=] -x[=] --version --help',
      },
    ],
  ],
  [
    'php',
    [
      {
        tells: ['-r', '-B', '-R', '-E'],
        value: 'code',
        options: '-aCHilmnqsvw -r= -B= -R= -E= -F= -f= -c= -d= -z= -t= -S=',
      },
    ],
  ],
  ['lua', [{ tells: ['-e'], value: 'code', options: '-iEvW -e= -l=', readsStdin: true }]],
  [
    'bun',
    [
      {
        tells: ['-e', '-p', '--eval', '--print'],
        value: 'code',
        options:
          '-biv -c= -e= -p= -r= --cwd= --config= --eval= --print= --bun --watch --hot --silent --env-file=',
      },
    ],
  ],
  ['Rscript', [{ tells: ['-e'], value: 'code' }]],
  ['julia', [{ tells: ['-e', '-E', '--eval', '--print'], value: 'code' }]],
  ['elixir', [{ tells: ['-e', '--eval', '--rpc-eval'], value: 'code' }]],
  ['erl', [{ tells: ['-eval'], value: 'code' }]],
  ['osascript', [{ tells: ['-e'], value: 'code' }]],
  ['groovy', [{ tells: ['-e'], value: 'code' }]],
  [
    'pwsh',
    [{ tells: ['-c', '-Command', '-EncodedCommand', '-e', '-ec', '--command'], value: 'code' }],
  ],
]);

const TABLES = lazy(
  () =>
    new Map(
      [...PROGRAMS.values()]
        .flat()
        .flatMap((each) =>
          each.options === undefined ? [] : [[each, optionTable(each.options)] as const],
        ),
    ),
);

/** `python3.12` is python. A name of digits and dots alone is its own. */
export function plainName(program: string): string {
  return PROGRAMS.has(program) ? program : program.replace(/(?<=[A-Za-z])[\d.]+$/, '');
}

export function isTelling(program: string): boolean {
  return PROGRAMS.has(plainName(program));
}

/** What a program is told to run by its options. */
export function optionRuns(
  program: string,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly ToldRun[] {
  return (PROGRAMS.get(plainName(program)) ?? []).flatMap((each) =>
    runsByOptions(each, words, parser),
  );
}

function runsByOptions(
  program: TellingProgram,
  words: readonly ShellWord[],
  parser: ShellParser,
): readonly ToldRun[] {
  const table = TABLES().get(program);
  const { end, isBare } =
    table === undefined ? { end: words.length, isBare: false } : optionsEnd(words, table, program);
  const runs = words.slice(0, end).flatMap((word, at) => {
    if (word.value === null) return mayBeOption(word) ? [openRun(at)] : [];
    if (at === 0 && isOldBundle(word.value, program)) return [openRun(at)];
    const found = toldBy(word.value, program);
    if (found === undefined) return [];
    const value = found === '' ? words[at + 1] : literalWord(found);
    return valueRun(program, { at, value, parser });
  });
  const stdin = program.readsStdin === true && isBare ? [openRun(words.length)] : [];
  return [...runs, ...stdin];
}

function valueRun(
  { value: kind, only }: TellingProgram,
  {
    at,
    value,
    parser,
  }: { readonly at: number; readonly value: ShellWord | undefined; readonly parser: ShellParser },
): readonly ToldRun[] {
  if (kind === 'code') return [codeRun(at, value, parser)];
  if (value === undefined || value.value === null) return [openRun(at)];
  const text = only === undefined ? value.value : only.exec(value.value)?.[1];
  return text === undefined ? [] : [scriptRun(at, [literalWord(text)], parser)];
}

/** `tar cIf PROGRAM FILE`: options without a dash, whose values follow in order. */
function isOldBundle(word: string, { tells, hasOldBundles }: TellingProgram): boolean {
  const letters = hasOldBundles === true && /^[A-Za-z]+$/.test(word) ? word : '';
  return tells.some((option) => option.length === 2 && letters.includes(option.charAt(1)));
}

/** The value that a word gives to a telling option, empty where it is the next word; undefined: it is none of them. */
function toldBy(word: string, { tells }: TellingProgram): string | undefined {
  for (const option of tells) {
    if (option === '+' && word.startsWith('+')) return word.slice(1) || ' ';
    if (word === option) return '';
    if (option.startsWith('--')) {
      const [name = '', ...value] = word.split('=');
      // Programs take the first letters of a long option for the whole.
      const isMeant = name.length > 3 && option.startsWith(name);
      if (isMeant) return value.join('=');
    } else if (option.length === 2 && /^-[A-Za-z]/.test(word)) {
      const at = word.indexOf(option.charAt(1), 1);
      if (at > 0 && !/=/.test(word.slice(0, at))) return word.slice(at + 1);
    }
  }
  return undefined;
}

/** Options with which a program does not read code from stdin, though it has no operand. */
const IS_ENOUGH = /^(?:-[vVh]|--version|--help|--test)$/;

/**
 * Where the options end: with the first operand, where each word before it is understood. `isBare`: there is none, so
 * that the program reads from stdin.
 */
function optionsEnd(
  words: readonly ShellWord[],
  table: OptionTable,
  { tells }: TellingProgram,
): { readonly end: number; readonly isBare: boolean } {
  let at = 0;
  let isBare = true;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const { value } = word;
    if (value === null) return { end: mayBeOption(word) ? words.length : at, isBare: false };
    if (!isOption(value) || value === '--') return { end: at, isBare: isBare && value === '-' };
    const option = splitOption(value, table);
    if (!option.isKnown) return { end: words.length, isBare: false };
    const { flags, name } = option;
    if (name === '-m' && takesNextWord({ ...option, attached: null })) {
      return { end: at, isBare: false };
    }
    isBare &&= ![...flags, name].some((each) => tells.includes(each) || IS_ENOUGH.test(each));
    at += takesNextWord(option) ? 2 : 1;
  }
  return { end: at, isBare };
}
