import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_MESSAGE_LIMITS } from '../../src/sys/processes/message-lines.ts';
import { newId } from '../../src/base/ids.ts';
import { endMarked, findMarked, waitForMarked } from '../e2e/processes.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { createHost, FAULTY, firstText, FOREVER, readEntry } from './support.ts';

const options = { signal: FOREVER };

test('a server that does not exist is an error that says so', async () => {
  const host = createHost();
  const server = host.open(readEntry({ command: '/no/such/program' }));
  await expect(server.start(FOREVER)).rejects.toThrow(
    'MCP server s: it could not be started: spawn /no/such/program ENOENT',
  );
});

test('a directory that does not exist is an error that names it', async () => {
  const host = createHost();
  const server = host.open(readEntry({ command: 'cat', cwd: '/no/such/directory' }));
  await expect(server.start(FOREVER)).rejects.toThrow(
    'MCP server s: its directory /no/such/directory does not exist',
  );
});

test('a server that ends at once is an error with its code and stderr', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY, { FAULT: 'exit-at-start' }));
  await expect(server.start(FOREVER)).rejects.toThrow(
    'MCP server s: it could not be started: exited with code 3; the end of its stderr: cannot find the database',
  );
  expect(host.connections.status()).toMatchObject([{ state: 'stopped' }]);
});

test('a server that hangs at its start is ended after the limit', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY, { FAULT: 'silent' }, { start_seconds: 0.5 }));
  await expect(server.start(FOREVER)).rejects.toThrow(
    'MCP server s: it could not be started: it did not answer within 500 ms',
  );
  expect(findMarked(host.mark)).toEqual([]);
});

test('an abort stops waiting for a start, which goes on for others', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY));
  const other = host.open(host.stdio(FAULTY));
  const cancelled = { message: 'MCP server s: the request was cancelled', isOutcomeUnknown: false };
  await expect(server.start(AbortSignal.abort())).rejects.toMatchObject(cancelled);
  const controller = new AbortController();
  const aborted = expect(server.start(controller.signal)).rejects.toMatchObject(cancelled);
  const started = other.start(FOREVER);
  controller.abort();
  await aborted;
  expect(await started).toMatchObject({ name: 'faulty', protocolVersion: '2025-11-25' });
});

test('a server that ends at a question of the newest revision is started again and not asked', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY, { FAULT: 'exit-when-asked' }));
  expect(await server.start(FOREVER)).toMatchObject({ protocolVersion: '2025-11-25' });
  const methods = () => host.notes().filter((note) => !note.startsWith('start '));
  await waitUntilPasses(() =>
    expect(methods()).toEqual(['server/discover', 'initialize', 'notifications/initialized']),
  );
});

test('a server that is killed during a call is reported, started again, and the outcome is unknown', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY));
  await expect(server.callTool('die', {}, options)).rejects.toMatchObject({
    message: 'MCP server s: was ended by SIGKILL',
    kind: 'lost',
    isOutcomeUnknown: true,
    retryable: true,
  });
  expect(host.connections.status()).toMatchObject([{ state: 'waiting' }]);
  await waitUntilPasses(() =>
    expect(host.connections.status()).toMatchObject([{ state: 'ready' }]),
  );
  expect(host.events.slice(0, 4)).toEqual([
    { type: 'started', protocolVersion: '2025-11-25', isRestart: false },
    { type: 'lost', reason: 'was ended by SIGKILL', restartMs: 1000 },
    { type: 'started', protocolVersion: '2025-11-25', isRestart: true },
    { type: 'list-changed', list: 'tools' },
  ]);
});

test('a request waits for the restart', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY));
  await expect(server.callTool('exit', {}, options)).rejects.toThrow(
    'MCP server s: exited with code 137; the end of its stderr: out of memory',
  );
  expect(firstText(await server.callTool('x', {}, options))).toBe('called x');
});

test('a server without users is not started again by itself', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY));
  await server.start(FOREVER);
  await server.release();
  for (const pid of findMarked(host.mark)) process.kill(pid, 'SIGKILL');
  await waitUntilPasses(() =>
    expect(host.events.at(-1)).toEqual({
      type: 'lost',
      reason: 'was ended by SIGKILL',
      restartMs: null,
    }),
  );
  expect(host.connections.status()).toMatchObject([{ state: 'stopped' }]);
});

test('a server that fails again and again stays off until somebody asks for it', async () => {
  const host = createHost({
    // Each reading of the clock is an hour later, so no pause is left.
    clock: { now: () => 0, monotonic: createJumpingClock() },
  });
  const server = host.open(host.stdio(FAULTY, { FAULT: 'exit-at-start' }));
  for (let attempt = 0; attempt < 6; attempt += 1) {
    await expect(server.start(FOREVER)).rejects.toThrow('exited with code 3');
  }
  expect(host.connections.status()).toMatchObject([
    { state: 'failed', failure: { message: expect.stringContaining('exited with code 3') } },
  ]);
  const starts = host.notes().length;
  await expect(server.start(FOREVER)).rejects.toThrow('exited with code 3');
  expect(host.notes().length).toBe(starts);
  host.connections.retry('s');
  await expect(server.start(FOREVER)).rejects.toThrow('exited with code 3');
  expect(host.notes().length).toBeGreaterThan(starts);
});

function createJumpingClock(): () => number {
  let now = 0;
  return () => (now += 3_600_000);
}

test('a call without a sign of life is cancelled after the limit', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY, {}, { call_seconds: 0.3 }));
  await expect(server.callTool('hang', {}, options)).rejects.toMatchObject({
    message: 'MCP server s: the request showed no sign of life for 300 ms and was cancelled',
    kind: 'timeout',
    code: 'TIMEOUT',
    isOutcomeUnknown: true,
  });
  await waitUntilPasses(() =>
    expect(host.notes().some((note) => note.startsWith('notifications/cancelled'))).toBe(true),
  );
  expect(firstText(await server.callTool('x', {}, options))).toBe('called x');
});

test('progress does not keep a call alive beyond the limit for all calls', async () => {
  const host = createHost();
  const limits = { call_seconds: 0.5, max_call_seconds: 1 };
  const server = host.open(host.stdio(FAULTY, {}, limits));
  await expect(server.callTool('progress-forever', {}, options)).rejects.toThrow(
    'MCP server s: the request took more than 1.0 s and was cancelled',
  );
});

test('answers with wrong ids are reported, and the right answer counts', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY));
  expect(firstText(await server.callTool('wrong-id', {}, options))).toBe('right');
  const problems = host.events.filter(({ type }) => type === 'problem');
  expect(problems.length).toBeGreaterThanOrEqual(1);
  expect(problems[0]).toMatchObject({ message: expect.stringContaining('unknown message ID') });
});

test('a result of a wrong form is an error, and the connection stays', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY));
  await expect(server.callTool('wrong-result', {}, options)).rejects.toMatchObject({
    kind: 'invalid',
    isOutcomeUnknown: true,
  });
  expect(firstText(await server.callTool('x', {}, options))).toBe('called x');
});

test('requests for sampling and roots are answered as not supported', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY));
  const answer = firstText(await server.callTool('sample', {}, options));
  expect(JSON.parse(answer)).toEqual([-32_601, -32_601]);
});

test('the workspace is the only root that a server is told', async () => {
  const host = createHost({ roots: ['/work/my app'] });
  const server = host.open(host.stdio(FAULTY));
  const answer = firstText(await server.callTool('sample', {}, options));
  expect(JSON.parse(answer)).toEqual([
    -32_601,
    { roots: [{ uri: 'file:///work/my%20app', name: 'my app' }] },
  ]);
});

test('a storm of changes is reported a few times only', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY));
  expect(firstText(await server.callTool('storm', {}, options))).toBe('calm');
  const changes = host.events.filter(({ type }) => type === 'list-changed');
  expect(changes.length).toBeGreaterThanOrEqual(1);
  expect(changes.length).toBeLessThanOrEqual(20);
});

test('a list without an end is cut', async () => {
  const host = createHost();
  const endless = host.open(host.stdio(FAULTY, { FAULT: 'endless-pages' }));
  const { items, isComplete } = await endless.listTools(FOREVER);
  expect([items.length, isComplete]).toEqual([64, false]);
  const same = host.open(host.stdio(FAULTY, { FAULT: 'same-cursor' }));
  expect(await same.listTools(FOREVER)).toMatchObject({ items: [{}, {}], isComplete: false });
});

test('lines that are no messages are reported and ignored', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY, { FAULT: 'garbage-start' }));
  expect(firstText(await server.callTool('x', {}, options))).toBe('called x');
  expect(firstText(await server.callTool('garbage', { lines: 900 }, options))).toBe(
    'after garbage',
  );
  expect(host.events).toContainEqual({
    type: 'problem',
    message: 'it printed a line that is no message: Server is listening!',
  });
  // Not every line is worth a report.
  expect(host.events.length).toBeLessThan(120);
});

test.each([
  ['garbage-forever', 'it prints text to stdout, where only messages of the protocol are allowed'],
  ['one-long-line', 'it sent a message of more than 16 MB'],
])('the connection ends when stdout is flooded: %s', async (fault, message) => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY, { FAULT: fault }));
  await expect(server.callTool('hang', {}, options)).rejects.toThrow(message);
});

test('the limit for messages can be lower', async () => {
  const host = createHost({
    messageLimits: { ...DEFAULT_MESSAGE_LIMITS, maxMessageBytes: 1_500_000 },
  });
  const server = host.open(host.stdio(FAULTY, { FAULT: 'one-long-line' }));
  await expect(server.start(FOREVER)).rejects.toThrow('it sent a message of more than 1.4 MB');
});

test('a flood on stderr does no harm, and its end is kept', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY, { FAULT: 'flood-stderr' }));
  expect(firstText(await server.callTool('x', {}, options))).toBe('called x');
  const error: unknown = await server
    .callTool('exit', {}, options)
    .catch((thrown: unknown) => thrown);
  const message = error instanceof Error ? error.message : '';
  expect(message).toContain('the end of its stderr');
  expect(message.length).toBeLessThan(1000);
});

test.each(['close-stdin', 'close-stdout'])(
  'a closed pipe ends the connection: %s',
  async (fault) => {
    const host = createHost();
    const env = fault === 'close-stdin' ? { FAULT: fault } : {};
    const server = host.open(host.stdio(FAULTY, env, { start_seconds: 5, call_seconds: 5 }));
    const tool = fault === 'close-stdout' ? 'close-stdout' : 'x';
    await expect(server.callTool(tool, {}, options)).rejects.toThrow(
      /its std(?:in|out)|exited|EPIPE/,
    );
  },
);

test.each(['ignore-term', 'keep-running', 'forks'])(
  'nothing is left of a server that does not want to end: %s',
  async (fault) => {
    const host = createHost();
    const server = host.open(host.stdio(FAULTY, { FAULT: fault }));
    expect(firstText(await server.callTool('x', {}, options))).toBe('called x');
    expect(findMarked(host.mark).length).toBe(fault === 'forks' ? 3 : 1);
    await host.connections.close();
    expect(findMarked(host.mark)).toEqual([]);
  },
);

test.runIf(process.platform === 'linux')(
  'nothing is left when the process of Muster is killed',
  async () => {
    const mark = `MCP_TEST=${newId()}`;
    onTestFinished(() => endMarked(mark));
    const owner = spawn(process.execPath, [join(import.meta.dirname, 'servers/owner.ts'), mark], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void owner.kill('SIGKILL'));
    expect(String((await once(owner.stdout, 'data'))[0])).toBe('ready\n');
    expect(findMarked(mark).length).toBeGreaterThanOrEqual(4);
    owner.kill('SIGKILL');
    await waitForMarked(mark, (pids) => pids.length === 0);
  },
);
