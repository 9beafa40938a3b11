import { describe, expect, test } from 'vitest';
import { proveReadOnly } from '../../../../src/policy/shell/read-only/prove.ts';
import type { CommandRead } from '../../../../src/policy/shell/read-only/proof.ts';
import { parseShellLine } from '../../../../src/policy/shell/parse-line.ts';
import { EVERYDAY } from './everyday.ts';
import { NASTY } from './nasty.ts';

const prove = (line: string) => proveReadOnly(line, parseShellLine);

test('the commands that agents use to look around are proved', () => {
  expect(EVERYDAY.length).toBeGreaterThanOrEqual(250);
  const refused = EVERYDAY.flatMap((line) => {
    const proof = prove(line);
    return proof.proven ? [] : [{ line, reason: proof.reason }];
  });
  expect(refused).toEqual([]);
});

test('no command that runs, writes or reveals more than it says is proved', () => {
  expect(NASTY.filter((line) => prove(line).proven)).toEqual([]);
});

test('no nasty command is proved after, before or inside a harmless one', () => {
  const around = (line: string): readonly string[] => [
    `ls; ${line}`,
    `${line}\nls`,
    `echo "$(\n${line}\n)"`,
    `if true; then\n${line}\nfi`,
  ];
  // With a word before it, each of these says something else.
  const isWhole = (line: string): boolean => !/^cd\b|^\[\[ a$|<<|^if true$|^!!|["'(`{]$/.test(line);
  const proved = NASTY.filter(isWhole)
    .flatMap(around)
    .filter((line) => prove(line).proven);
  expect(proved).toEqual([]);
});

describe('the paths that are read', () => {
  const itself = (...paths: string[]): CommandRead[] =>
    paths.map((path) => ({ path, below: 'itself' }));
  const contents = (path: string): CommandRead => ({ path, below: 'contents' });
  const followed = (path: string): CommandRead => ({ path, below: 'followed' });
  const names = (path: string): CommandRead => ({ path, below: 'names' });
  const tracked = (path: string): CommandRead => ({ path, below: 'tracked' });
  const whole: CommandRead = { path: '.', below: 'tracked', topOf: '.' };

  test.each<[string, readonly CommandRead[]]>([
    ['cat a "b c" /d ~/e', itself('a', 'b c', '/d', '~/e')],
    ["cat '~/x' \\~", itself('./~/x', './~')],
    ['cat -- -n', itself('-n')],
    ['cat - /dev/null', []],
    ['cat < a', itself('a')],
    ['ls', itself('.')],
    ['ls -R a', [names('a')]],
    ['grep x a', itself('a')],
    ['grep -e x a', itself('a')],
    ['grep -e x -- a', itself('a')],
    ['grep -rn x', [contents('.')]],
    ['grep a -r b', [contents('b')]],
    ['rg x', [contents('.')]],
    ['rg -e x a b', [contents('a'), contents('b')]],
    ['rg --files a', [names('a')]],
    ['find a b -name x', [names('a'), names('b')]],
    ['find -newer a', [names('.'), ...itself('a')]],
    ['diff a b', [followed('a'), followed('b')]],
    ['diff <(cat a) b', [followed('b'), ...itself('a')]],
    ['date -r a', itself('a')],
    ['realpath --relative-to=a b', itself('b', 'a')],
    ['[ -f a ] && [[ b -nt c ]]', itself('a', 'b', 'c')],
    ['[ a = b ]', []],
    ['echo "$(cat a)"', itself('a')],
    ['cd a && cat b ~/c /d', itself('a', 'a/b', '~/c', '/d')],
    ['cd ../a && ls', itself('../a', '../a')],
    ['git status', itself('.')],
    ['git diff', [whole]],
    ['git diff --stat', itself('.')],
    ['git diff --stat -p', [whole]],
    ['git diff -- a', [...itself('.'), tracked('a')]],
    ['git diff a', [whole, tracked('a')]],
    ['git log a', itself('.', 'a')],
    ['git log -p -- a', [...itself('.'), tracked('a')]],
    ["git show HEAD -- ':!a'", [whole, tracked('HEAD')]],
    ['git log -L 1,2:a', [whole, ...itself('./a')]],
    [
      'git show HEAD:a/b',
      [...itself('.'), { path: './a/b', below: 'tracked', topOf: '.' }, ...itself('HEAD:a/b')],
    ],
    ['git show HEAD:./b', [...itself('.'), tracked('./b'), ...itself('HEAD:./b')]],
    ["git diff -- '*.ts'", [...itself('.'), whole]],
    ['git -C a diff', [{ ...whole, topOf: 'a' }]],
    ['cd b && git -C a diff', [...itself('b'), { ...whole, topOf: 'b/a' }]],
    ['git grep x', [whole]],
    ['git grep -e x -- a', [...itself('.'), tracked('a')]],
  ])('%s', (line, reads) => {
    const proof = prove(line);
    expect(proof.proven ? proof.reads : proof).toEqual(reads);
  });
});

test('a proof names the programs that are looked up on PATH, and where git runs', () => {
  expect(prove('ls; /bin/cat a; echo x | grep x; git -C b log; command -v node')).toEqual({
    proven: true,
    reads: ['.', 'a', 'b'].map((path) => ({ path, below: 'itself' })),
    programs: ['ls', 'grep', 'git'],
    repositories: ['b'],
  });
});

test.each([
  ['sed -n 1p a', '`sed` is not among the programs that surely only read'],
  ['sort -o x', '`-o` is not among the options that surely only read'],
  ['ls *', 'only the running shell knows what "*" stands for'],
  ['ls > x', 'it writes to `x`'],
  ['git branch x', 'without --list git would create `x`'],
  ['f() { ls; }', 'it defines a function'],
  ['X=1 ls', 'it sets a variable'],
  ['', 'it runs no command'],
  [`cat ${'a '.repeat(9000)}`, 'it is longer than 16384 characters'],
  ['ls;'.repeat(201), 'it has more than 200 commands'],
])('%j: %s', (line, reason) => {
  expect(prove(line.slice(0, 20_000))).toEqual({ proven: false, reason });
});
