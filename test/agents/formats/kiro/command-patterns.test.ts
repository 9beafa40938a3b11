import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  patternsOfGlob,
  patternsOfRegex,
} from '../../../../src/agents/formats/kiro/command-patterns.ts';
import { couldCommandMatch, readCommandLine } from '../../../../src/policy/rules/command-rules.ts';
import { loadShellParser } from '../../../../src/policy/shell/load-parser.ts';

describe('a regular expression as the specifiers of rules', () => {
  test.each([
    ['git push', ['git push']],
    ['git push .*', ['git push *']],
    ['git push.*', ['git push*']],
    ['^rm -rf /$', ['rm -rf /']],
    ['\\Anpm\\s+publish\\z', ['npm publish']],
    ['sudo .*|doas .*', ['sudo *', 'doas *']],
    ['(rm|mv) .*', ['rm *', 'mv *']],
    ['.*(rm|mv).*', ['*rm*', '*mv*']],
    ['git (?:push|pull)', ['git push', 'git pull']],
    ['node\\.js', ['node.js']],
    ['node.js', ['node*js']],
    ['a+b', ['a*b']],
    ['ab?c', ['a*c']],
    ['ab{2,3}c', ['a*c']],
    ['git\\s*push', ['git*push']],
    ['[rm]m x', ['*m x']],
    ['[^]]m', ['*m']],
    ['[[:alpha:]]m', ['*m']],
    ['chmod \\d+ x', ['chmod * x']],
    ['(a(b|c))d', ['*d']],
    ['echo \\(x\\)', ['echo *x*']],
    ['(?=x)y', ['y']],
    ['git push *', ['git push*']],
    ['.*', undefined],
    ['', undefined],
    ['(?!ls).*', undefined],
    ['(?i)rm', undefined],
    ['\\x72m', undefined],
    ['\\p{L}', undefined],
    ['x'.repeat(501), undefined],
    ['(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)', undefined],
  ])('%s', (regex, expected) => {
    expect(patternsOfRegex(regex)).toEqual(expected);
  });

  const piece = fc.constantFrom(
    'git',
    'rm',
    ' ',
    '-f',
    '.',
    '.*',
    '\\s+',
    '(a|b)',
    '(?:x|yz)?',
    '[a-c]',
    'a+',
    'b*',
    '\\.',
    '|',
    '^',
    '\\w',
  );
  const words = fc.array(fc.constantFrom('git', 'rm', '-f', 'a', 'b', 'x', 'yz', 'aab', 'rm.x'), {
    minLength: 1,
    maxLength: 4,
  });

  test('means at least every command that the expression matches', async () => {
    const parser = await loadShellParser();
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), words, (pieces, command) => {
        const line = command.join(' ');
        const source = pieces.join('');
        fc.pre(isValid(source) && new RegExp(`^(?:${source})$`).test(line));
        const patterns = patternsOfRegex(source);
        const read = readCommandLine(line, parser);
        expect(patterns?.some((pattern) => couldCommandMatch(pattern, read)) ?? true).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'([{|*+?\\^$)]}a .') })),
        (source) => {
          for (const pattern of patternsOfRegex(source) ?? patternsOfGlob(source) ?? []) {
            expect(pattern).toMatch(/[^\s:*]/);
            expect(pattern).not.toMatch(/[()\\]|\p{Cc}/u);
          }
        },
      ),
    );
  });
});

test.each([
  ['rm *', ['rm *']],
  ['git push', ['git push']],
  ['rm ?[ab]', ['rm *']],
  ['*', undefined],
])('the glob %s', (glob, expected) => {
  expect(patternsOfGlob(glob)).toEqual(expected);
});

function isValid(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}
