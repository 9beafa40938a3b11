import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { codeRuns, runLines, Highlighter } from '../../../../src/front/tui/view/highlighter.ts';
import { Pen } from '../../../../src/front/tui/view/pen.ts';
import { PLAIN, themeFor } from '../../../../src/front/tui/view/theme.ts';
import { Stage } from '../stage.ts';

/** One that has loaded what it needs. */
async function loaded(): Promise<Highlighter> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const highlighter = new Highlighter({
    onLoaded: resolve,
    onFailed: (why) => reject(new Error(why)),
  });
  expect(highlighter.runs('let a', 'js')).toBe(null);
  expect(highlighter.isLoaded).toBe(false);
  await promise;
  return highlighter;
}

it('code has roles once the grammars are loaded', async () => {
  const highlighter = await loaded();
  expect(highlighter.runs('const a = "<b>&"; // 1', 'ts')).toEqual([
    { role: 'keyword', text: 'const' },
    { role: 'text', text: ' a = ' },
    { role: 'string', text: '"<b>&"' },
    { role: 'text', text: '; ' },
    { role: 'dim', text: '// 1' },
  ]);
});

it.each([
  ['a language that nobody knows', 'x', 'brainfog'],
  ['no language', 'x', ''],
  ['a name that objects have', 'x', 'constructor'],
  ['a long line', 'x'.repeat(301), 'js'],
  ['much code', 'x\n'.repeat(5_000), 'js'],
])('%s has no roles', async (_what, code, language) => {
  expect((await loaded()).runs(code, language)).toBe(null);
});

const HOSTILE = fc.string({
  unit: fc.constantFrom(
    '<',
    '>',
    '&',
    '"',
    "'",
    '`',
    '$',
    '{',
    '}',
    '\n',
    '/',
    '*',
    'a',
    '&lt;',
    '</span>',
    '<span class="hljs-string">',
    '日',
    '\u0301',
    '👩‍👧',
    '⟨U+202E⟩',
  ),
  maxLength: 60,
});

it('the runs add up to the code, whatever it holds', async () => {
  const highlighter = await loaded();
  fc.assert(
    fc.property(
      HOSTILE,
      fc.constantFrom('ts', 'html', 'php', 'bash', 'md', 'diff'),
      (code, language) => {
        const runs = highlighter.runs(code, language);
        expect(runs?.map(({ text }) => text).join('')).toBe(code);
        const lines = runLines(runs ?? []).map((line) => line.map(({ text }) => text).join(''));
        expect(lines).toEqual(code.split('\n'));
      },
    ),
  );
});

it('runs that would not add up to the code are not used', () => {
  expect(codeRuns('<span class="hljs-keyword">let</span> b', 'let a')).toBe(null);
  expect(codeRuns('a<span class="hljs-string">b', 'ab')).toEqual([
    { role: 'text', text: 'a' },
    { role: 'string', text: 'b' },
  ]);
});

it('code is drawn in colors, and without them while it grows', async () => {
  const pen = new Pen(themeFor({}), await loaded());
  expect(pen.code('let a\n/* b\nc */', 'js', { isOpen: false })).toEqual([
    '\u001b[35mlet\u001b[0m a',
    '\u001b[2m/* b\u001b[0m',
    '\u001b[2mc */\u001b[0m',
  ]);
  expect(pen.code('let a', 'js', { isOpen: true })).toEqual(['\u001b[33mlet a\u001b[0m']);
});

it('nothing is loaded for a theme without colors', () => {
  const asked: string[] = [];
  const reader = {
    isLoaded: false,
    runs: (code: string) => {
      asked.push(code);
      return null;
    },
  };
  expect(new Pen(PLAIN, reader).code('let a', 'js', { isOpen: false })).toEqual(['let a']);
  expect(asked).toEqual([]);
});

it('code of an earlier answer is colored once the grammars are loaded', async () => {
  await using stage = new Stage();
  await stage.say('Show me');
  stage.answer('mainmain', 'Here:\n\n```ts\nexport const a = 1;\n```');
  expect(await stage.screen()).toContain('export const a = 1;');
  while (!stage.emulator.written.includes('\u001b[35mexport\u001b[0m')) await stage.screen();
});
