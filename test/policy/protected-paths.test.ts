import { expect, test } from 'vitest';
import { isProtectedPath } from '../../src/policy/protected-paths.ts';
import { HOME, ROOT } from './support.ts';

const place = { roots: [ROOT], stateDirectories: [`${HOME}/.config/muster`] };

test.each([
  '.git',
  '.git/config',
  '.git/hooks/pre-commit',
  'sub/.git/hooks/x',
  '.GIT/config',
  '.g\u200cit/config',
  '.git./config',
  '.gitmodules',
  '.muster/agents/x.md',
  '.claude/settings.json',
  '.mcp.json',
  '.vscode/tasks.json',
  '.husky/pre-commit',
  '.envrc',
  '.npmrc',
  '.ba\u017fhrc',
])('%j is protected', (file) => expect(isProtectedPath(`${ROOT}/${file}`, place)).toBe(true));

test.each(['src/git/config', '.gitignore', '.github/workflows/x.yml', 'claude/x', 'npmrc'])(
  '%j is not',
  (file) => expect(isProtectedPath(`${ROOT}/${file}`, place)).toBe(false),
);

test('state directories are, wherever they lie', () => {
  expect(isProtectedPath(`${HOME}/.config/muster/config.toml`, place)).toBe(true);
  expect(isProtectedPath(`${HOME}/.config/muster2`, place)).toBe(false);
});

test('a workspace may lie in a directory of such a name', () => {
  const roots = ['/home/someone/.claude/worktrees/one'];
  expect(isProtectedPath(`${roots[0]}/src/a.ts`, { ...place, roots })).toBe(false);
  expect(isProtectedPath(`${roots[0]}/.claude/a`, { ...place, roots })).toBe(true);
});
