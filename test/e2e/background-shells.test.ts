import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { envelopeOf, eventsOf, runMuster } from './muster.ts';
import { findMarked, waitForMarked } from './processes.ts';
import { bash, callsInTurn, openWorld, type World } from './world.ts';

const AUTONOMOUS = ['--permission-mode', 'autonomous', '--output-format', 'json'];

const SERVER = `
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
const server = createServer((_, response) => response.end('hello from the server'));
server.listen(0, '127.0.0.1', () => {
  console.log('listening');
  writeFileSync('port', String(server.address().port));
});
`;
const ASK_SERVER =
  "until [ -s port ]; do sleep 0.02; done; node -e \"fetch('http://127.0.0.1:' + require('fs').readFileSync('port')).then((r) => r.text()).then(console.log)\"";

function inBackground(command: string) {
  return { name: 'Bash', input: { command, run_in_background: true } };
}

/** What the results of the newest message of calls say. */
function results(request: RecordedRequest | undefined): readonly string[] {
  const told = request?.messages.findLast(({ toolResults }) => toolResults.length > 0);
  return told?.toolResults.map(({ text }) => text) ?? [];
}

/** The file that the start of a shell named, read as any other. */
function readOutput(request: RecordedRequest) {
  const path = /output grows in (\S+?)(\\n|\n)/.exec(everything(request))?.[1];
  return { name: 'Read', input: { file_path: path ?? 'none' } };
}

function everything(request: RecordedRequest | undefined): string {
  return JSON.stringify(request?.body);
}

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

function logOf(world: World, id: string): string {
  return join(world.sandbox.data, 'tasks', `${id}.jsonl`);
}

async function newestTask(world: World): Promise<string> {
  const { stdout } = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
  return JSON.parse(stdout)[0].id;
}

/** Waits until the only log of the world holds a text that often. */
async function logHolds(world: World, text: string, count: number): Promise<void> {
  const tasks = join(world.sandbox.data, 'tasks');
  const name = readdirSync(tasks).find((file) => file.endsWith('.jsonl')) ?? 'none';
  for (let waited = 0; waited < 60_000; waited += 20) {
    if (readFileSync(join(tasks, name), 'utf8').split(text).length > count) return;
    await sleep(20);
  }
  throw new Error(`after a minute the log does not hold ${text} ${count} times`);
}

describe.concurrent('a dev server in the background', () => {
  it('serves a later command, and ends with the run that it does not keep alive', async () => {
    await using world = await openWorld({
      files: { 'server.mjs': SERVER },
      script: (request) => {
        const rounds = toolResultRounds(request);
        if (rounds === 0) return { toolCalls: [inBackground('node server.mjs')] };
        if (rounds === 1) return { toolCalls: [bash(ASK_SERVER)] };
        return rounds === 2 ? { toolCalls: [readOutput(request)] } : { text: 'The end.' };
      },
    });
    const run = await world.run(['-p', 'go', ...AUTONOMOUS]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const { requests } = world.model;
    expect(results(requests[2])).toEqual(['hello from the server\n[exit code 0]']);
    expect(results(requests[3])).toEqual([expect.stringContaining('listening')]);
    // The answer, what is told of the shell, and the answer once more.
    expect(requests.length).toBe(5);
    expect(lastUserText(requests[4] ?? never())).toContain('Still running in the background: ');
    const { data } = envelopeOf(run);
    const [shell] = data.receipt.shells;
    expect(data.receipt.shells).toEqual([
      { id: expect.any(String), command: 'node server.mjs', end: 'stopped', exitCode: null },
    ]);
    expect(findMarked(world.mark)).toEqual([]);

    const show = await runMuster(world.sandbox, ['tasks', 'show', data.task_id]);
    expect(show.stdout).toMatch(
      new RegExp(`^shells +${shell?.id} \\(node server\\.mjs\\): stopped$`, 'm'),
    );
  });

  it('is refused where the Task tools are off, and the model can go another way', async () => {
    await using world = await openWorld({
      script: callsInTurn([inBackground('touch there')], [bash('echo here')]),
    });
    const env = { MUSTER_TASK_TOOL_ENABLED: 'false' };
    const run = await world.run(['-p', 'go', ...AUTONOMOUS], { env });
    expect(run.code).toBe(0);
    expect(results(world.model.requests[1])).toEqual([
      expect.stringMatching(
        /^run_in_background: needs TaskOutput and TaskStop, .*task_tool\.enabled/,
      ),
    ]);
    expect(results(world.model.requests[2])).toEqual(['here\n[exit code 0]']);
    expect(existsSync(join(world.sandbox.workspace, 'there'))).toBe(false);
    expect(envelopeOf(run).data.receipt.shells).toEqual([]);
  });
});

describe.concurrent('the end of a background shell', () => {
  it('is told together with another one that ends with it', async () => {
    const wait = (code: number) => `until [ -e go ]; do sleep 0.02; done; exit ${code}`;
    await using world = await openWorld({
      script: async (request) => {
        if (toolResultRounds(request) === 0) {
          return { toolCalls: [inBackground(wait(1)), inBackground(wait(2))] };
        }
        if (!existsSync(join(world.sandbox.workspace, 'go'))) {
          world.sandbox.write('go', '');
          await logHolds(world, '"shell.ended"', 2);
        }
        return { text: 'The end.' };
      },
    });
    const run = await world.run(['-p', 'go', ...AUTONOMOUS]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const { requests } = world.model;
    expect(requests.length).toBe(3);
    const text = everything(requests[2]);
    expect(text.match(/Ended in the background/g)?.length).toBe(1);
    expect(text.match(/ended with exit code [12]/g)?.toSorted()).toEqual([
      'ended with exit code 1',
      'ended with exit code 2',
    ]);
  });

  it('wakes an idle main agent while its child works on', async () => {
    const child = Promise.withResolvers<void>();
    await using world = await openWorld({
      script: async (request) => {
        if (!isMain(request)) {
          await child.promise;
          return { text: 'The child is done.' };
        }
        if (toolResultRounds(request) === 0) {
          return {
            toolCalls: [
              inBackground('until [ -e go ]; do sleep 0.02; done; exit 7'),
              {
                name: 'Task',
                input: { prompt: 'part', subagent_type: 'Explore', run_in_background: true },
              },
            ],
          };
        }
        return { text: 'I wait.' };
      },
    });
    const run = world.start(['-p', 'go', ...AUTONOMOUS]);
    // The main agent's first two, and the child's.
    await world.model.received(3);
    await world.model.requests.filter(isMain)[1]?.ended;
    world.sandbox.write('go', '');
    const fourth = await world.model.received(4);
    expect(isMain(fourth)).toBe(true);
    expect(lastUserText(fourth)).toContain('ended with exit code 7');
    child.resolve();
    const { code } = await run.finished;
    expect(code).toBe(0);
    const last = world.model.requests.at(-1);
    expect(last === fourth).toBe(false);
    expect(everything(last).match(/ended with exit code 7/g)?.length).toBe(1);
  });
});

describe.concurrent('after kill -9 and --continue', () => {
  it('a shell is dead and told of as lost; its call stands as it was', async () => {
    let hang = true;
    await using world = await openWorld({
      bare: true,
      script: (request) => {
        if (toolResultRounds(request) === 0) {
          return { toolCalls: [inBackground('echo before; sleep 300 & setsid sleep 301 & wait')] };
        }
        return hang ? { fault: { kind: 'hang' } } : { text: 'The end.' };
      },
    });
    const first = world.start(['-p', 'go', ...AUTONOMOUS]);
    const before = await world.model.received(2);
    await waitForMarked(world.mark, (pids) => pids.length === 4);
    first.process.kill('SIGKILL');
    await first.finished;
    expect(findMarked(world.mark).length).toBe(3);
    const show = await runMuster(world.sandbox, ['tasks', 'show', await newestTask(world)]);
    expect(show.stdout).toMatch(/^shells +\w+ \(echo before; .*\): lost$/m);
    hang = false;

    const second = await world.run(['--continue', ...AUTONOMOUS]);
    expect([second.code, second.stderr]).toEqual([0, '']);
    const { requests } = world.model;
    // The lost request once more, byte for byte; then what has become known since.
    expect(everything(requests[2])).toBe(everything(before));
    expect(lastUserText(requests[3] ?? never())).toMatch(
      /Shell \w+ .*: lost: its outcome is unknown/,
    );
    expect(results(requests[3])).toEqual(results(before));
    expect(results(before)).toEqual([expect.stringMatching(/^Shell \w+ runs in the background/)]);
    expect(envelopeOf(second).data.receipt.shells).toMatchObject([{ end: 'lost', exitCode: null }]);
    expect(findMarked(world.mark)).toEqual([]);
  });

  it('a call that had started one and has no outcome is unknown, and does not start it again', async () => {
    let hang = true;
    await using world = await openWorld({
      bare: true,
      script: (request) => {
        if (toolResultRounds(request) === 0) {
          return { toolCalls: [inBackground('echo ran >> count; sleep 300; true')] };
        }
        return hang ? { fault: { kind: 'hang' } } : { text: 'The end.' };
      },
    });
    const first = world.start([
      '-p',
      'go',
      '--permission-mode',
      'autonomous',
      '--output-format',
      'stream-json',
    ]);
    await world.model.received(2);
    await waitForMarked(world.mark, (pids) => pids.length === 3);
    first.process.kill('SIGKILL');
    const events = eventsOf(await first.finished);
    hang = false;
    // As if it had died between the start of the shell and the outcome of the call.
    const log = logOf(world, events[0]?.task ?? '');
    const lines = readFileSync(log, 'utf8').split('\n');
    const started = lines.findIndex((line) => line.includes('"shell.started"'));
    expect(started).toBeGreaterThan(0);
    writeFileSync(log, `${lines.slice(0, started + 1).join('\n')}\n`);

    const second = await world.run(['--continue', ...AUTONOMOUS]);
    expect([second.code, second.stderr]).toEqual([0, '']);
    const told = world.model.requests[2];
    expect(results(told)).toEqual([
      'Its outcome is unknown: the process that ran it ended while it ran. Look before you do it again.',
    ]);
    expect(everything(told)).toMatch(/Shell \w+ .*: lost: its outcome is unknown/);
    expect(readFileSync(join(world.sandbox.workspace, 'count'), 'utf8')).toBe('ran\n');
    expect(findMarked(world.mark)).toEqual([]);
  });
});

describe.concurrent('a signal', () => {
  it.each([
    ['obeys', 'sleep 300', 'stopped'],
    ['does not obey', "trap '' TERM INT HUP; while :; do sleep 1; done", 'killed'],
  ])('ends a background shell that %s with the run', async (_, command, status) => {
    await using world = await openWorld({
      bare: true,
      script: (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [inBackground(command)] }
          : { fault: { kind: 'hang' } },
    });
    const run = world.start(['-p', 'go', ...AUTONOMOUS]);
    await world.model.received(2);
    // Muster, the shell, and what that runs: `trap` is set by then.
    await waitForMarked(world.mark, (pids) => pids.length === (status === 'killed' ? 3 : 2));
    run.process.kill('SIGINT');
    const finished = await run.finished;
    expect(finished.code).toBe(130);
    const { data } = envelopeOf(finished);
    expect([data.status, data.receipt.shells.map(({ end }) => end)]).toEqual([status, [status]]);
    expect(findMarked(world.mark)).toEqual([]);
  });
});

it('one command in the background, made for ever, is not begun more than ten times', async () => {
  await using world = await openWorld({
    bare: true,
    script: (request) =>
      toolResultRounds(request) < 40 ? { toolCalls: [inBackground('echo hi')] } : { text: 'done' },
  });
  const { data } = envelopeOf(await world.run(['-p', 'go', ...AUTONOMOUS]));
  expect(data.receipt.shells).toHaveLength(10);
  expect(data.status).toBe('partial');
});

function never(): never {
  throw new Error('the request was not sent');
}

it('with --no-log leaves no output behind, also when a second signal ends the run at once', async () => {
  await using world = await openWorld({
    bare: true,
    script: callsInTurn([inBackground("trap '' TERM; echo secret; sleep 60")], [bash('sleep 60')]),
  });
  const run = world.start(['-p', 'go', '--no-log', ...AUTONOMOUS], {
    env: { TMPDIR: world.sandbox.home },
  });
  await world.model.received(2);
  const spilled = () =>
    readdirSync(world.sandbox.home).filter((name) => name.startsWith('muster-'));
  expect(spilled().length).toBe(1);
  run.process.kill('SIGINT');
  await sleep(100);
  run.process.kill('SIGINT');
  expect((await run.finished).code).toBe(130);
  expect(spilled()).toEqual([]);
});
