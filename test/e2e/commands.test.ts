import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, runMuster, Sandbox, type Finished } from './muster.ts';

const KEY = 'sk-SECRET-OF-THE-USER';

const CONFIG = `[task_tool]
max_depth = 3

[models]
default = "local/big-one"
fast = "local/small-one"

[models.providers.local]
kind = "openai-compatible"
base_url = "http://127.0.0.1:9/v1"
api_key_env = "LOCAL_KEY"

[permissions]
allow = ["Bash(npm test:*)"]
`;

/** A home with a configuration file and a key in the environment. */
function configured(
  text = CONFIG,
): { readonly sandbox: Sandbox; readonly file: string } & Disposable {
  const sandbox = new Sandbox();
  const file = join(sandbox.home, '.config/muster/config.toml');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return { sandbox, file, [Symbol.dispose]: () => sandbox[Symbol.dispose]() };
}

/** Nothing listens at either address, so that no request leaves this machine. */
const GOOGLE = { GEMINI_API_KEY: `${KEY}-2`, GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:9' };
const WITH_KEY = { env: { LOCAL_KEY: KEY, ...GOOGLE } };

function clean(run: Finished): string {
  expect([run.code, run.stderr]).toEqual([0, '']);
  expect(run.stdout).not.toContain(KEY);
  return run.stdout;
}

describe.concurrent('muster models', () => {
  it('shows providers and tiers, where they come from, and no key', async () => {
    using home = configured();
    const text = clean(await runMuster(home.sandbox, ['models'], WITH_KEY));
    expect(text).toMatch(
      /^local +http:\/\/127\.0\.0\.1:9\/v1 +ready +from models\.providers\.local$/m,
    );
    expect(text).toMatch(/^google .* ready +from GEMINI_API_KEY$/m);
    expect(text).toMatch(/^main +local\/big-one /m);
    expect(text).toMatch(/^fast +local\/small-one /m);
    const json = clean(await runMuster(home.sandbox, ['models', '--json'], WITH_KEY));
    const report = JSON.parse(json);
    expect(report.providers.map(({ name }: { name: string }) => name)).toEqual(['local', 'google']);
    expect(report.choices.map(({ wish, model }: Choice) => [wish, model])).toEqual([
      ['main', 'local/big-one'],
      ['fast', 'local/small-one'],
      ['balanced', expect.any(String)],
      ['powerful', expect.any(String)],
    ]);
  });

  it('names the variable of a key that is missing', async () => {
    using home = configured();
    const run = await runMuster(home.sandbox, ['models']);
    expect(run.code).not.toBe(0);
    expect(run.stdout + run.stderr).toContain('LOCAL_KEY');
  });
});

interface Choice {
  readonly wish: string;
  readonly model: string | null;
}

describe.concurrent('muster doctor', () => {
  it('checks everything a run needs', async () => {
    using home = configured();
    const report = JSON.parse(clean(await runMuster(home.sandbox, ['doctor', '--json'], WITH_KEY)));
    expect(report.ok).toBe(true);
    const names = new Set(report.checks.map(({ name }: { name: string }) => name));
    expect([...names].join(', ')).toBe(
      'node, config, data directory, provider, model, agents, ripgrep, git, sandbox',
    );
    for (const { status } of report.checks) expect(status).not.toBe('fail');
    const text = clean(await runMuster(home.sandbox, ['doctor'], WITH_KEY));
    const lines = text.trimEnd().split('\n');
    expect(lines.slice(report.checks.length)).toEqual(['', `next: ${report.next}`]);
    expect(text).toContain(`user file ${home.file}`);
    // It looks and makes nothing.
    expect(readdirSync(home.sandbox.root).toSorted()).toEqual(['home', 'workspace']);
  });

  it('tells all that is wrong at once, and exits with 1', async () => {
    using home = configured('[task_tool]\nmax_dept = 3\nnested = "no"\n');
    writeFileSync(home.sandbox.data, 'in the way');
    const run = await runMuster(home.sandbox, ['doctor', '--json']);
    expect([run.code, run.stderr]).toEqual([1, '']);
    const { ok, checks } = JSON.parse(run.stdout);
    expect(ok).toBe(false);
    const failed = checks.filter(({ status }: { status: string }) => status === 'fail');
    expect(failed).toEqual([
      expect.objectContaining({
        detail: expect.stringContaining(`${home.file}:2: unknown key "max_dept"`),
      }),
      expect.objectContaining({
        detail: expect.stringContaining(`${home.file}:3: task_tool.nested`),
      }),
      expect.objectContaining({ name: 'data directory' }),
    ]);
  });
});

describe.concurrent('muster config show', () => {
  it('says where each value came from: file and line, variable, flag, default', async () => {
    using home = configured();
    const env = { MUSTER_OUTPUT_READ_BYTES: '1000' };
    const args = ['config', 'show', '--permission-mode', 'plan', '--allow', 'Bash(git log:*)'];
    const json = clean(await runMuster(home.sandbox, [...args, '--json'], { env }));
    const { files, settings } = JSON.parse(json);
    expect(files).toContainEqual(expect.objectContaining({ path: home.file, state: 'read' }));
    const entries = new Map(settings.map((entry: { key: string }) => [entry.key, entry]));
    const of = (key: string) => entries.get(key);
    expect(of('task_tool.max_depth')).toMatchObject({ value: 3, source: `${home.file}:2` });
    expect(of('models.default')).toMatchObject({
      value: 'local/big-one',
      source: `${home.file}:5`,
    });
    expect(of('output.read_bytes')).toMatchObject({
      value: 1000,
      source: 'MUSTER_OUTPUT_READ_BYTES',
    });
    expect(of('permissions.mode')).toMatchObject({ value: 'plan', source: '--permission-mode' });
    expect(of('task_tool.max_tasks')).toMatchObject({ value: 500, source: 'default' });
    expect(of('permissions.allow')).toMatchObject({
      value: ['Bash(npm test:*)', 'Bash(git log:*)'],
    });
    const text = clean(await runMuster(home.sandbox, args, { env }));
    const line = new RegExp(`^task_tool\\.max_depth +3 +${home.file}:2$`, 'm');
    expect(text).toMatch(line);
    expect(text.trimEnd().split('\n').length).toBeGreaterThanOrEqual(settings.length);
  });

  it('shows a project’s file only where it is trusted', async () => {
    using sandbox = new Sandbox({ '.muster/config.toml': '[task_tool]\nmax_tasks = 7\n' });
    const show = (flags: readonly string[]) =>
      runMuster(sandbox, ['config', 'show', '--json', ...flags]);
    const value = (run: Finished) =>
      JSON.parse(run.stdout).settings.find(
        ({ key }: { key: string }) => key === 'task_tool.max_tasks',
      ).value;
    expect(value(await show([]))).toBe(500);
    expect(value(await show(['--trust-project']))).toBe(7);
  });
});

describe.concurrent('muster agents list', () => {
  it('lists the six with their tools, modes and models', async () => {
    using sandbox = new Sandbox();
    const { agents } = JSON.parse(clean(await runMuster(sandbox, ['agents', 'list', '--json'])));
    const rows = agents.map((agent: Record<string, unknown>) => [
      agent['name'],
      agent['permissionMode'] ?? 'default',
      agent['effectiveMode'],
      agent['model'] ?? 'inherit',
      agent['maxTurns'],
      agent['scope'],
    ]);
    expect(rows).toEqual([
      ['Explore', 'plan', 'plan', 'fast', 30, 'builtin'],
      ['Plan', 'plan', 'plan', 'inherit', 50, 'builtin'],
      ['Bash', 'default', 'default', 'fast', 30, 'builtin'],
      ['Review', 'plan', 'plan', 'inherit', 30, 'builtin'],
      ['Summary', 'plan', 'plan', 'fast', 10, 'builtin'],
      ['general-purpose', 'default', 'default', 'inherit', 50, 'builtin'],
    ]);
    const tools = (name: string) =>
      agents.find((agent: { name: string }) => agent.name === name).tools;
    expect(tools('Explore').names).not.toContain('Write');
    expect(tools('Summary').names).toEqual(['Read', 'LS', 'Glob', 'Grep']);
  });

  it('says what a user’s file shadows, and what a broken one lacks', async () => {
    using sandbox = new Sandbox();
    const agents = join(sandbox.home, '.config/muster/agents');
    mkdirSync(agents, { recursive: true });
    const own = '---\nname: Explore\ndescription: My own\n---\nLook.\n';
    writeFileSync(join(agents, 'explore.md'), own);
    writeFileSync(join(agents, 'broken.md'), 'no front matter here\n');
    const text = clean(await runMuster(sandbox, ['agents', 'list']));
    expect(text).toMatch(/^Explore +user .* in the place of the built-in one\n {4}My own\n/m);
    expect(text).toMatch(/^6 agents; 1 not used, because another agent has the same name/m);
    expect(text).toMatch(/^skipped 1 file \(.*broken\.md\): .+$/m);
  });
});

describe.concurrent('help and version', () => {
  it('say what there is', async () => {
    using sandbox = new Sandbox();
    const help = clean(await runMuster(sandbox, ['--help']));
    expect(clean(await runMuster(sandbox, []))).toBe(help);
    expect(clean(await runMuster(sandbox, ['help']))).toBe(help);
    for (const flag of [
      '--print',
      '--output-format',
      '--model',
      '--allow',
      '--max-turns',
      '--no-log',
    ]) {
      expect(help).toContain(flag);
    }
    for (const command of ['agents list', 'tasks show', 'models', 'config show', 'doctor']) {
      expect(help).toContain(command);
      const own = clean(await runMuster(sandbox, ['help', ...command.split(' ')]));
      expect(own).toContain(`muster ${command}`);
    }
    const { version } = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
    );
    expect(clean(await runMuster(sandbox, ['--version']))).toBe(`${version}\n`);
    expect(help.split('\n').filter((line) => line.length > 100)).toEqual([]);
  });

  it('come through a link to the program, as npm makes one', async () => {
    using sandbox = new Sandbox();
    const bin = join(sandbox.root, 'muster');
    symlinkSync(BIN, bin);
    const version = execFileSync(process.execPath, [bin, '-v'], { env: sandbox.environment() });
    expect(version.toString()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
