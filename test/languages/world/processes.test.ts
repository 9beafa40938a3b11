import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../../src/base/async.ts';
import { lastUserText, toolResultRounds } from '../../../src/testing/index.ts';
import { readTextIfPresent } from '../../../src/sys/files/path-lookup.ts';
import { findMarked, waitForMarked } from '../../e2e/processes.ts';
import { openWorld } from '../../e2e/world.ts';
import { writeFakeServer } from '../fake-server.ts';
import { call, PATIENT } from './code-world.ts';

const WRITE = (name: string) => call('Write', { file_path: name, content: 'bad\n' });

it('twelve children share one server', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `${index}.fake`);
  await using world = await openWorld({
    script: (request) => {
      const name = names.find((each) => lastUserText(request).includes(`write ${each}`));
      if (name !== undefined || names.some((each) => request.messages[0]?.text.includes(each))) {
        return toolResultRounds(request) === 0 && name !== undefined
          ? { toolCalls: [WRITE(name)] }
          : { text: `result: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` };
      }
      if (toolResultRounds(request) > 0) return { text: 'done' };
      return {
        toolCalls: names.map((each) =>
          call('Task', { description: 'Write', prompt: `write ${each}` }),
        ),
      };
    },
  });
  const { workspace } = world.sandbox;
  const starts = join(workspace, 'starts');
  const server = `${writeFakeServer(workspace)} good ${starts}`;
  const run = await world.run(
    ['-p', 'go', '--output-format', 'json', '--permission-mode', 'acceptEdits', '--trust-project'],
    // Without a sandbox the server can write down that it was started.
    { env: { ...PATIENT, MUSTER_CODE_SERVERS: `[".fake=${server}"]`, MUSTER_SANDBOX_KIND: 'off' } },
  );
  expect(run.code).toBe(0);
  const last = world.model.requests.at(-1);
  const results = (last?.messages ?? []).flatMap(({ toolResults }) => toolResults ?? []);
  expect(results).toHaveLength(12);
  for (const { text } of results) expect(text).toContain('1:1 error: this is bad');
  expect(readFileSync(starts, 'utf8').trim().split('\n')).toHaveLength(1);
  expect(findMarked(world.mark)).toEqual([]);
});

describe.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('after %s', (signal) => {
  it.each(['auto', 'off'])('no server is left running, with the sandbox "%s"', async (kind) => {
    const reached = deferred<void>();
    await using world = await openWorld({
      script: async (request) => {
        if (toolResultRounds(request) === 0) return { toolCalls: [WRITE('a.fake')] };
        reached.resolve();
        return await new Promise(() => {});
      },
    });
    const server = `${writeFakeServer(world.sandbox.workspace)} good`;
    const running = world.start(
      ['-p', 'go', '--permission-mode', 'acceptEdits', '--trust-project'],
      {
        env: { ...PATIENT, MUSTER_CODE_SERVERS: `[".fake=${server}"]`, MUSTER_SANDBOX_KIND: kind },
      },
    );
    await reached.promise;
    expect(findMarked(world.mark).filter(isFakeServer).length).toBeGreaterThan(0);
    process.kill(running.pid, signal);
    await running.finished;
    // After a kill the guard ends the server.
    await waitForMarked(world.mark, (pids) => pids.length === 0);
  });
});

it('SIGINT ends a run that waits for a server, and the server', async () => {
  await using world = await openWorld({
    script: () => ({ toolCalls: [WRITE('a.fake')] }),
  });
  const server = `${writeFakeServer(world.sandbox.workspace)} deaf`;
  const running = world.start(['-p', 'go', '--permission-mode', 'acceptEdits'], {
    env: { ...PATIENT, MUSTER_CODE_SERVERS: `[".fake=${server}"]` },
  });
  await waitForMarked(world.mark, (pids) => pids.some(isFakeServer));
  running.process.kill('SIGINT');
  expect((await running.finished).code).toBe(130);
  expect(findMarked(world.mark)).toEqual([]);
});

function isFakeServer(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fake-server.mjs');
  } catch {
    // The process has ended meanwhile.
    return false;
  }
}

it('edits of a task in a worktree are checked by a server of its own, which ends with it', async () => {
  const running: number[] = [];
  await using world = await openWorld({
    script: (request) => {
      const isChild = request.messages[0]?.text.includes('write a.fake') === true;
      running.push(readPids().filter(isAlive).length);
      if (toolResultRounds(request) > 0) return { text: 'done' };
      const input = { description: 'Write', prompt: 'write a.fake', isolation: 'worktree' };
      return { toolCalls: [isChild ? WRITE('a.fake') : call('Task', input)] };
    },
  });
  const { workspace } = world.sandbox;
  const starts = join(workspace, 'starts');
  const readPids = () =>
    (readTextIfPresent(starts) ?? '').split('\n').flatMap((pid) => Number(pid));
  const server = `${writeFakeServer(workspace)} good ${starts}`;
  execFileSync('git', ['init', '-q'], { cwd: workspace });
  execFileSync('git', ['add', '.'], { cwd: workspace });
  const commit = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', 'commit', '-qm', 'a'];
  execFileSync('git', commit, { cwd: workspace });
  const run = await world.run(
    ['-p', 'go', '--permission-mode', 'acceptEdits', '--trust-project'],
    // Without a sandbox the server can write down that it was started.
    { env: { ...PATIENT, MUSTER_CODE_SERVERS: `[".fake=${server}"]`, MUSTER_SANDBOX_KIND: 'off' } },
  );
  expect(run).toMatchObject({ code: 0 });
  const results = world.model.requests.flatMap(({ messages }) =>
    messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)),
  );
  expect(results.join('\n')).toContain('1:1 error: this is bad');
  // The requests: of the main agent, two of the child, and the last one of the main agent.
  expect(running).toEqual([0, 0, 1, 0]);
});

function isAlive(pid: number): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
