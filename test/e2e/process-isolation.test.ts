import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  toolResultRounds,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { HAS_BUBBLEWRAP } from '../sys/sandbox/support.ts';
import { envelopeOf, eventsOf, type Finished } from './muster.ts';
import { findMarked, waitForMarked } from './processes.ts';
import { bash, openWorld, type World } from './world.ts';

const FILES = {
  'src/a.txt': 'one\ntwo\nthree\n',
  'src/b.txt': 'alpha two\n',
  '.muster/agents/careful.md': `---
name: careful
description: Works in a process of its own.
isolation: process
---
You work.
`,
  '.muster/agents/sharing.md': `---
name: sharing
description: Works in a process of its own.
---
You work.
`,
  '.muster/templates/look.md': `---
name: look
description: Looks at a file.
isolation: process
---
Look at {{item}}.
`,
  'src/long.log': `${'x'.repeat(200)} line\n`.repeat(600),
};
const FLAGS = ['--permission-mode', 'acceptEdits', '--trust-project'];

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

function task(isolation: string): AnswerToolCall {
  return { name: 'Task', input: { prompt: 'Do it.', description: 'do it', isolation } };
}

interface Script {
  /** `resume`: the main agent resumes its child. */
  readonly main?: readonly (readonly AnswerToolCall[] | 'resume')[];
  readonly child: readonly (readonly AnswerToolCall[])[];
  /** Returns true as long as the child gets no answer when its calls have run. */
  readonly hangs?: () => boolean;
}

function openTaskWorld(script: Script): Promise<World> {
  const { main = [[task('process')]], child, hangs = () => false } = script;
  return openWorld({
    files: FILES,
    script: (request) => {
      const round = toolResultRounds(request);
      const calls = isMain(request) ? main[round] : child[round];
      if (calls === 'resume') return { toolCalls: [resume(request)] };
      if (calls !== undefined) return { toolCalls: calls };
      if (!isMain(request) && hangs()) return { fault: { kind: 'hang' } };
      return { text: 'done' };
    },
  });
}

function resume({ messages }: RecordedRequest): AnswerToolCall {
  const texts = messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
  const id = /\b(?=[a-z]*\d)[a-z0-9]{12}\b/.exec(texts.join('\n'))?.[0] ?? '';
  return { name: 'Task', input: { prompt: 'Go on.', resume: id } };
}

/** All results that the tasks on one side got from their tools, in order. */
function results({ model }: World, ofMain: boolean): readonly string[] {
  const last = model.requests.findLast((request) => isMain(request) === ofMain);
  return last?.messages.flatMap((each) => each.toolResults).map(({ text }) => text) ?? [];
}

function file(name: string, input: object): AnswerToolCall {
  return { name, input: { ...input } };
}

/** Each tool that runs in the process, and a command in between. */
const WORK: readonly (readonly AnswerToolCall[])[] = [
  [file('Edit', { file_path: 'src/a.txt', old_string: 'two', new_string: 'TWO' })],
  [
    file('Read', { file_path: 'src/a.txt' }),
    file('Grep', { pattern: 'two' }),
    file('Grep', { pattern: 'line', output_mode: 'content', head_limit: 600 }),
    file('Glob', { pattern: '**/*.txt' }),
    file('LS', { path: '.' }),
    file('Read', { file_path: 'missing.txt' }),
  ],
  [file('Edit', { file_path: 'src/a.txt', old_string: 'two', new_string: 'TWO' })],
  [file('Write', { file_path: 'src/new/c.txt', content: 'new\n' })],
  [bash('cat src/a.txt src/new/c.txt && echo changed > src/b.txt')],
  [file('Write', { file_path: 'src/b.txt', content: 'mine\n' })],
  [file('Read', { file_path: 'src/b.txt' })],
  [file('MultiEdit', { file_path: 'src/b.txt', edits: [{ old_string: 'c', new_string: 'C' }] })],
  [file('Write', { file_path: '/etc/muster-test', content: 'no\n' })],
];

interface Outcome {
  readonly told: readonly string[];
  readonly reported: unknown;
  readonly events: readonly string[];
  readonly files: readonly string[];
}

/** Removes what differs between two runs in different directories. */
function normalize(text: string, { sandbox }: World): string {
  return text
    .replaceAll(sandbox.root, 'ROOT')
    .replaceAll(/careful|sharing/g, 'AGENT')
    .replaceAll(/\b[a-z0-9]{12}\b/g, 'ID')
    .replaceAll(/ID-[0-9a-f]{16}\b/g, 'ID')
    .replaceAll(/[\d.]+ ?m?s\b/g, 'TIME')
    .replaceAll(/outside [a-z0-9]+/g, 'outside');
}

/** Lets an agent do the work. The names of the two agents have the same length, so that requests have the same size. */
async function work(agent: 'careful' | 'sharing'): Promise<Outcome> {
  const call = { name: 'Task', input: { prompt: 'Do it.', subagent_type: agent } };
  await using world = await openTaskWorld({ main: [[call]], child: WORK });
  const run = await world.run(STREAM);
  expect(run).toMatchObject({ code: 0 });
  const { data } = envelopeOf(run);
  const children = eventsOf(run).filter(({ type }) => type.startsWith('call.'));
  return {
    told: results(world, false).map((text) => normalize(text, world)),
    reported: JSON.parse(
      normalize(
        JSON.stringify({ ...data, duration_seconds: 0, started_at: '', ended_at: '' }),
        world,
      ),
    ),
    events: children.map(({ type }) => type),
    files: ['src/a.txt', 'src/b.txt', 'src/new/c.txt'].map((path) =>
      readFileSync(join(world.sandbox.workspace, path), 'utf8'),
    ),
  };
}

/** A command that sends a signal to the process of the task that runs it. */
function signalOwnProcess(signal: string): AnswerToolCall {
  return bash(`for pid in $(cat /proc/$PPID/task/*/children); do
  grep -aq 'task-process.j[s]' /proc/$pid/cmdline && kill -${signal} $pid
done; true`);
}

const UNCONFINED = { MUSTER_SANDBOX_KIND: 'off' };
const STREAM = ['-p', 'go', ...FLAGS, '--allow', 'Bash', '--output-format', 'stream-json'];

function childEnd(run: Finished): unknown {
  return eventsOf(run).flatMap((event) =>
    event.type === 'task.ended' && event.end.status === 'failed' ? [event.end.error] : [],
  )[0];
}

describe('a task with a process of its own', () => {
  it('does the same as a task without, with the same results, receipts and events', async () => {
    const [own, shared] = [await work('careful'), await work('sharing')];
    expect(own).toEqual(shared);
    expect(own.files).toEqual(['one\nTWO\nthree\n', 'Changed\n', 'new\n']);
  });

  it('is what a definition can ask for', async () => {
    await using world = await openTaskWorld({
      main: [[{ name: 'Task', input: { prompt: 'Do it.', subagent_type: 'careful' } }]],
      child: [[file('Read', { file_path: 'src/a.txt' })]],
    });
    const run = await world.run(['-p', 'go', ...FLAGS, '--output-format', 'stream-json']);
    const isolations = eventsOf(run).flatMap((event) =>
      event.type === 'task.created' ? [event.spec.isolation] : [],
    );
    expect(isolations).toEqual([undefined, 'process']);
    expect(results(world, false)[0]).toContain('two');
  });

  it('is what a template can ask for', async () => {
    await using world = await openWorld({ files: FILES, script: () => ({ text: 'done' }) });
    const run = await world.run(['run', 'look', '--items', 'src/a.txt', '--trust-project']);
    expect(run).toMatchObject({ code: 0 });
    const tasks = join(world.sandbox.data, 'tasks');
    const logs = readdirSync(tasks).filter((name) => name.endsWith('.jsonl'));
    const isolations = logs.flatMap((name) => {
      const lines = readFileSync(join(tasks, name), 'utf8').trimEnd().split('\n');
      const events: readonly TaskEvent[] = lines.map((line) => JSON.parse(line));
      return events.flatMap((event) =>
        event.type === 'task.created' ? [[event.spec.parent !== null, event.spec.isolation]] : [],
      );
    });
    expect(new Map(isolations.map(([isItem, isolation]) => [isItem, isolation]))).toEqual(
      new Map<unknown, unknown>([
        [false, undefined],
        [true, 'process'],
      ]),
    );
  });

  it('fails with the cause when its process is killed, and its parent goes on', async () => {
    await using world = await openTaskWorld({
      child: [[signalOwnProcess('KILL')], [file('Read', { file_path: 'src/a.txt' })]],
    });
    const run = await world.run(STREAM, { env: UNCONFINED });
    expect(childEnd(run)).toEqual({
      code: 'INTERNAL_ERROR',
      message: 'the process of the task was killed by SIGKILL',
      retryable: false,
    });
    expect(results(world, true)[0]).toContain('the process of the task was killed by SIGKILL');
    expect(envelopeOf(run).data).toMatchObject({ status: 'completed', result: 'done' });
    expect(findMarked(world.mark)).toEqual([]);
  });

  it('fails with the limit when a command uses too much memory', async () => {
    await using world = await openTaskWorld({
      child: [[bash('head -c 400000000 /dev/zero | tail -c 399999999 | sleep 20')]],
    });
    const run = await world.run(STREAM, { env: { MUSTER_PROCESS_MEMORY_MB: '256' } });
    expect(childEnd(run)).toEqual({
      code: 'LIMIT_EXCEEDED',
      message: expect.stringMatching(
        /^the process of the task and its commands used \d+ MB of memory together \(limit process\.memory_mb = 256\)$/,
      ),
      retryable: false,
    });
    expect(findMarked(world.mark)).toEqual([]);
  });

  it('says at which limit a command used too much processor time', async () => {
    await using world = await openTaskWorld({ child: [[bash('echo begun; while :; do :; done')]] });
    const run = await world.run(STREAM, { env: { MUSTER_PROCESS_CPU_SECONDS: '1' } });
    expect(run).toMatchObject({ code: 0 });
    expect(results(world, false)).toEqual([
      expect.stringMatching(/begun\n(?:.*\n)?\[ended at the limit process\.cpu_seconds = 1\]/),
    ]);
  });

  it('fails with the limit when its process does not answer, and is resumed without a repetition', async () => {
    await using world = await openTaskWorld({
      main: [[task('process')], 'resume'],
      child: [[signalOwnProcess('STOP')], [file('Read', { file_path: 'src/a.txt' })]],
    });
    const env = { ...UNCONFINED, MUSTER_LIVENESS_TOOL_SECONDS: '4' };
    const run = await world.run(STREAM, { env });
    expect(childEnd(run)).toEqual({
      code: 'LIMIT_EXCEEDED',
      message:
        'the process of the task did not end its call of Read, although the limit tool_seconds = 4 was reached',
      retryable: false,
    });
    const reads = eventsOf(run).filter(
      (event) => event.type === 'call.started' && event.tool === 'Read',
    );
    expect(reads).toHaveLength(1);
    expect(results(world, false)[1]).toMatch(
      /^Ended after the limit tool_seconds = 4\.\nNo result: the process of the task did not end its call/,
    );
    expect(results(world, true)[1]).toContain('done');
    expect(findMarked(world.mark)).toEqual([]);
  });

  it('is stopped although its process does not answer', async () => {
    await using world = await openTaskWorld({
      child: [[signalOwnProcess('STOP')], [file('Read', { file_path: 'src/a.txt' })]],
    });
    const run = world.start(STREAM, { env: UNCONFINED });
    const readStarted = /"type":"call\.started"[^\n]*"tool":"Read"/;
    await waitForMarked(world.mark, () => readStarted.test(run.output()));
    run.process.kill('SIGINT');
    const ends = eventsOf(await run.finished).flatMap((event) =>
      event.type === 'task.ended' ? [event.end.status] : [],
    );
    expect(ends).toEqual(['killed', 'stopped']);
    expect(findMarked(world.mark)).toEqual([]);
  });

  it('leaves nothing behind after kill -9 of Muster, and is resumed in a new process', async () => {
    let hangs = true;
    await using world = await openTaskWorld({
      child: [[file('Read', { file_path: 'src/a.txt' })]],
      hangs: () => hangs,
    });
    const first = world.start(['-p', 'go', ...FLAGS]);
    await world.model.received(3);
    await waitForMarked(world.mark, (pids) => pids.some(isTaskProcess));
    first.process.kill('SIGKILL');
    await first.finished;
    await waitForMarked(world.mark, (pids) => pids.length === 0);
    hangs = false;
    const second = await world.run(['--continue', ...FLAGS, '--output-format', 'json']);
    expect(envelopeOf(second).data).toMatchObject({ status: 'completed', result: 'done' });
    expect(results(world, false)[0]).toContain('two');
    expect(findMarked(world.mark)).toEqual([]);
  });

  it.runIf(HAS_BUBBLEWRAP)(
    'runs in the sandbox, and fails with the cause when it is killed there',
    async () => {
      let hangs = true;
      await using world = await openTaskWorld({
        child: [[file('Read', { file_path: 'src/a.txt' })]],
        hangs: () => hangs,
      });
      const run = world.start(['-p', 'go', ...FLAGS, '--output-format', 'stream-json']);
      await world.model.received(3);
      const inside = findMarked(world.mark).find((pid) => isInOtherNamespace(pid) && isNode(pid));
      if (inside === undefined) throw new Error('no process of a task is in a sandbox');
      process.kill(inside, 'SIGKILL');
      hangs = false;
      const finished = await run.finished;
      expect(childEnd(finished)).toEqual({
        code: 'INTERNAL_ERROR',
        message: 'the process of the task was killed by SIGKILL',
        retryable: false,
      });
      expect(findMarked(world.mark)).toEqual([]);
    },
  );

  it('obeys the rules that deny a tool or a path', async () => {
    await using world = await openTaskWorld({
      child: [
        [
          file('Read', { file_path: 'src/a.txt' }),
          file('Grep', { pattern: 'two' }),
          file('Write', { file_path: 'src/c.txt', content: 'x' }),
        ],
      ],
    });
    const run = await world.run([
      '-p',
      'go',
      ...FLAGS,
      '--deny',
      'Read(src/a.txt)',
      '--deny',
      'Write',
    ]);
    expect(run).toMatchObject({ code: 0 });
    const told = results(world, false);
    expect(told[0]).toContain('Read(src/a.txt)');
    expect(told[1]).toContain('src/b.txt');
    expect(told[1]).not.toContain('three');
    expect(told[1]).toContain('[1 file left out');
    expect(existsSync(join(world.sandbox.workspace, 'src/c.txt'))).toBe(false);
  });
});

function isInOtherNamespace(pid: number): boolean {
  return readlinkSync(`/proc/${pid}/ns/pid`) !== readlinkSync('/proc/self/ns/pid');
}

function isNode(pid: number): boolean {
  return readlinkSync(`/proc/${pid}/exe`) === process.execPath;
}

function isTaskProcess(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('task-process.js');
}
