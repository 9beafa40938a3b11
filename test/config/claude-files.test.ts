import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { userClaudeFile } from '../../src/config/claude-files.ts';
import { readConfig } from '../../src/config/load.ts';
import { readHookFiles } from '../../src/trust/hook-files.ts';
import { makePlace, write } from './support.ts';

it.each([
  ['no variable', undefined, 'HOME/.claude'],
  ['an empty variable', '', 'HOME/.claude'],
  ['a relative path', 'cc', 'HOME/.claude'],
  ['another directory', 'ROOT/cc', 'ROOT/cc'],
  ['a path below the home directory', '~/cc', 'HOME/cc'],
  ['a directory in the project', 'ROOT/repo/cc', 'HOME/.claude'],
  ['a link to a directory in the project', 'ROOT/link', 'HOME/.claude'],
])('with %s, the settings of Claude Code are in the right directory', (_, value, expected) => {
  const { root, home, cwd } = makePlace();
  mkdirSync(join(cwd, 'cc'));
  symlinkSync(join(cwd, 'cc'), join(root, 'link'));
  const chosen = value?.replace('ROOT', root);
  const { path, directory } = userClaudeFile({
    environment: { CLAUDE_CONFIG_DIR: chosen },
    home,
    cwd,
  });
  const wanted = expected.replace('ROOT', root).replace('HOME', home);
  expect([directory, path]).toEqual([wanted, join(wanted, 'settings.json')]);
});

it('a home directory inside a repository may hold the directory that the variable names', () => {
  const { cwd } = makePlace();
  const home = join(cwd, 'home');
  mkdirSync(home);
  const environment = { CLAUDE_CONFIG_DIR: join(cwd, 'cc') };
  expect(userClaudeFile({ environment, home, cwd }).directory).toBe(join(cwd, 'cc'));
});

it('permissions and hooks are read from the directory that the variable names', async () => {
  const { root, home, cwd, inputs } = makePlace();
  const environment = { CLAUDE_CONFIG_DIR: join(root, 'cc') };
  const file = join(root, 'cc/settings.json');
  const settings = (line: string) =>
    JSON.stringify({
      permissions: { deny: [`Bash(${line})`] },
      hooks: { Stop: [{ hooks: [{ type: 'command', command: line }] }] },
    });
  write(file, settings('new'));
  write(join(home, '.claude/settings.json'), settings('old'));
  const { rules } = await readConfig(inputs({ environment }));
  expect(rules.deny.map(({ text }) => text)).toEqual(['Bash(new)']);
  const { files } = readHookFiles({ environment, home, cwd }, inputs().trust);
  expect(files).toEqual([{ source: { kind: 'user', where: file }, text: settings('new') }]);
});
