import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  firstUserText,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { describe as describeProcesses, findMarked } from './processes.ts';
import { bash, openWorld, type World } from './world.ts';

type Line = Answer | ((request: RecordedRequest) => Answer | Promise<Answer>);

/** Each task's answers in order, by the first word of its prompt. */
function script(parts: Readonly<Record<string, readonly Line[]>>) {
  return async (request: RecordedRequest): Promise<Answer> => {
    const answers = request.messages.filter(({ role }) => role === 'assistant').length;
    const line = parts[nameOf(request)]?.[answers] ?? { text: 'done' };
    return typeof line === 'function' ? line(request) : line;
  };
}

function nameOf(request: RecordedRequest): string {
  return firstUserText(request).split(/\s/)[0] ?? '';
}

function task(prompt: string, more: AnswerToolCall['input'] = {}): AnswerToolCall {
  const rest = typeof more === 'object' ? more : {};
  return {
    name: 'Task',
    input: { prompt, description: prompt, subagent_type: 'general-purpose', ...rest },
  };
}

const background = (prompt: string) => task(prompt, { run_in_background: true });

/** The ids of the tasks in the background that a request tells of, in order. */
function idsIn({ messages }: RecordedRequest): readonly string[] {
  return messages
    .flatMap(({ toolResults }) => toolResults)
    .flatMap(
      ({ text }) => /^Task (\w+) (?:runs in the background|is still running)/.exec(text)?.[1] ?? [],
    );
}

function lastRequest(world: World, name: string): RecordedRequest | undefined {
  return world.model.requests.findLast((request) => nameOf(request) === name);
}

function count(request: RecordedRequest | undefined, text: string): number {
  return (request?.rawBody ?? '').split(text).length - 1;
}

const ALLOWED = ['--permission-mode', 'autonomous'];

describe.concurrent('the built program', () => {
  it('exits when nothing runs and nothing is undelivered: the main agent is woken by each end', async () => {
    await using world = await openWorld({
      script: script({
        main: [
          { toolCalls: [background('fast'), background('slow')] },
          { text: 'I wait.' },
          { text: 'One is there.' },
          { text: 'Both are there.' },
        ],
        fast: [{ text: 'FAST-ANSWER' }],
        slow: [{ delayMs: 600, text: 'SLOW-ANSWER' }],
      }),
    });
    const run = await world.run(['-p', 'main']);
    expect(run).toMatchObject({ code: 0, stdout: 'Both are there.\n', stderr: '' });
    const last = lastRequest(world, 'main');
    expect([count(last, 'FAST-ANSWER'), count(last, 'SLOW-ANSWER')]).toEqual([1, 1]);
  });

  it('tells a result that TaskOutput has read no second time', async () => {
    await using world = await openWorld({
      script: script({
        main: [
          { toolCalls: [background('part')] },
          (request) => ({
            toolCalls: [{ name: 'TaskOutput', input: { task_id: idsIn(request)[0] ?? '' } }],
          }),
          { toolCalls: [{ name: 'TaskList', input: {} }] },
          { text: 'Read.' },
        ],
        part: [{ delayMs: 100, text: 'THE-ANSWER' }],
      }),
    });
    const run = await world.run(['-p', 'main']);
    expect(run).toMatchObject({ code: 0, stdout: 'Read.\n', stderr: '' });
    const last = lastRequest(world, 'main');
    expect(count(last, 'THE-ANSWER')).toBe(1);
    expect(last?.messages.at(-1)?.toolResults[0]?.text).toMatch(
      /^\w+ completed · general-purpose · 1 turn · part$/,
    );
  });

  it('stops a task and its commands for good; it goes on with a message', async () => {
    await using world = await openWorld({
      script: script({
        main: [
          { toolCalls: [background('part')] },
          async (request) => {
            while (!existsSync(join(world.sandbox.workspace, 'started'))) await sleep(20);
            const [id = ''] = idsIn(request);
            return { toolCalls: [{ name: 'TaskStop', input: { task_id: id.slice(0, 10) } }] };
          },
          (request) => {
            expect(sleeps(world)).toBe(false);
            const [id = ''] = idsIn(request);
            const input = { recipient: id, content: 'Leave it, and say LEFT-IT.' };
            return { toolCalls: [{ name: 'SendMessage', input }] };
          },
          { text: 'I wait.' },
          { text: 'All told.' },
        ],
        part: [
          { text: 'FOUND-SO-FAR', toolCalls: [bash('touch started && sleep 60')] },
          { text: 'LEFT-IT' },
        ],
      }),
    });
    const run = await world.run(['-p', 'main', '--output-format', 'stream-json', ...ALLOWED]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(envelopeOf(run).data.result).toBe('All told.');
    const ends = eventsOf(run).flatMap((event) =>
      event.type === 'task.ended' ? [[event.end.status, event.end.by, event.result]] : [],
    );
    expect(ends).toEqual([
      ['stopped', 'parent', 'FOUND-SO-FAR'],
      ['completed', null, 'LEFT-IT'],
      ['completed', null, 'All told.'],
    ]);
    expect(count(lastRequest(world, 'main'), 'Result: LEFT-IT')).toBe(1);
  });

  it('lets a foreground task go on in the background after default_timeout_seconds', async () => {
    await using world = await openWorld({
      script: script({
        main: [{ toolCalls: [task('part')] }, { text: 'I go on.' }, { text: 'It came later.' }],
        part: [{ delayMs: 1_800, text: 'LATE-ANSWER' }],
      }),
    });
    const run = await world.run(['-p', 'main'], {
      env: { MUSTER_TASK_TOOL_DEFAULT_TIMEOUT_SECONDS: '1' },
    });
    expect(run).toMatchObject({ code: 0, stdout: 'It came later.\n', stderr: '' });
    const last = lastRequest(world, 'main');
    expect(last === undefined ? [] : idsIn(last)).toEqual([expect.any(String)]);
    expect(count(last, 'LATE-ANSWER')).toBe(1);
  });

  it('shows what a subagent notifies of, and replays what it did to who asks for it', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'content' },
      script: script({
        main: [
          {
            toolCalls: [task('part', { subagent_type: 'Explore' })],
          },
          (request) => {
            const text = request.messages.at(-1)?.toolResults[0]?.text ?? '';
            const id = /\[task (\w+)/.exec(text)?.[1] ?? '';
            return { toolCalls: [task(`look at ${id}`, { subagent_type: 'Explore' })] };
          },
          { text: 'done' },
        ],
        part: [
          { toolCalls: [{ name: 'Notify', input: { message: 'HALF\nWAY' } }] },
          { text: 'part done' },
        ],
        look: [
          (request) => ({
            toolCalls: [
              {
                name: 'TaskReplay',
                input: { task_id: firstUserText(request).split(' ')[2] ?? '', from: 1, limit: 1 },
              },
            ],
          }),
        ],
      }),
    });
    const run = await world.run(['-p', 'main', '--verbose']);
    expect([run.code, run.stdout]).toEqual([0, 'done\n']);
    expect(run.stderr).toMatch(/^· Explore \w{6}: HALF WAY$/m);
    expect(count(lastRequest(world, 'main'), 'HALF')).toBe(0);
    const replayed = lastRequest(world, 'look')?.messages.at(-1)?.toolResults[0]?.text ?? '';
    expect(replayed).toMatch(
      /^1 \+\d+ ms task\.claimed \{.*\}\n\[Events 1 to 1 of \d+\. Read on: TaskReplay\(task_id: "\w+", from: 2\)\]$/,
    );
  });
});

/** Whether the command of the child is at work. */
function sleeps({ mark }: World): boolean {
  return describeProcesses(findMarked(mark)).includes('sleep 60');
}
