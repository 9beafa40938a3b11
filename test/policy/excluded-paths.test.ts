import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { patternCouldMatchPath } from '../../src/policy/rules/path-pattern.ts';
import {
  createHardRuleCheck,
  createExclusionCheck,
  describeExclusions,
} from '../../src/policy/excluded-paths.ts';
import { HOME, ROOT, call, path, rights, type RuleTexts } from './support.ts';

function kept(texts: RuleTexts, tool: string, below = '', asked = below) {
  const searched = call(tool, 'read', { reads: [path(asked, below)] });
  const at = (part: string): string => (part === '' ? ROOT : `${ROOT}/${part}`);
  const directory = { asked: at(asked), real: at(below) };
  return createExclusionCheck(
    searched,
    { rights: rights('default', texts), home: HOME },
    directory,
  );
}

describe('the paths that are excluded from a call for a directory', () => {
  test('a rule for paths below a directory applies to a search of this directory', () => {
    const deny = kept({ deny: ['Read(secret/**)'] }, 'Grep');
    expect(deny?.('secret/a/b.txt')).toBe('deny rule `Read(secret/**)` (--deny)');
    expect(deny?.('Secret/a')).toBe('deny rule `Read(secret/**)` (--deny)');
    expect(deny?.('src/a.ts')).toBeUndefined();
    expect(kept({ deny: ['Read(secret/**)'] }, 'LS', 'src')?.('a')).toBeUndefined();
    expect(kept({ ask: ['Grep(*.key)'] }, 'Grep')?.('a/b.key')).toBe(
      'ask rule `Grep(*.key)` (--ask)',
    );
    expect(kept({ ask: ['Grep(*.key)'] }, 'Glob')).toBeNull();
    expect(kept({ deny: ['Read(private/)'] }, 'LS')?.('private/')).toMatch(/^deny rule/);
    expect(kept({ deny: ['Read(private/)'] }, 'Grep')?.('private/x')).toMatch(/^deny rule/);
    expect(kept({ deny: ['Read(private)'] }, 'Grep')?.('a/private/x')).toMatch(/^deny rule/);
    expect(kept({ deny: [`Read(/${ROOT}/x)`] }, 'LS')?.('x')).toMatch(/^deny rule/);
    expect(kept({ deny: ['Read(~/x)'] }, 'LS')?.('x')).toBeUndefined();
  });

  test('both the path that was asked for and the real path count', () => {
    const deny = kept({ deny: ['Read(alias/a)', 'Read(real/b)'] }, 'Grep', 'real', 'alias');
    expect(deny?.('a')).toMatch(/alias/);
    expect(deny?.('b')).toMatch(/real/);
    expect(deny?.('c')).toBeUndefined();
  });

  test('an ask rule that was answered for the call excludes nothing', () => {
    expect(kept({ ask: ['Read(secret/**)'] }, 'Grep', 'secret')).toBeNull();
    expect(kept({ ask: ['Read(secret/**)'] }, 'Grep')?.('secret/a')).toMatch(/^ask rule/);
  });

  test('rules without a path, rules for other tools and allow rules exclude nothing', () => {
    expect(
      kept({ deny: ['Bash(cat:*)', 'Write(x)'], allow: ['Read(secret/**)'] }, 'Grep'),
    ).toBeNull();
  });
});

test('calls to which other rules apply have other descriptions of their exclusions', () => {
  const describeFor = (texts: RuleTexts, tool = 'Grep', searched = 'src') => {
    const searching = call(tool, 'read', { reads: [path(searched, searched)] });
    return describeExclusions(searching, { rights: rights('default', texts), home: HOME });
  };
  const none = describeFor({});
  expect(describeFor({ ask: ['Bash(git push:*)'], deny: ['Write(x)'] })).toBe(none);
  const different = [
    none,
    describeFor({ deny: ['Read(secret/**)'] }),
    describeFor({ deny: ['Grep(secret/**)'] }),
    describeFor({ ask: ['Read(secret/**)'] }),
    describeFor({ deny: ['Read(secret/**)', 'Read(other/**)'] }),
  ];
  expect(new Set(different).size).toBe(different.length);
  // A rule for another tool, and a rule about which this call was asked, exclude nothing.
  expect(describeFor({ deny: ['Glob(secret/**)'] })).toBe(none);
  expect(describeFor({ ask: ['Read(secret/**)'] }, 'Grep', 'secret')).toBe(none);
});

test.each([
  ['d', '.env', 'it usually holds secrets'],
  ['d', 'a/.git/config', 'it is a protected path'],
  ['d', '.ssh/', 'it usually holds secrets'],
  ['d', 'src/a.ts', undefined],
  ['.cargo', 'config.toml', 'it is a protected path'],
  ['.docker', 'config.json', 'it usually holds secrets'],
  ['cargo', 'config.toml', undefined],
  // A person was asked about the directory itself, for this reason.
  ['.git', 'config', undefined],
  ['.git', '.env', 'it usually holds secrets'],
  ['.ssh', 'id_rsa', undefined],
])('when all of %s is moved or deleted, %s is excluded: %s', (directory, name, why) => {
  const at = `${ROOT}/${directory}`;
  const place = { roots: [ROOT], stateDirectories: [`${HOME}/data`] };
  expect(createHardRuleCheck({ asked: at, real: at }, place)(name)).toBe(why);
  expect(createHardRuleCheck({ asked: `${ROOT}/alias`, real: at }, place)(name)).toBe(why);
});

test('a file is excluded exactly when a rule could apply to a call for this file', () => {
  const pattern = fc.constantFrom(
    'a',
    'a/b',
    './a',
    '*.ts',
    'a/**',
    '**/b',
    'A',
    'é',
    'b/',
    '/a/*',
  );
  const name = fc.constantFrom('a', 'b', 'A', 'x.ts', 'e\u0301', 'c');
  fc.assert(
    fc.property(pattern, fc.array(name, { minLength: 1, maxLength: 4 }), (text, names) => {
      const file = names.join('/');
      const isKept = kept({ deny: [`Read(${text})`] }, 'Grep')?.(file) !== undefined;
      const place = { roots: [ROOT], home: HOME };
      // A file has nothing in it: of `a/**` the rule for one asked for by name means `a` itself, too.
      if (isKept) expect(patternCouldMatchPath(text, path(file), place)).toBe(true);
      else
        expect(
          patternCouldMatchPath(text, path(file), place) &&
            !text.endsWith('/**') &&
            !text.endsWith('/') &&
            !text.endsWith('/*'),
        ).toBe(false);
    }),
  );
});
