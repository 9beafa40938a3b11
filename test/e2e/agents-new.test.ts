import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { BIN, runMuster, Sandbox } from './muster.ts';

const ANSWERS = ['migrations', 'Reviews migrations after a change', 'Read, Grep', 'fast', 'Look.'];

it.runIf(needs('script', 'bsdutils'))(
  'agents new asks on a terminal, and makes an agent',
  async () => {
    using sandbox = new Sandbox({ '.git/HEAD': '' });
    const type = (lines: readonly string[]): string =>
      execFileSync('script', ['-qec', `${process.execPath} ${BIN} agents new`, '/dev/null'], {
        cwd: sandbox.workspace,
        env: sandbox.environment(),
        input: lines.map((line) => `${line}\n`).join(''),
        encoding: 'utf8',
      });
    const typeAndEnd = (lines: readonly string[]): string => {
      try {
        return `it went through: ${type(lines)}`;
      } catch (thrown) {
        return String(Object(thrown).stdout);
      }
    };
    expect(type(ANSWERS)).toContain('migrations: .muster/agents/migrations.md');
    const path = join(sandbox.workspace, '.muster/agents/migrations.md');
    expect(readFileSync(path, 'utf8')).toBe(
      '---\nname: migrations\ndescription: Reviews migrations after a change\ntools: Read, Grep\nmodel: fast\n---\n\nLook.\n',
    );
    expect((await runMuster(sandbox, ['agents', 'check', 'migrations', '--strict'])).code).toBe(0);
    // Ctrl+D, and Ctrl+C: nothing is written, and nothing is a bug.
    expect(typeAndEnd(['other', '\u0004'])).toMatch(/nothing was written: the questions/);
    expect(typeAndEnd(['other', 'half\u0003'])).not.toMatch(/bug in Muster|other\.md/);
    const list = await runMuster(sandbox, ['agents', 'list', '--trust-project', '--json']);
    const { agents } = JSON.parse(list.stdout);
    const names = agents.map(({ name }: { name: string }) => name);
    expect(names).toContain('migrations');
    expect(names).not.toContain('other');
  },
);

it('agents new without a terminal names the required flags', async () => {
  using sandbox = new Sandbox();
  const { code, stderr } = await runMuster(sandbox, ['agents', 'new', 'a']);
  expect([code, stderr]).toEqual([
    2,
    'muster: a new agent needs --description, --prompt or --prompt-file; there is no terminal to ask on: muster agents new NAME --description TEXT --prompt TEXT\n',
  ]);
});

it('the commands that show models and settings read the trust store in the given directory', async () => {
  using sandbox = new Sandbox({ '.muster/config.toml': '[models]\ndefault = "offline"\n' });
  const elsewhere = ['--data-dir', join(sandbox.root, 'elsewhere')];
  await runMuster(sandbox, ['trust', 'add', '--yes', ...elsewhere]);
  const show = async (...flags: readonly string[]): Promise<unknown> => {
    const { stdout } = await runMuster(sandbox, ['config', 'show', '--json', ...flags]);
    const { settings } = JSON.parse(stdout);
    return settings.find(({ key }: { key: string }) => key === 'models.default').value;
  };
  expect([await show(), await show(...elsewhere)]).toEqual([null, 'offline']);
  const models = await runMuster(sandbox, ['models', ...elsewhere]);
  expect([models.code, models.stderr]).toEqual([0, '']);
});
