import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds } from '../../src/testing/index.ts';
import { reach } from './ending.ts';
import { envelopeOf, runMuster, Sandbox } from './muster.ts';
import { bash, callsInTurn, lastResults, openWorld } from './world.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';

const READ = { name: 'Read', input: { file_path: 'a.txt' } };

describe.concurrent('without a model', () => {
  const files = { 'src/retry.ts': 'export function retryLimit() {\n  return 3;\n}\n' };

  it('the offline engine answers, and one line says so', async () => {
    using sandbox = new Sandbox(files);
    const run = await runMuster(sandbox, ['-p', 'Where is the retry limit decided?']);
    expect(run.code).toBe(0);
    expect(run.stdout).toContain('src/retry.ts:1');
    expect(run.stderr).toMatch(/^muster: no model is configured: [^\n]*ANTHROPIC_API_KEY[^\n]*\n$/);
  });

  it('asked for by name it says nothing', async () => {
    using sandbox = new Sandbox(files);
    const args = ['-p', 'Where is the retry limit decided?', '--model', 'offline'];
    const run = await runMuster(sandbox, args);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toContain('src/retry.ts:1');
  });

  it('nothing is asked of the network, a key or not', async () => {
    using sandbox = new Sandbox(files);
    const asked: string[] = [];
    const trap = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    trap.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      socket.destroy();
    });
    trap.listen(0, '127.0.0.1');
    await once(trap, 'listening');
    const address = trap.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    try {
      const run = await runMuster(sandbox, ['-p', 'retry limit', '--model', 'offline'], {
        env: {
          ANTHROPIC_API_KEY: 'a-key-of-some-length',
          ANTHROPIC_BASE_URL: url,
          HTTPS_PROXY: url,
          HTTP_PROXY: url,
        },
      });
      expect([run.code, run.stderr, asked]).toEqual([0, '', []]);
    } finally {
      trap.closeAllConnections();
      trap.close();
    }
  });
});

describe.concurrent('what is kept', () => {
  /** Every path below a directory with its permissions and size. */
  function snapshot(directory: string): readonly string[] {
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path, stats: statSync(path) }))
      .map(({ path, stats }) => `${relative(directory, path)} ${stats.mode} ${stats.size}`)
      .toSorted();
  }

  it('is nothing with --no-log, with children and spilled output too', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: (request) => {
        if (toolResultRounds(request) > 0) return { text: 'done' };
        if (lastUserText(request) === 'part') return { toolCalls: [READ] };
        return {
          toolCalls: [
            { name: 'Task', input: { prompt: 'part', subagent_type: 'Explore' } },
            bash('seq 1 100000'),
          ],
        };
      },
    });
    const before = snapshot(world.sandbox.root);
    const run = await world.run(
      ['-p', 'go', '--no-log', '--allow', 'Bash', '--output-format', 'json'],
      {
        // The compiled code that Node keeps is the same for every run and tells nothing of it.
        env: { NODE_DISABLE_COMPILE_CACHE: '1', TMPDIR: world.sandbox.home },
      },
    );
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(snapshot(world.sandbox.root)).toEqual(before);
    const { data } = envelopeOf(run);
    expect([data.transcript, data.output_file]).toEqual([null, null]);
    expect(lastResults(world.model).map(({ isError }) => isError)).toEqual([false, false]);
  });

  it('is for the user alone, whatever the umask', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: callsInTurn([READ, bash('seq 1 100000')]),
    });
    const umask = process.umask(0);
    let running;
    try {
      running = world.start(['-p', 'go', '--allow', 'Bash']);
    } finally {
      process.umask(umask);
    }
    expect((await running.finished).code).toBe(0);
    const { data } = world.sandbox;
    expect(statSync(data).mode & 0o777).toBe(0o700);
    for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
      const { mode } = statSync(join(entry.parentPath, entry.name));
      expect([entry.name, mode & 0o777]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
    }
  });

  it('grows while the run works: output_file', async () => {
    const { promise: shown, resolve: goOn } = Promise.withResolvers<void>();
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: async (request) => {
        if (toolResultRounds(request) === 0) {
          return { text: 'I look at the file first.', toolCalls: [READ] };
        }
        await shown;
        return { text: 'This is the end of it.' };
      },
    });
    const running = world.start(['-p', 'go', '--output-format', 'json']);
    await reach(running, world.model.received(2));
    const tasks = join(world.sandbox.data, 'tasks');
    // The text is written a moment after the events that it tells of.
    const findOutput = () => readdirSync(tasks).find((file) => file.endsWith('.out')) ?? '';
    const readOutput = () => readFileSync(join(tasks, findOutput()), 'utf8');
    await waitUntilPasses(() => {
      expect(readOutput()).toContain('I look at the file first.');
    });
    const [name, early] = [findOutput(), readOutput()];
    goOn();
    const run = await running.finished;
    const { output_file: path } = envelopeOf(run).data;
    expect(path).toBe(join(tasks, name));
    const late = readFileSync(join(tasks, name), 'utf8');
    expect(late.startsWith(early)).toBe(true);
    expect(late).toContain('This is the end of it.');
  });

  it('holds no key that the environment has', async () => {
    const key = 'sk-SECRET-OF-THE-USER';
    await using world = await openWorld({
      files: { 'a.txt': `a copy of ${key}\n` },
      script: callsInTurn([READ]),
    });
    const run = await world.run(['-p', `my key is ${key}`], { env: { ANTHROPIC_API_KEY: key } });
    expect(run.code).toBe(0);
    for (const entry of readdirSync(world.sandbox.data, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      expect(readFileSync(join(entry.parentPath, entry.name), 'utf8')).not.toContain(key);
    }
  });
});

describe.concurrent('flags and settings', () => {
  it('--add-dir opens a second directory to the tools, and nothing else does', async () => {
    using other = new Sandbox({ 'b.txt': 'from the other one' });
    const path = join(other.workspace, 'b.txt');
    await using world = await openWorld({
      script: callsInTurn([{ name: 'Read', input: { file_path: path } }]),
    });
    expect((await world.run(['-p', 'go'])).code).toBe(0);
    const [refused] = lastResults(world.model);
    expect(refused?.isError).toBe(true);
    expect(refused?.text).not.toContain('from the other one');
    expect((await world.run(['-p', 'go', '--add-dir', other.workspace])).code).toBe(0);
    expect(lastResults(world.model)).toMatchObject([
      { isError: false, text: expect.stringContaining('from the other one') },
    ]);
  });

  it('--agent Explore is the main agent, with its tools and its mode', async () => {
    await using world = await openWorld({
      script: callsInTurn([{ name: 'Write', input: { file_path: 'new.txt', content: 'x' } }]),
    });
    const args = ['-p', 'go', '--agent', 'explore', '--permission-mode', 'autonomous'];
    const run = await world.run([...args, '--output-format', 'json']);
    expect(run.code).toBe(0);
    expect(envelopeOf(run).data.subagent_type).toBe('Explore');
    expect(world.model.requests[0]?.tools.map(({ name }) => name)).toEqual([
      'Read',
      'LS',
      'Glob',
      'Grep',
      'WebFetch',
      'WebSearch',
      'Notify',
      'TaskList',
      'TaskReplay',
      'MemoryList',
      'MemoryRead',
    ]);
    expect(lastResults(world.model)).toMatchObject([{ isError: true }]);
    expect(readdirSync(world.sandbox.workspace)).toEqual([]);
  });

  it.each([
    ['--verbose', ['--verbose'], {}],
    ['enable_verbose_logging', [], { MUSTER_TASK_TOOL_ENABLE_VERBOSE_LOGGING: 'true' }],
  ])('%s shows the subagents and their calls on stderr', async (_, flags, env) => {
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: (request) => {
        if (toolResultRounds(request) > 0) return { text: 'done' };
        return lastUserText(request) === 'part'
          ? { toolCalls: [READ] }
          : { toolCalls: [{ name: 'Task', input: { prompt: 'part', subagent_type: 'Explore' } }] };
      },
    });
    const run = await world.run(['-p', 'go', ...flags], { env });
    expect([run.code, run.stdout]).toEqual([0, 'done\n']);
    expect(run.stderr).toMatch(/▸ Explore [a-z0-9]{6}: part\n/);
    expect(run.stderr).toMatch(/Explore [a-z0-9]{6}: Read \{"file_path":"a\.txt"\}\n/);
    expect(run.stderr).toMatch(/✓ Explore [a-z0-9]{6}: 2 turns, 1 tool call, /);
  });

  it('two runs at once in one directory don’t meet', async () => {
    await using world = await openWorld({ files: { 'a.txt': 'x' }, script: callsInTurn([READ]) });
    const runs = await Promise.all(
      [1, 2, 3].map(() => world.run(['-p', 'go', '--output-format', 'json'])),
    );
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(new Set(runs.map((run) => envelopeOf(run).data.task_id)).size).toBe(3);
  });
});
