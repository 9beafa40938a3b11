import { describe, expect, test } from 'vitest';
import type { PermissionRule } from '../../src/protocol/permission.ts';
import { findDeniedPaths } from '../../src/policy/denied-paths.ts';
import { addAbsoluteRules } from '../../src/policy/rules/absolute-rules.ts';
import { HOME, ROOT, rules, type RuleTexts } from './support.ts';

const OTHER = '/srv/other';

function places(texts: RuleTexts, roots: readonly string[] = [ROOT]) {
  return findDeniedPaths({ rules: rules(texts), roots }, { home: HOME });
}

describe('the paths that a pattern names', () => {
  test.each([
    ['hidden/**', [`${ROOT}/hidden`]],
    ['hidden/*', [`${ROOT}/hidden`]],
    ['hidden/', [`${ROOT}/hidden`]],
    ['hidden/**/*', [`${ROOT}/hidden`]],
    ['secret', [`${ROOT}/secret`]],
    ['**/secret', [`${ROOT}/secret`]],
    ['./a.txt', [`${ROOT}/a.txt`]],
    ['a/b/c.txt', [`${ROOT}/a/b/c.txt`]],
    ['a b.txt  ', [`${ROOT}/a b.txt`]],
    ['//abs/dir', ['/abs/dir']],
    ['//abs/dir/**', ['/abs/dir']],
    ['/abs/dir', ['/abs/dir', `${ROOT}/abs/dir`]],
    ['~/x/**', [`${HOME}/x`]],
    [String.raw`\[id\]/page.ts`, [`${ROOT}/[id]/page.ts`]],
    [String.raw`a\\b`, [String.raw`${ROOT}/a\b`]],
    ['*.txt', []],
    ['src/*.ts', []],
    ['src/*/x', []],
    ['a?', []],
    ['[ab]/x', []],
    [String.raw`\\*`, []],
  ])('%s', (pattern, expected) => {
    expect(places({ deny: [`Read(${pattern})`] })).toEqual({ hidden: expected, readOnly: [] });
    expect(places({ deny: [`Edit(${pattern})`] })).toEqual({ hidden: [], readOnly: expected });
  });

  test('exist in each root, except for patterns that start at the working directory', () => {
    const texts = { deny: ['Read(hidden/**)', 'Read(./here)', 'Read(name)'] };
    expect(places(texts, [ROOT, OTHER]).hidden).toEqual([
      `${OTHER}/hidden`,
      `${OTHER}/name`,
      `${ROOT}/here`,
      `${ROOT}/hidden`,
      `${ROOT}/name`,
    ]);
  });

  test('are the same for a child with other roots', () => {
    const given = rules({ deny: ['Read(name)', 'Read(hidden/**)', 'Edit(a*b)'] });
    const deny = addAbsoluteRules(given.deny, [ROOT]);
    const of = findDeniedPaths(
      { rules: { ...given, deny }, roots: [`${ROOT}/sub`] },
      { home: HOME },
    );
    expect(of.hidden).toEqual(expect.arrayContaining([`${ROOT}/hidden`, `${ROOT}/name`]));
    expect(of.readOnly).toEqual([]);
  });
});

test('a rule that asks denies no path once it was answered, but a deny rule with the same text still does', () => {
  const given = rules({ deny: ['Read(b)'], ask: ['Read(a)', 'Read(b)', 'Edit(a)'] });
  const hiddenAfter = (answered: PermissionRule | undefined) =>
    findDeniedPaths({ rules: given, roots: [ROOT] }, { home: HOME, answered });
  expect(given.ask.map(hiddenAfter)).toEqual([
    { hidden: [`${ROOT}/b`], readOnly: [`${ROOT}/a`] },
    { hidden: [`${ROOT}/a`, `${ROOT}/b`], readOnly: [`${ROOT}/a`] },
    { hidden: [`${ROOT}/a`, `${ROOT}/b`], readOnly: [] },
  ]);
});

describe('the rules that deny a path', () => {
  test.each<[string, RuleTexts, ReturnType<typeof places>]>([
    ['none', { allow: ['Read(a)', 'Edit(b)', 'Bash'] }, { hidden: [], readOnly: [] }],
    [
      'all reads, all changes, and questions about them',
      {
        deny: ['LS(a)', 'Glob(b)', 'Grep(c)', 'Write(d)', 'MultiEdit(e)', 'Bash(cat f)'],
        ask: ['Read(a)', 'Read(g)', 'Edit(h)', 'WebFetch(domain:i)'],
      },
      {
        hidden: ['a', 'b', 'c', 'g'].map((name) => `${ROOT}/${name}`),
        readOnly: ['d', 'e', 'h'].map((name) => `${ROOT}/${name}`),
      },
    ],
    ['every change', { deny: ['Edit'] }, { hidden: [], readOnly: [ROOT] }],
    ['every new file', { deny: ['Write(*)'] }, { hidden: [], readOnly: [ROOT] }],
    ['every change here', { deny: ['Edit(./**)'] }, { hidden: [], readOnly: [ROOT] }],
    ['every change anywhere', { deny: ['Edit(//**)'] }, { hidden: [], readOnly: ['/'] }],
    ['a question about every change', { ask: ['Edit', 'Write'] }, { hidden: [], readOnly: [] }],
    [
      'every read, by whatever pattern',
      { deny: ['Read', 'Read(**)', 'Read(./**)', 'Read(//**)'] },
      { hidden: [], readOnly: [] },
    ],
  ])('%s', (_, texts, expected) => {
    expect(places(texts)).toEqual(expected);
  });
});
