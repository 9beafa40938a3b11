import { expect, test, vi } from 'vitest';
import { repositoryWithIgnored, SEARCH_CASES, searchLines } from './search-cases.ts';

vi.mock('@vscode/ripgrep', () => ({ rgPath: '/nowhere/rg' }));

test.each(SEARCH_CASES)('without ripgrep: %s %j', async (...each) => {
  expect(await searchLines(repositoryWithIgnored(), each)).toEqual(each[2]);
});
