import { expect, test } from 'vitest';
import { isProtectedPath } from '../../src/policy/protected-paths.ts';
import { foldFileName } from '../../src/sys/files/folded-name.ts';
import { PROTECTED_ENDINGS, PROTECTED_PATHS } from '../../src/sys/files/protected-names.ts';
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
  '.CLAUDE/Settings.json',
  '.git /hooks/x',
  'GIT~1/config',
  'sub/CLAUDE~1/settings.json',
  'MCP~1.JSO',
  'GITMOD~2',
  'subagents/x/SUBAGENT.md',
  '.github/agents/x.agent.md',
  '.github/hooks/x.json',
  'a/.GitHub/Agents/x.md',
  '.gemini/settings.json',
  '.codex/config.toml',
  '.opencode/agent/x.md',
  'opencode.json',
  '.cursor/mcp.json',
  '.qwen/settings.json',
  '.kiro/hooks/x',
  '.roo/mcp.json',
  '.roomodes',
  '.clinerules/hooks/x',
  '.windsurf/hooks.json',
  '.continue/config.yaml',
  '.factory/droids/x.md',
  '.pi/agents/x.md',
  '.gen/agents/x.md',
  '.agents/skills/x/SKILL.md',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.yarn/releases/yarn.cjs',
  '.cargo/config.toml',
  'my.code-workspace',
  '.config/fish/config.fish',
  '.dir-locals.el',
  '.ripgreprc',
])('%j is protected', (file) => expect(isProtectedPath(`${ROOT}/${file}`, place)).toBe(true));

test.each([
  'src/git/config',
  '.gitignore',
  '.github/workflows/x.yml',
  '.github/copilot-instructions.md',
  'claude/x',
  'npmrc',
  'package.json',
  'Makefile',
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
  '.cursorrules',
  'agents/x.md',
  'github/agents/x.md',
  'src/.config/app.ts',
  'git~x/config',
  'notes~1',
  '.cargo/registry/x',
  '.yarn/cache/x.zip',
])('%j is not protected', (file) => expect(isProtectedPath(`${ROOT}/${file}`, place)).toBe(false));

test('state directories are protected, wherever they are', () => {
  expect(isProtectedPath(`${HOME}/.config/muster/config.toml`, place)).toBe(true);
  expect(isProtectedPath(`${HOME}/.config/muster2`, place)).toBe(false);
});

test('in nested roots only the path below the inner root counts', () => {
  const inner = `${ROOT}/.claude/worktrees/one`;
  const nested = { ...place, roots: [ROOT, inner] };
  expect(isProtectedPath(`${inner}/src/a.ts`, nested)).toBe(false);
  expect(isProtectedPath(`${ROOT}/.claude/worktrees/two/a.ts`, nested)).toBe(true);
});

test('the names in the list are written as they are compared', () => {
  const all = [...PROTECTED_PATHS, ...PROTECTED_ENDINGS];
  expect(all.map((path) => path.split('/').map(foldFileName).join('/'))).toEqual(all);
  expect(new Set(all).size).toBe(all.length);
});

test('a long name of dots and blanks is checked quickly', () => {
  const name = `${'. '.repeat(50_000)}x`;
  expect(isProtectedPath(`${ROOT}/${name}`, place)).toBe(false);
});

test('a workspace may be inside a directory with a protected name', () => {
  const roots = ['/home/someone/.claude/worktrees/one'];
  expect(isProtectedPath(`${roots[0]}/src/a.ts`, { ...place, roots })).toBe(false);
  expect(isProtectedPath(`${roots[0]}/.claude/a`, { ...place, roots })).toBe(true);
});
