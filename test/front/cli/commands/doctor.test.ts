import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/base/errors.ts';
import type { CommandContext } from '../../../../src/front/cli/command.ts';
import { configShowCommand } from '../../../../src/front/cli/commands/config-show.ts';
import {
  checkMachine,
  type DoctorProbes,
} from '../../../../src/front/cli/commands/doctor/checks.ts';
import {
  dataDirCheck,
  findProgram,
  nodeCheck,
  sandboxCheck,
  shellCheck,
} from '../../../../src/front/cli/commands/doctor/machine-checks.ts';
import type { Check } from '../../../../src/protocol/check.ts';
import { modelsCommand } from '../../../../src/front/cli/commands/models.ts';
import { NO_HOME, type Environment } from '../../../../src/sys/env.ts';
import { createUnavailableSandbox } from '../../../../src/sys/sandbox/sandbox.ts';
import { makePlace } from '../../../config/support.ts';
import { reportModels } from '../../../../src/api/setup/models-report.ts';

const PLAIN = { cwd: null, trustProject: false, flags: [], dataDir: null, json: false };
const SECRET = 'sk-ant-0123456789';

function makeContext(place: ReturnType<typeof makePlace>, environment: Environment = {}) {
  const written = { out: '', err: '' };
  const context: CommandContext = {
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    environment,
    home: place.home,
    cwd: place.cwd,
    confirm: null,
    questions: null,
    secret: null,
    commands: () => Promise.resolve([]),
    help: async () => '',
  };
  const probes: DoctorProbes = {
    models: reportModels,
    nodeVersion: '24.1.0',
    uid: process.getuid?.(),
    ripgrep: () => Promise.resolve(process.execPath),
    agents: () => Promise.resolve({ loaded: 6, problems: [], skipped: [] }),
    workspaces: () => Promise.resolve([]),
    repairs: () => Promise.resolve(new Map()),
    sandbox: () => Promise.resolve({ on: true, kind: 'bwrap' }),
    servers: () => Promise.resolve({ servers: [], problems: [] }),
  };
  return { context, probes, written };
}

function makeProgram(directory: string, name: string): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, name);
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

describe('config show', () => {
  it('prints value and source', async () => {
    const place = makePlace({ user: '[task_tool]\nmax_depth = 3\ncache = true\n' });
    const { context, written } = makeContext(place, { MUSTER_PERMISSIONS_ALLOW: 'Read' });
    expect(await configShowCommand.run(PLAIN, context)).toBe(0);
    const lines = written.out.split('\n').map((line) => line.split(/ {2,}/));
    expect(lines).toContainEqual(['task_tool.max_depth', '3', `${place.userFile}:2`]);
    expect(lines).toContainEqual(['task_tool.cache', 'true', `${place.userFile}:3`]);
    expect(lines).toContainEqual(['task_tool.max_turns', '(by definition)', 'default']);
    expect(lines).toContainEqual(['permissions.allow', '["Read"]', 'MUSTER_PERMISSIONS_ALLOW']);
  });

  it('prints JSON on stdout and notices on stderr', async () => {
    const place = makePlace({
      project: 'x = 1',
      user: '[models.providers.acme]\nkind = "google"\n',
    });
    const { context, written } = makeContext(place);
    expect(await configShowCommand.run({ ...PLAIN, json: true }, context)).toBe(0);
    const shown = JSON.parse(written.out);
    expect(written.err).toMatch(
      /^muster: 1 file of this project was not used, because you have not trusted it: see/,
    );
    expect(shown.files).toEqual([
      { path: place.userFile, scope: 'user', state: 'read' },
      { path: place.projectFile, scope: 'project', state: 'untrusted' },
    ]);
    expect(shown.settings[0]).toEqual({
      key: 'task_tool.enabled',
      value: true,
      default: 'true',
      source: 'default',
      acts: true,
      meaning: 'offer the Task tools to the model',
    });
    expect(shown.settings.at(-1)).toMatchObject({
      key: 'models.providers.acme',
      value: { kind: 'google' },
      source: `${place.userFile}:1`,
    });
  });

  it('ends with a UsageError for a wrong file', async () => {
    const { context } = makeContext(makePlace({ user: 'x = 1' }));
    await expect(configShowCommand.run(PLAIN, context)).rejects.toThrow(UsageError);
  });
});

describe('models', () => {
  const ALL = { ...PLAIN, provider: null, search: null, isRefresh: false };
  /** An address at which nothing listens. */
  const NOWHERE = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };

  it('lists the providers and the model of each tier, and never a key', async () => {
    const environment = { ANTHROPIC_API_KEY: SECRET, ...NOWHERE };
    const { context, written } = makeContext(makePlace(), environment);
    expect(await modelsCommand.run({ ...ALL, json: true }, context)).toBe(0);
    const shown = JSON.parse(written.out);
    expect(shown.providers).toEqual([
      expect.objectContaining({ name: 'anthropic', missingKey: null }),
    ]);
    expect(shown.choices.map((choice: { wish: string }) => choice.wish)).toEqual([
      'main',
      'fast',
      'balanced',
      'powerful',
    ]);
    expect(shown.choices[1].chain).toEqual([expect.stringMatching(/^fast: anthropic/)]);
    expect(written.out).not.toContain(SECRET);
  });

  it('explains how to configure a model', async () => {
    const { context, written } = makeContext(makePlace());
    const flags = [{ key: 'models.default', flag: '--model', text: 'offline' }] as const;
    expect(await modelsCommand.run({ ...ALL, flags }, context)).toBe(0);
    expect(written.out).toMatch(
      /^No provider is configured: run "muster login", set a key such as ANTHROPIC_API_KEY/,
    );
  });

  it('fails if the named model cannot be used', async () => {
    const { context, written } = makeContext(makePlace(), {
      ANTHROPIC_API_KEY: SECRET,
      ...NOWHERE,
    });
    const flags = [{ key: 'models.default', flag: '--model', text: 'openai/x' }] as const;
    expect(await modelsCommand.run({ ...ALL, flags }, context)).toBe(1);
    expect(written.out).toContain('OPENAI_API_KEY');
  });
});

describe('doctor', () => {
  it('reports no problem in a working environment', async () => {
    const place = makePlace();
    const bin = join(place.root, 'bin');
    makeProgram(bin, 'git');
    makeProgram(bin, 'bwrap');
    const { context, probes } = makeContext(place, {
      ANTHROPIC_API_KEY: SECRET,
      PATH: bin,
    });
    const { code, json: shown, text } = await checkMachine(PLAIN, context, probes);
    expect(code).toBe(0);
    expect(shown.ok).toBe(true);
    expect(
      shown.checks.map(
        (check: { status: string; name: string }) => `${check.status} ${check.name}`,
      ),
    ).toEqual([
      'ok node',
      'ok config',
      'ok data directory',
      'ok provider',
      'ok model',
      'ok agents',
      'ok ripgrep',
      'ok git',
      'ok sandbox',
    ]);
    expect(shown.next).toMatch(/^everything is ready: start a conversation with muster/);
    expect(text).toMatch(new RegExp(`\\n\\nnext: ${shown.next.slice(0, 20)}.*\\n$`));
    expect(`${text}${JSON.stringify(shown)}`).not.toContain(SECRET);
  });

  it('accepts that the user declares the machine to be the sandbox', () => {
    const off = { on: false, because: 'it is not installed', hint: 'install it' } as const;
    expect(sandboxCheck({ ...off, instead: 'container' })).toEqual({
      status: 'ok',
      name: 'sandbox',
      detail: 'this machine is the sandbox, as you configured: commands run on it directly',
      fix: null,
    });
    expect(sandboxCheck(off)).toMatchObject({ status: 'warn', fix: 'install it' });
  });

  it('reports all problems at once, and how to fix them', async () => {
    const place = makePlace({ user: '[budget]\ntree_tokens = -1\n[models]\nfst = "x"\n' });
    const { context, probes } = makeContext(place, {
      ANTHROPIC_API_KEY: SECRET,
      PATH: 'relative',
    });
    const flags = [{ key: 'models.default', flag: '--model', text: 'openai/x' }] as const;
    const { code, text } = await checkMachine({ ...PLAIN, flags }, context, {
      ...probes,
      nodeVersion: '20.0.0',
      ripgrep: () => Promise.reject(new Error('no binary')),
      sandbox: () =>
        createUnavailableSandbox('bwrap is not installed', 'apt install bubblewrap').state(),
      agents: () =>
        Promise.resolve({
          loaded: 6,
          problems: [{ code: 'yaml', message: 'no front matter', path: '/x/a.md', line: 3 }],
          skipped: [{ path: '/x/b.md', code: 'changed', reason: '' }],
        }),
    });
    expect(code).toBe(1);
    const lines = text.split('\n').map((line) => line.replace(/ {2,}/g, ' '));
    expect(lines).toEqual([
      'fail node 20.0.0 is too old → install Node 22.19 or newer',
      `ok config user file ${place.userFile}`,
      expect.stringMatching(/^fail config .*:2: budget.tree_tokens must be/),
      expect.stringMatching(/^fail config .*:4: unknown key "fst" in \[models\]; valid: fast/),
      expect.stringMatching(/^ok data directory .*, created by the first run$/),
      expect.stringMatching(/^ok provider anthropic at /),
      expect.stringMatching(/^fail model .*OPENAI_API_KEY/),
      'ok agents 6 agents loaded',
      'warn agents /x/a.md:3: no front matter',
      expect.stringMatching(/^warn trust 1 file of this project was not used.*muster trust add/),
      expect.stringMatching(/^fail ripgrep not usable \(no binary\)/),
      expect.stringMatching(/^warn git not found/),
      expect.stringMatching(
        /^warn sandbox none, .*: bwrap is not installed → apt install bubblewrap$/,
      ),
      '',
      'next: node: install Node 22.19 or newer',
      '',
    ]);
  });
});

it('does not check the agents if the configuration is wrong', async () => {
  const { context, probes } = makeContext(makePlace(), { ANTHROPIC_API_KEY: SECRET });
  const { text } = await checkMachine(PLAIN, context, {
    ...probes,
    agents: () => Promise.reject(new UsageError('config.toml:1: unknown section')),
  });
  expect(text).toMatch(/^warn +agents +not checked, because the configuration is wrong$/m);
});

describe('the data directory', () => {
  const uid = process.getuid?.();
  it.each([
    [0o700, { status: 'ok', fix: null }],
    [0o755, { status: 'warn', fix: expect.stringContaining('chmod 700') }],
    [0o770, { status: 'fail', fix: expect.stringContaining('chmod 700') }],
  ])('of mode %o', (mode, expected) => {
    const { home } = makePlace();
    chmodSync(home, mode);
    expect(dataDirCheck(home, uid, { isChosen: false })).toMatchObject({
      name: 'data directory',
      ...expected,
    });
  });

  it('must be a directory of the same user', () => {
    const { root, home } = makePlace();
    chmodSync(home, 0o700);
    writeFileSync(join(root, 'file'), '');
    const check = (path: string, user = uid) => dataDirCheck(path, user, { isChosen: false });
    expect(check(join(root, 'file'))).toMatchObject({ status: 'fail' });
    expect(check(home, 4_000_000)).toMatchObject({ status: 'fail' });
    expect(check(join(home, 'a', 'b'))).toMatchObject({ status: 'ok' });
  });

  it('only has to be writable if it was chosen', () => {
    const { root } = makePlace();
    writeFileSync(join(root, 'file'), '');
    const path = join(root, 'file', 'below');
    expect(dataDirCheck(path, uid, { isChosen: true })).toMatchObject({ status: 'fail' });
    const statusAndDetail = (check: Check) => [check.status, check.detail];
    expect(statusAndDetail(dataDirCheck(path, uid, { isChosen: false }))).toEqual([
      'warn',
      `${path}: EACCES: nothing can be written, so runs keep no log`,
    ]);
    const homeless = join(NO_HOME, '.local/share/muster');
    expect(statusAndDetail(dataDirCheck(homeless, uid, { isChosen: false }))).toEqual([
      'warn',
      'there is no home directory: nothing can be written, so runs keep no log',
    ]);
  });
});

it.each([
  ['22.18.9', 'fail'],
  ['22.19.0', 'ok'],
  ['24.0.0', 'ok'],
  ['21.99.0', 'fail'],
])('Node %s is %s', (version, status) => {
  expect(nodeCheck(version).status).toBe(status);
});

it('reports a missing shell only', () => {
  expect(shellCheck(process.execPath)).toEqual([]);
  expect(shellCheck('/no/bash')).toEqual([
    {
      name: 'shell',
      status: 'warn',
      detail: '/no/bash is missing: agents cannot run shell commands',
      fix: 'install bash',
    },
  ]);
});

it('looks for programs in absolute entries of PATH only', () => {
  const { root } = makePlace();
  const path = makeProgram(join(root, 'bin'), 'tool');
  mkdirSync(join(root, 'first', 'tool'), { recursive: true });
  expect(findProgram('tool', { PATH: `.:${root}/first:${root}/bin` })).toBe(path);
  expect(findProgram('tool', {})).toBeUndefined();
});
