import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runMuster, Sandbox } from './muster.ts';

/** A home with a configuration file, whose comments have to stay. */
function openHome() {
  const sandbox = new Sandbox();
  const directory = join(sandbox.home, '.config/muster');
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'config.toml');
  writeFileSync(file, '# mine\n[task_tool] # tasks\nmax_depth = 3 # deep enough\n');
  return { sandbox, file, [Symbol.dispose]: () => sandbox[Symbol.dispose]() };
}

describe.concurrent('muster config set and unset', () => {
  it('change the file of the user, which keeps its comments', async ({ expect: expectHere }) => {
    using home = openHome();
    const run = (...args: readonly string[]) => runMuster(home.sandbox, ['config', ...args]);
    const set = await run('set', 'task_tool.max_depth', '4');
    expectHere(set).toMatchObject({
      code: 0,
      stdout: `task_tool.max_depth = 4  (${home.file}:3)\n`,
      stderr: '',
    });
    const json = await run('set', 'terminal.theme', 'light', '--json');
    expectHere(JSON.parse(json.stdout)).toEqual({
      key: 'terminal.theme',
      value: 'light',
      where: `${home.file}:6`,
      isChanged: true,
      override: null,
    });
    expectHere(readFileSync(home.file, 'utf8')).toBe(
      '# mine\n[task_tool] # tasks\nmax_depth = 4 # deep enough\n\n[terminal]\ntheme = "light"\n',
    );
    const unset = await run('unset', 'task_tool.max_depth');
    expectHere(unset.stdout).toBe(`task_tool.max_depth is no longer set in ${home.file}\n`);
    expectHere((await run('unset', 'task_tool.max_depth')).stdout).toContain('is not set in');
    expectHere(readFileSync(home.file, 'utf8')).toBe(
      '# mine\n[task_tool] # tasks\n# deep enough\n\n[terminal]\ntheme = "light"\n',
    );
    expectHere((await run('show')).stdout).toMatch(/^terminal\.theme +"light" .*:6$/m);
  });

  it('say what overrides the file, and refuse what is wrong', async ({ expect: expectHere }) => {
    using home = openHome();
    const before = readFileSync(home.file, 'utf8');
    const env = { MUSTER_TERMINAL_THEME: 'dark' };
    const set = ['config', 'set', 'terminal.theme', 'pink'];
    const wrong = await runMuster(home.sandbox, set, { env });
    expectHere([wrong.code, wrong.stderr]).toEqual([
      2,
      'muster: terminal.theme must be one of auto, dark, light, not "pink"\n',
    ]);
    const unknown = await runMuster(home.sandbox, ['config', 'set', 'theme', 'dark']);
    expectHere([unknown.code, unknown.stderr]).toEqual([
      2,
      expect.stringContaining('there is no setting theme; the nearest: '),
    ]);
    const agent = await runMuster(home.sandbox, set, { env: { MUSTER_TASK: 'x' } });
    expectHere([agent.code, agent.stderr]).toEqual([
      2,
      expect.stringContaining('an agent cannot change the configuration'),
    ]);
    expectHere(readFileSync(home.file, 'utf8')).toBe(before);
    const overridden = await runMuster(home.sandbox, [...set.slice(0, 3), 'light'], { env });
    expectHere([overridden.code, overridden.stderr]).toEqual([
      0,
      'muster: MUSTER_TERMINAL_THEME comes first here, so that this has no effect\n',
    ]);
    writeFileSync(home.file, '[task_tool\n');
    const broken = await runMuster(home.sandbox, ['config', 'set', 'terminal.theme', 'light']);
    expectHere(broken.code).not.toBe(0);
    expectHere(broken.stderr).toMatch(/correct it first: .*not valid TOML.*Nothing was written/);
    expectHere(readFileSync(home.file, 'utf8')).toBe('[task_tool\n');
  });
});
