import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openSession } from '../../../src/api/open-session.ts';
import type { Session, SessionOptions } from '../../../src/api/index.ts';
import { startFakeModel, toolResultRounds, type FakeModel } from '../../../src/testing/index.ts';
import { expectNoViolations } from '../../no-violations.ts';

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

async function fakeModel(script: Parameters<typeof startFakeModel>[0]): Promise<FakeModel> {
  const model = await startFakeModel(script);
  opened.push(() => model.close().then(() => expectNoViolations(model)));
  return model;
}

function home(): string {
  const path = mkdtempSync(join(tmpdir(), 'muster-test-'));
  opened.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function muster(
  model: FakeModel,
  directory: string,
  environment: Readonly<Record<string, string>> = {},
  options: SessionOptions = {},
): Promise<Session> {
  const made = await openSession({
    cwd: directory,
    dataDir: join(directory, 'data'),
    environment: { HOME: directory, ...model.env('anthropic'), ...environment },
    ...options,
  });
  opened.push(() => made.close());
  return made;
}

describe('a resumed task', () => {
  it('that is refused takes no events from the listener of the running task', async () => {
    const model = await fakeModel({
      script: (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [{ name: 'LS', input: { path: '.' } }] }
          : { text: 'done' },
    });
    const session = await muster(model, home());
    const types: string[] = [];
    const run = session.start({ prompt: 'go' }, ({ type }) => types.push(type));
    await expect(session.resume({ id: run.id, prompt: 'more' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    await run.result;
    expect(types.at(-1)).toBe('task.ended');
  });

  it('does not delegate deeper than the current max_depth allows', async () => {
    const model = await fakeModel({ script: () => ({ text: 'done' }) });
    const directory = home();
    const first = await muster(model, directory, { MUSTER_TASK_TOOL_MAX_DEPTH: '4' });
    const { id, result } = first.start({ prompt: 'go' });
    await result;
    await first.close();
    const second = await muster(model, directory, { MUSTER_TASK_TOOL_MAX_DEPTH: '1' });
    const depths: number[] = [];
    const run = await second.resume({ id, prompt: 'more' }, (_, { spec }) => {
      depths.push(spec.rights.maxDepth);
    });
    await run.result;
    expect(depths.at(-1)).toBe(1);
  });
});

describe('questions', () => {
  const calls = { name: 'Bash', input: { command: 'touch made' } };
  const script = (request: Parameters<typeof toolResultRounds>[0]) =>
    toolResultRounds(request) === 0 ? { toolCalls: [calls] } : { text: 'done' };

  it('are listed, watched and answered by the program that runs the session', async () => {
    const session = await muster(await fakeModel({ script }), home(), {}, { questions: 'wait' });
    const seen: (readonly string[])[] = [];
    const forget = session.watchQuestions(() => {
      const open = session.questions().map(({ question }) => question.id);
      seen.push(open);
      const [id] = open;
      if (id !== undefined) setTimeout(() => session.answer({ question: id, text: 'yes' }), 1);
    });
    const run = session.start({ prompt: 'go' });
    expect((await run.result).data.status).toBe('completed');
    forget();
    expect(seen).toEqual([[`${run.id}q1`], []]);
    expect([session.questions(), run.parkedOn()]).toEqual([[], []]);
    const late = { question: `${run.id}q1`, text: 'yes' };
    expect(() => session.answer(late)).toThrow(/no question/);
  });

  it('park a run, which ends its events and its listener, and it continues after an answer', async () => {
    const session = await muster(await fakeModel({ script }), home(), {}, { questions: 'park' });
    const types: string[] = [];
    const run = session.start({ prompt: 'go' }, ({ type }) => void types.push(type));
    expect((await run.result).data).toMatchObject({ status: 'parked', questions: [{}] });
    expect(types.slice(-2)).toEqual(['question.asked', 'task.parked']);
    const [asked] = run.parkedOn();
    const before = types.length;
    const answer = { question: asked?.question.id ?? '', text: 'no', reason: 'not now' };
    const on = await session.resume({ id: run.id, answer });
    expect((await on.result).data.status).toBe('completed');
    expect(types).toHaveLength(before);
  });
});
