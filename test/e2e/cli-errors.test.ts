import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startFakeModel } from '../../src/testing/index.ts';
import { runMuster, Sandbox, type Finished } from './muster.ts';

const KEY = 'sk-ant-SECRET-OF-THE-USER';

/** One line for a person: nothing on stdout, no stack, no key. */
function expectOneLine(run: Finished, code: number): string {
  expect(run).toMatchObject({ code, signal: null, stdout: '' });
  expect(run.stderr).toMatch(/^muster: [^\n]+\n$/);
  expect(run.stderr).not.toContain(KEY);
  expect(run.stderr).not.toMatch(/\n\s+at |node:internal|\.js:\d+/);
  return run.stderr.slice('muster: '.length).trimEnd();
}

function configFile(sandbox: Sandbox, text: string): string {
  const path = join(sandbox.home, '.config/muster/config.toml');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

describe.concurrent('a command line that is wrong', () => {
  it.each<readonly [string, readonly string[], string | RegExp]>([
    ['an unknown flag', ['-p', 'x', '--colour'], /^unknown flag --colour; valid, nearest first: /],
    ['a flag without its value', ['-p', 'x', '--model'], '--model needs a value'],
    [
      'a flag of another command',
      ['models', '--no-log'],
      /^--no-log does not go with muster models/,
    ],
    [
      'an unknown command',
      ['frobnicate'],
      /^unknown command "frobnicate"; muster help lists all\. /,
    ],
    ['a command cut short', ['tasks'], /^"tasks" is not a command by itself; valid: /],
    ['a command without its operand', ['tasks', 'show'], /^muster tasks show needs ID/],
    ['flags without a prompt', ['--verbose'], /^a run needs -p and a prompt/],
    ['two prompts', ['-p', 'one', 'two'], /^more than one prompt/],
    ['an empty prompt', ['-p', ''], 'the prompt is empty'],
    ['a blank prompt', ['-p', ' \n'], 'the prompt is empty'],
    [
      'an unknown output format',
      ['-p', 'x', '--output-format', 'xml'],
      '--output-format must be one of text, json, stream-json, not "xml"',
    ],
    [
      'no turns',
      ['-p', 'x', '--max-turns', '0'],
      /^--max-turns must be a whole number of at least 1/,
    ],
    ['no tokens', ['-p', 'x', '--max-tokens', '0'], /^--max-tokens must be above 0/],
    [
      'an unknown mode',
      ['-p', 'x', '--permission-mode', 'root'],
      /^--permission-mode must be one of/,
    ],
    [
      'the mode with two meanings',
      ['-p', 'x', '--permission-mode', 'dontAsk'],
      /"default".*"autonomous"/,
    ],
    [
      'parking what is not kept',
      ['-p', 'x', '--on-ask', 'park', '--no-log'],
      /^questions cannot be parked/,
    ],
    [
      'text that is not a rule',
      ['-p', 'x', '--allow', 'Bash('],
      /^--allow: rule "Bash\(": only `\(specifi/,
    ],
    [
      'a rule of no tool',
      ['-p', 'x', '--deny', 'Nope(x)'],
      /^--deny: rule "Nope\(x\)": there is no/,
    ],
    [
      'an unknown agent',
      ['-p', 'x', '--agent', 'nobody'],
      'There is no agent `nobody`. Valid: Explore, Plan, Bash, Review, Summary, general-purpose.',
    ],
    ['agents that are no JSON', ['-p', 'x', '--agents', '{"a":'], /^--agents is not JSON/],
    ['agents that are a list', ['-p', 'x', '--agents', '[]'], /^--agents must be a JSON object/],
    [
      'an agent without a prompt',
      ['-p', 'x', '--agents', '{"a":{}}'],
      '--agents: `a` must be an object with a `prompt` that is text.',
    ],
    [
      'an agents file that is not there',
      ['-p', 'x', '--agents', '@no.json'],
      '--agents @no.json does not exist',
    ],
  ])('%s', async (_, args, message) => {
    using sandbox = new Sandbox();
    const line = expectOneLine(await runMuster(sandbox, args), 2);
    expect(line).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });
});

describe.concurrent('a directory that can not be worked in', () => {
  it.each([
    ['a missing one', ['-p', 'x', '--cwd', 'missing'], '--cwd', 'missing: no such directory'],
    ['a file', ['-p', 'x', '--cwd', 'file'], '--cwd', 'file: is not a directory'],
    ['one below a file', ['-p', 'x', '--cwd', 'file/below'], '--cwd', "can't be opened (ENOTDIR"],
    [
      'a link that leads to itself',
      ['-p', 'x', '--cwd', 'loop'],
      '--cwd',
      "can't be opened (ELOOP",
    ],
    [
      'a further one',
      ['-p', 'x', '--add-dir', 'missing'],
      '--add-dir',
      'missing: no such directory',
    ],
    ['of agents', ['agents', 'list', '--cwd', 'missing'], '--cwd', 'missing: no such directory'],
    ['of models', ['models', '--cwd', 'missing'], '--cwd', 'missing: no such directory'],
    ['of settings', ['config', 'show', '--cwd', 'missing'], '--cwd', 'missing: no such directory'],
  ])('%s', async (_, args, flag, problem) => {
    using sandbox = new Sandbox({ file: 'text' });
    symlinkSync('loop', join(sandbox.workspace, 'loop'));
    const line = expectOneLine(await runMuster(sandbox, args), 2);
    expect(line).toMatch(new RegExp(`^${flag} `));
    expect(line).toContain(problem);
  });

  it.each([
    ['a file in its place', 'file', 'is not a directory'],
    ['a file above it', 'file/below/data', 'ENOTDIR'],
  ])('a data directory with %s', async (_, path, problem) => {
    using sandbox = new Sandbox({ file: 'text' });
    const full = join(sandbox.workspace, path);
    const line = expectOneLine(await runMuster(sandbox, ['-p', 'x', '--data-dir', path]), 2);
    expect(line).toContain(problem);
    expect(line).toContain(join(sandbox.workspace, 'file'));
    const listing = expectOneLine(
      await runMuster(sandbox, ['tasks', 'list', '--data-dir', full]),
      2,
    );
    expect(listing).toBe(line);
  });
});

describe.concurrent('a model that can not be', () => {
  it.each([
    [
      'named without its key',
      'anthropic/claude-sonnet-4-5',
      '--model: "anthropic/claude-sonnet-4-5" needs a key: set ANTHROPIC_API_KEY in the environment, or run "muster login anthropic"',
    ],
    [
      'of no provider',
      'nobody/nothing',
      '--model: no configured provider has a model "nobody/nothing"; valid are inherit, auto, fast, balanced, powerful, offline',
    ],
  ])('%s', async (_, model, message) => {
    using sandbox = new Sandbox();
    const run = await runMuster(sandbox, ['-p', 'x', '--model', model]);
    expect(expectOneLine(run, 2)).toBe(message);
  });

  it('of another provider than the one with a key', async () => {
    using sandbox = new Sandbox();
    const run = await runMuster(sandbox, ['-p', 'x', '--model', 'openai/gpt-5'], {
      env: { ANTHROPIC_API_KEY: KEY },
    });
    expect(expectOneLine(run, 2)).toBe(
      '--model: "openai/gpt-5" needs a key: set OPENAI_API_KEY in the environment, or run "muster login openai"',
    );
  });
});

describe.concurrent('a provider that fails', () => {
  it('refuses the connection', async () => {
    using sandbox = new Sandbox();
    const run = await runMuster(sandbox, ['-p', 'x'], {
      env: {
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${await closedPort()}`,
        MUSTER_PROVIDER_RETRIES: '1',
      },
    });
    const line = expectOneLine(run, 1);
    expect(line).toMatch(/^failed: PROVIDER_ERROR: anthropic\/\S+: no connection: .*ECONNREFUSED/);
  });

  it.each([
    [401, 'invalid x-api-key'],
    [403, 'not for you'],
    [404, 'model not found'],
    [400, 'too long'],
  ])('answers %i, once', async (status, message) => {
    using sandbox = new Sandbox();
    const model = await startFakeModel({
      script: () => ({ fault: { kind: 'status', status, message: `${message} (${KEY})` } }),
    });
    try {
      const run = await runMuster(sandbox, ['-p', 'x'], {
        env: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url },
      });
      const line = expectOneLine(run, 1);
      expect(line).toMatch(/^failed: PROVIDER_ERROR: anthropic\//);
      expect(line).toContain(message);
      expect(model.requests.length).toBe(1);
    } finally {
      await model.close();
    }
  });
});

describe.concurrent('a configuration file with', () => {
  it.each([
    [
      'a wrong key',
      '[task_tool]\n# …\nmax_dept = 3\n',
      3,
      'unknown key "max_dept" in [task_tool]; valid: max_depth',
    ],
    [
      'a wrong section',
      '[tasks]\nmax_depth = 3\n',
      1,
      'unknown section [tasks]; valid: [task_tool]',
    ],
    [
      'a wrong value',
      '[task_tool]\n\nmax_depth = "three"\n',
      3,
      'must be a whole number from 0 to 32, not "three"',
    ],
    ['what is no TOML', '[task_tool]\nmax_depth = = 3\n', 2, 'not valid TOML'],
    ['a wrong rule', '[permissions]\nallow = ["Bash("]\n', 2, 'rule "Bash("'],
  ])('%s', async (_, text, line, problem) => {
    using sandbox = new Sandbox();
    const path = configFile(sandbox, text);
    const told = expectOneLine(await runMuster(sandbox, ['-p', 'x']), 2);
    expect(told.startsWith(`${path}:${line}:`)).toBe(true);
    expect(told).toContain(problem);
    expect(told.split(path).length - 1).toBe(1);
  });

  it.each([
    ['MUSTER_TASK_TOOL_MAX_DEPTH', 'three', 'task_tool.max_depth must be a whole number'],
    ['MUSTER_TASK_TOOL_MAX_DEPT', '3', 'no key of [task_tool] has this variable'],
  ])('… or the variable %s', async (name, value, problem) => {
    using sandbox = new Sandbox();
    const run = await runMuster(sandbox, ['-p', 'x'], { env: { [name]: value } });
    const told = expectOneLine(run, 2);
    expect(told.startsWith(`${name}: `)).toBe(true);
    expect(told).toContain(problem);
  });
});

/** A port that nobody listens on: it was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === 'object' && address !== null ? address.port : 1;
}
