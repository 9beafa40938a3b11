import { execFileSync, spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { parseCommandBody } from '../../../src/agents/commands/parse-body.ts';
import { expandCommand } from '../../../src/agents/commands/expand.ts';
import { quoteShellText, quoteTypedArgument } from '../../../src/agents/commands/shell-argument.ts';
import type { CommandSyntax } from '../../../src/protocol/slash-command.ts';
import { commandWith, expanded } from './support.ts';

describe('the placeholders of Claude Code', () => {
  it.each([
    ['Fix $ARGUMENTS now', '12 "high up"', ['text: Fix 12 "high up" now']],
    ['Review $1 for $2', 'a.ts "dead code"', ['text: Review a.ts for dead code']],
    ['Review $1 for $2', 'a.ts', ['text: Review a.ts for ']],
    ['From $0 to $1', 'a b', ['text: From a to b']],
    ['First $ARGUMENTS[0], then $ARGUMENTS[1]', 'a b', ['text: First a, then b']],
    ['It costs $100 and \\$1', 'x', ['text: It costs $100 and $1', 'text: \n\nARGUMENTS: x']],
    ['Do it', '', ['text: Do it']],
    ['Do it', 'well', ['text: Do it', 'text: \n\nARGUMENTS: well']],
    ['Status: !`git status`.', '', ['text: Status: ', 'shell: git status', 'text: .']],
    ['KEY=!`date`', '', ['text: KEY=!`date`']],
    ['```!\ngit status\ngit diff\n```', '', ['shell: git status\ngit diff']],
    ['!`gh pr view $1`', '12', ['shell: gh pr view 12']],
    ['!`npm test $ARGUMENTS`', 'a "b c"', ["shell: npm test a 'b c'"]],
    ['Run ${CLAUDE_PLUGIN_ROOT}/x', '', ['text: Run ${CLAUDE_PLUGIN_ROOT}/x']],
  ])('%j with %j', (body, args, parts) => {
    expect(expanded(body, args)).toEqual(parts);
  });

  it('name arguments and the directory of the plugin', () => {
    expect(
      expanded('Move $from to $to; !`${CLAUDE_PLUGIN_ROOT}/go $to`', 'a "b c"', {
        argumentNames: ['from', 'to'],
        pluginDirectory: '/my plugins/git',
      }),
    ).toEqual(['text: Move a to b c; ', "shell: '/my plugins/git'/go 'b c'"]);
  });
});

describe('the placeholders of opencode', () => {
  it.each([
    ['Create $ARGUMENTS', 'a b', ['text: Create a b']],
    ['In $1 write $2', 'src a long text', ['text: In src write a long text']],
    ['Test', 'all of it', ['text: Test', 'text: \n\nall of it']],
    ['Now:!`git log`', '', ['text: Now:', 'shell: git log']],
  ])('%j with %j', (body, args, parts) => {
    expect(expanded(body, args, { syntax: 'opencode' })).toEqual(parts);
  });
});

describe('the placeholders of Gemini CLI', () => {
  it.each([
    ['Fix: {{args}}.', '"It is bent"', ['text: Fix: "It is bent".']],
    ['!{grep -r {{args}} .}', "It's hard", ["shell: grep -r 'It'\\''s hard' ."]],
    [
      '!{echo "{}" | jq .} and @{docs/a b.md}',
      '',
      ['shell: echo "{}" | jq .', 'text:  and ', 'file: docs/a b.md'],
    ],
    ['Open !{echo', '', ['text: Open !{echo']],
    ['Log', '1.2 added', ['text: Log', 'text: \n\n/review 1.2 added']],
    ['Costs $1', '', ['text: Costs $1']],
  ])('%j with %j', (body, args, parts) => {
    expect(expanded(body, args, { syntax: 'gemini' })).toEqual(parts);
  });
});

describe('the placeholders of Codex', () => {
  it.each([
    ['Fix #$ARGUMENTS', '123 "very high"', ['text: Fix #123 very high']],
    ['Review #$1 with $2', '456 high', ['text: Review #456 with high']],
    ['Pay $$ for $1', 'x', ['text: Pay $$ for x']],
    [
      'Files: $FILES. Title: $TITLE',
      'TITLE="My PR" FILES=a.ts',
      ['text: Files: a.ts. Title: My PR'],
    ],
    ['Files: $FILES', '', ['it needs FILES: type FILES=…']],
    [
      'Files: $FILES',
      'a.ts',
      ['it takes its arguments by name, and "a.ts" names none of them: FILES=…'],
    ],
    ['Not run: !`date`', '', ['text: Not run: !`date`']],
  ])('%j with %j', (body, args, parts) => {
    expect(expanded(body, args, { syntax: 'codex' })).toEqual(parts);
  });
});

it.each([
  ['claude', '```!\n'],
  ['claude', '!`a '],
  ['opencode', '!`'],
  ['gemini', '!{'],
  ['gemini', '{{args'],
  ['codex', '$$$A'],
] as const)('reads a hostile text of %s that repeats %j', (syntax, text) => {
  // With more than linear time, this would not end within the limit of a test.
  const body = text.repeat(300_000);
  expect(parseCommandBody(commandWith(body, { syntax })).length).toBeGreaterThan(0);
});

it('takes an inner shell part of Gemini CLI as part of the outer one', () => {
  expect(expanded('!{echo !{a}} !{b', '', { syntax: 'gemini' })).toEqual([
    'shell: echo !{a}',
    'text:  !{b',
  ]);
});

const SYNTAXES: readonly CommandSyntax[] = ['claude', 'opencode', 'gemini', 'codex'];
/** A text with a placeholder for everything that is typed, by product. */
const BODIES = {
  claude: 'Say $ARGUMENTS',
  opencode: 'Say $ARGUMENTS',
  gemini: 'Say {{args}}',
  codex: 'Say $1',
} as const;

/** Texts that mean something in at least one of the products or in a shell. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom('$ARGUMENTS', '$1', '{{args}}', '!`id`', '!{id}', '@{a}', '$(id)', '`id`'),
      fc.constantFrom(
        "'",
        '"',
        '\\',
        ';',
        '&&',
        '|',
        '$HOME',
        '\n',
        '#',
        '${IFS}',
        '<<E',
        '{',
        '}',
      ),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

test('what is typed is never a placeholder, a shell part or a file', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(...SYNTAXES), (args, syntax) => {
      const expansion = expandCommand(commandWith(BODIES[syntax], { syntax }), args);
      if (!expansion.ok) throw new Error(expansion.problem);
      expect(expansion.parts.every(({ kind }) => kind === 'text')).toBe(true);
      // Codex has one word of it, and the others have all of it, unchanged.
      if (syntax !== 'codex') {
        expect(expansion.parts.map(({ text }) => text).join('')).toBe(`Say ${args}`);
      }
    }),
  );
});

/** Commands with a place for an argument, in which the shell prints the argument and nothing else. */
const PLACES = [
  ['printf %s ', ''],
  ["printf %s '", "'"],
  ['printf %s "', '"'],
  ['printf %s "a"b', ''],
  ['true; printf %s "it\'s"\'"\'', ''],
  ['x=$(printf %s ', '); printf %s "$x"'],
] as const;

test('a shell takes an argument as text at every place where it is quoted', () => {
  const argument = hostile.filter((text) => !text.includes('\0') && text.isWellFormed());
  fc.assert(
    fc.property(argument, fc.constantFrom(...PLACES), (text, [before, after]) => {
      const quoted = quoteShellText(text, before);
      if (quoted === null) throw new Error(`not quoted: ${text}`);
      const typed = quoteTypedArgument(text, { before, command: `${before}$ARGUMENT${after}` });
      const isOption = text.startsWith('-') && before.endsWith(' ');
      if (isOption) expect(typed).toMatchObject({ ok: false, refused: 'option' });
      else if (!/['"]$/.test(before)) expect(typed).toEqual({ ok: true, text: quoted });
      const print = (line: string): string =>
        execFileSync('/bin/bash', ['--norc', '-c', line], { encoding: 'utf8', env: {} });
      const empty = print(`${before}${after}`);
      // The shell removes newlines at the end of what a command prints.
      const expected = before.startsWith('x=') ? text.replace(/\n+$/, '') : `${empty}${text}`;
      expect(print(`${before}${quoted}${after}`)).toBe(expected);
    }),
    { numRuns: 25 },
  );
});

it.each([
  ['echo `cat ', ''],
  ['cat <<E\n', '\nE'],
  ["echo $'", "'"],
  ['echo "$(cat ', ')"'],
  ['echo "$(cat "', '")"'],
  ['echo ${x:-', '}'],
  ["# it's\necho ", ''],
  ['echo $', ''],
])('refuses an argument that needs quotation marks after %j', (before, after) => {
  expect(expanded(`\`\`\`!\n${before}$1${after}\n\`\`\``, '"a b"')).toEqual([
    expect.stringContaining('cannot be quoted safely'),
  ]);
});

it.each([
  ['bash -c "echo $1"', 'inside quotation marks'],
  ["sh -c 'echo $ARGUMENTS'", 'inside quotation marks'],
  ["awk '{print $1}'", 'inside quotation marks'],
  ['eval echo $ARGUMENTS', 'in a command with eval, which may run it'],
  ['/bin/b"as"h -c $1', 'in a command with bash, which may run it'],
  ['echo $1 | python3.12 -', 'in a command with python3.12, which may run it'],
  ['. $1', 'in a command with ., which may run it'],
  ['let $1', 'in a command with let, which may run it'],
  ['(( $1 > 0 ))', 'in a command with arithmetic or brackets'],
  ['[[ $1 -eq 1 ]]', 'in a command with arithmetic or brackets'],
  ['for ((i=0;i<$1;i++)); do :; done', 'in a command with arithmetic or brackets'],
  ['echo $[ $1 ]', 'in a command with arithmetic or brackets'],
  ['a[$1]=1', 'in a command with arithmetic or brackets'],
  ['test -v $1', 'in a command that takes the name of a variable'],
  ['$SHELL -c $1', 'in a command whose program is not written in the file'],
  ['true; A=b $1', 'in a command whose program is not written in the file'],
  ['mytool -c "$1"', 'inside quotation marks'],
  ['mytool -c $1', 'behind an option that often takes code'],
  ['git -c $1 log', 'behind an option that often takes code'],
  ['mytool --eval=$1', 'behind an option that often takes code'],
  ['fd -exec $1', 'behind an option that often takes code'],
])('accepts only a harmless argument in %j', (line, place) => {
  const body = `\`\`\`!\n${line}\n\`\`\``;
  for (const word of ['a[$(id)]', 'x; id', '-c', 'x=1']) {
    expect(expanded(body, `'${word}'`)).toEqual([
      expect.stringContaining(`has the argument ${JSON.stringify(word)} ${place}, and it cannot`),
    ]);
  }
  expect(expanded(body, 'src/a-b.ts')).toEqual([
    `shell: ${line.replace(/\$(?:1|ARGUMENTS)/, 'src/a-b.ts')}`,
  ]);
});

it.each([
  'git push origin $1',
  'gh pr view $1 --json title',
  'x=$(git log $1) && echo "$x"',
  'npm test $1',
  'cat docs/node/$1 | grep -v x',
])('quotes an argument in %j', (line) => {
  expect(expanded(`\`\`\`!\n${line}\n\`\`\``, '"a; b"')).toEqual([
    `shell: ${line.replace('$1', "'a; b'")}`,
  ]);
});

it.each([
  ['git log $1', '--output=x'],
  ['git log $ARGUMENTS', 'main --output=x'],
  ['git log src/$ARGUMENTS', 'a --output=x'],
  ['git log --$ARGUMENTS', 'all --output=x'],
  ["git log ''$1", '--output=x'],
  ['git log "" $1', '-p'],
  ['git log $1$2', '"" -p'],
  ['git log $NONE$1', '-p'],
  ['true -- x; git log $1', '-p'],
  ['x=$(cat -- a) git log $1', '-p'],
  ['env -- git log $1', '-p'],
  ["printf ' -- ' $1", '-v'],
  ['git log -- a $1', '-p'],
  ['git diff -- $1 -- x $2', 'a -p'],
  ['sort <$1', '-p'],
  ['cat $1', '-'],
])('refuses an argument as an option in %j with %j', (line, args) => {
  expect(expanded(`\`\`\`!\n${line}\n\`\`\``, args)).toEqual([
    expect.stringMatching(/ has the argument "-[^"]*" where it would be an option\. Type an /),
  ]);
});

it.each([
  ['git log -- $1', '-p', 'git log -- -p'],
  ['git log -- $1 $2', 'a -p', 'git log -- a -p'],
  ['npm test -- $ARGUMENTS', '--watch "a b"', "npm test -- --watch 'a b'"],
  ['git log src/$1', '-p', 'git log src/-p'],
  ['git log --author=$1', '-p', 'git log --author=-p'],
  ["git log 'a b'$1", '-p', "git log 'a b'-p"],
])('takes an argument that begins with - in %j with %j', (line, args, expected) => {
  expect(expanded(`\`\`\`!\n${line}\n\`\`\``, args)).toEqual([`shell: ${expected}`]);
});

test('git never takes a typed argument as an option', () => {
  const option = fc.constantFrom('--output=out', '-p', '--', '-', '--ext-diff', '-oout');
  const text = fc.constantFrom('a', 'a b', 'x;y', '$(id)');
  const template = fc
    .array(fc.constantFrom('git log', ' ', '$1', "''", 'src/', '-- ', '; ', '"a"', '$2', '$X'), {
      maxLength: 6,
    })
    .map((parts) => `git log ${parts.join('')}`);
  fc.assert(
    fc.property(template, fc.array(fc.oneof(option, text), { maxLength: 3 }), (line, words) => {
      const args = words.map((word) => `'${word}'`).join(' ');
      const [result = ''] = expanded(`\`\`\`!\n${line}\n\`\`\``, args);
      if (!result.startsWith('shell: ')) return;
      const print = `git() { printf '%s\\n' "$@"; echo .; }; src/() { :; }; ${result.slice(7)}`;
      const run = spawnSync('/bin/bash', ['--norc', '-c', print], { encoding: 'utf8', env: {} });
      for (const call of run.stdout.split('.\n')) {
        const given = call.split('\n').slice(1);
        const end = given.indexOf('--');
        const options = given.slice(0, end === -1 ? undefined : end);
        expect(options.filter((word) => /^-./.test(word))).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});

test('an empty argument can stand in quotation marks', () => {
  expect(expanded('!{echo "{{args}}"}', '', { syntax: 'gemini' })).toEqual(['shell: echo ""']);
});

it.each(['{', '!', ';', '\n', 'a=', 'exec ', '[', "'", 'sh', ' . ', ' ', ' -- ', ' -c ', '\0 '])(
  'reads a hostile shell part that repeats %j',
  (text) => {
    // With more than linear time, this would not end within the limit of a test.
    const hostile = text.repeat(300_000);
    for (const argument of ['a b', '-a'])
      for (const before of ['echo ', `${hostile} `, ` -- ${hostile}a `])
        expect(quoteTypedArgument(argument, { before, command: hostile }).ok).toBeTypeOf('boolean');
  },
);

test('an argument without special characters can stand anywhere', () => {
  expect(expanded('!`echo "$(cat $1)"`', 'src/a.ts')).toEqual(['shell: echo "$(cat src/a.ts)"']);
});
