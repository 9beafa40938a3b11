import { describe, expect, it } from 'vitest';
import { foldName, foldNameWords } from '../../src/base/fold-name.ts';

describe('foldName', () => {
  it.each([
    ['other separators', ['code reviewer', 'code-reviewer', 'code_reviewer', 'code–reviewer']],
    [
      'separators of packages and paths',
      ['code.reviewer', 'code/reviewer', 'code:reviewer', 'code·reviewer'],
    ],
    ['no separator', ['codeReviewer', 'CodeReviewer', 'CODEREVIEWER', ' code   reviewer ']],
    ['Unicode normalization forms', ['Prüfer'.normalize('NFC'), 'prüfer'.normalize('NFD')]],
    ['full width', ['ｐｒｕｅｆｅｒ', 'Pruefer']],
    ['letters of several forms', ['Straße', 'STRASSE', 'strasse']],
    ['the two small sigmas', ['ΣΟΦΟΣ', 'σοφος', 'σοφοσ']],
  ])('treats names as equal if they differ by %s', (_, names) => {
    expect(new Set(names.map(foldName)).size).toBe(1);
  });

  it.each([
    ['code-reviewer', 'code-reviewers'],
    ['uber', 'über'],
    ['agent-1', 'agent-2'],
  ])('keeps %s and %s apart', (one, other) => {
    expect(foldName(one)).not.toBe(foldName(other));
  });

  it('removes all separators', () => {
    expect(foldName(' -_./: ')).toBe('');
  });
});

describe('foldWords', () => {
  it.each([
    ['codeReviewer', 'code-reviewer'],
    ['Code Reviewer', 'code-reviewer'],
    ['SQLExpert', 'sql-expert'],
    ['kit:*', 'kit-*'],
    ['agent2Test', 'agent2-test'],
    ['*_expert', '*-expert'],
  ])('of %s are %s', (name, words) => {
    expect(foldNameWords(name)).toBe(words);
  });
});
