import * as fc from 'fast-check';
import { EVERYDAY } from './everyday.ts';
import { NASTY } from './nasty.ts';

/** Pieces of shell grammar, with three programs that exist nowhere. No loop of them can go on for ever. */
const TOKENS = [
  ...['aa', 'bb', 'cc', 'aa', 'bb', 'cc', 'x', '1', '-v', '-eq', 'x=1', 'x+=1', '$x', '"$x"'],
  ...[' ', ' ', ' ', '\t', '\n', ';', ';', '&&', '||', '|', '|&', '&', '(', ')', '{ ', '; }'],
  ...['$(', ')', '`', '`', '"', '"', "'", "'", '\\', '\\\n', '${x', '${x:-', '${x/', '}', '}'],
  ...['<(', '>(', ')', '<<E\n', '\nE\n', '<<-E\n', "<<'E'\n", '<<<', '< x', '> x', '>> x', '2>&1'],
  ...['! ', '[[ ', ' ]]', '[ ', ' ]', '((', '))', '$((', '))', '$[', ']', ' == ', ' =~ '],
  ...[
    'if ',
    '; then ',
    '; else ',
    '; fi',
    'for x in ',
    '; do ',
    '; done',
    'case x in ',
    'x) ',
    ';;',
  ],
  ...[' esac', 'function ', '()', 'time ', 'time -p ', 'coproc ', '{a,b}', '*', '?', '[', '~'],
  ...['#', "$'", '$"', '$', '@(', '!(', 'aa() ', '{x}>', ',', '..', '=', '^', '%', '@'],
];

export const tokenLine: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 14 })
  .map((tokens) => tokens.join(''));

const PROGRAMS = [
  ...['ls', 'cat', 'head', 'tail', 'wc', 'stat', 'file', 'sort', 'uniq', 'cut', 'tr', 'nl', 'cmp'],
  ...[
    'diff',
    'comm',
    'column',
    'tac',
    'grep',
    'rg',
    'find',
    'date',
    'du',
    'df',
    'realpath',
    'echo',
  ],
  ...['readlink', 'basename', 'dirname', 'printf', 'test', 'md5sum', 'pwd', 'which', 'ps', 'id'],
  ...['git log', 'git diff', 'git show', 'git status', 'git branch', 'git tag', 'git grep', 'git'],
  ...['git ls-files', 'git blame', 'git rev-parse', 'git cat-file', 'git remote', 'git stash'],
  ...['git reflog', 'git worktree', 'git ls-tree', 'git describe', 'git show-ref', 'touch', 'rm'],
];
const LETTERS = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123'];
const LONG = [
  ...['--output=x', '--output', '--list', '--all', '--stat', '--recursive', '--color=always', '--'],
  ...['--name-only', '--format=%H', '--count', '--reverse', '--zero', '--compress-program=./x.sh'],
  ...['--files0-from=a.txt', '--pre=./x.sh', '--hidden', '--unique', '--delete', '--contains'],
];
const OPERANDS = [
  ...['a.txt', 'b.txt', 'src', 'src/main.ts', '.', 'x', 'new', '-', 'HEAD', 'HEAD~1', 'main', '1'],
  ...[
    'HEAD:a.txt',
    "'*.txt'",
    '-o',
    '-delete',
    '-name',
    '-exec',
    'touch',
    "';'",
    '-fprint',
    '-type',
  ],
  ...['f', '+%s', 'foo', '"$HOME"', '"with space.txt"', '~', ':!a.txt', '-print', '=', '-f', '-p'],
];
const JOINTS = [' | ', ' && ', '; ', ' || ', '\n', ' > /dev/null; ', ' 2>&1 | ', ' < a.txt | '];

const cluster = fc
  .array(fc.constantFrom(...LETTERS), { minLength: 1, maxLength: 2 })
  .map((letters) => `-${letters.join('')}`);
const word = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...OPERANDS) },
  { weight: 3, arbitrary: cluster },
  { weight: 1, arbitrary: fc.constantFrom(...LONG) },
);
const command = fc
  .record({ program: fc.constantFrom(...PROGRAMS), words: fc.array(word, { maxLength: 3 }) })
  .map(({ program, words }) => [program, ...words].join(' '));
const known = fc.constantFrom(...EVERYDAY, ...NASTY);
/** A known command with something more at its end. */
const longer = fc.record({ line: known, more: word }).map(({ line, more }) => `${line} ${more}`);
const joined = fc
  .record({ first: fc.oneof(command, known), joint: fc.constantFrom(...JOINTS), second: command })
  .map(({ first, joint, second }) => `${first}${joint}${second}`);

/** Command lines as an agent could write them, harmless ones and others. */
export const commandLine: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: command },
  { weight: 3, arbitrary: longer },
  { weight: 2, arbitrary: joined },
);
