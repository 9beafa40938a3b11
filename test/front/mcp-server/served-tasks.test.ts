import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import type { ResultEnvelope, Run } from '../../../src/api/index.ts';
import { ServedTasks, type ServingSession } from '../../../src/front/mcp-server/served-tasks.ts';
import { lastUserText } from '../../../src/testing/index.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { openServingSession } from './support.ts';

const FOREVER = new AbortController().signal;
const agent = 'Explore';
const LISTED = { areListed: true };

/** Collects garbage, which a program can do only with this flag of V8. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

describe('the tasks of a client', () => {
  test('keep no result in memory, and read it from the log', async () => {
    const session = await openServingSession({ script: () => ({ text: 'It is in a.ts.' }) });
    let kept: WeakRef<ResultEnvelope> | null = null;
    const watched: ServingSession = {
      ...session,
      start: (...args): Run => {
        const run = session.start(...args);
        void run.result.then((result) => (kept = new WeakRef(result)));
        return run;
      },
    };
    const tasks = new ServedTasks(watched, LISTED);
    const id = tasks.start({ prompt: ' Find\n it. ', agent });
    const outcome = await tasks.wait(id, { signal: FOREVER });
    expect(outcome).toMatchObject({ kind: 'ended', result: { data: { task_id: id } } });
    await waitUntilPasses(() => {
      collectGarbage();
      // A failed comparison with the result itself would keep it.
      expect(kept !== null && kept.deref() === undefined).toBe(true);
    });
    expect(tasks.result(id)).toMatchObject({
      status: 'success',
      data: { result: 'It is in a.ts.', status: 'completed', subagent_type: agent },
    });
    expect(tasks.list()).toEqual([
      {
        id,
        agent,
        description: 'Find it.',
        status: 'completed',
        startedAt: expect.any(Number),
        changedAt: expect.any(Number),
      },
    ]);
  });

  test('continue once with each of two messages that are sent at the same time', async () => {
    const session = await openServingSession({
      script: (request) => ({ text: `to ${lastUserText(request)}` }),
    });
    const tasks = new ServedTasks(session, LISTED);
    const id = tasks.start({ prompt: 'one', agent });
    await tasks.wait(id, { signal: FOREVER });
    const sent = await Promise.all([tasks.send(id, 'two'), tasks.send(id, 'three')]);
    expect(sent[0]).toBe('continued');
    await tasks.wait(id, { signal: FOREVER });
    expect(tasks.result(id).data.result).toContain('three');
    expect(tasks.get(id).status).toBe('completed');
  });

  test('are only those that the client has started, with the tasks below them', async () => {
    const session = await openServingSession({ script: () => ({ text: 'done' }) });
    const [mine, theirs] = [new ServedTasks(session, LISTED), new ServedTasks(session, LISTED)];
    const id = theirs.start({ prompt: 'one', agent });
    const unknown = expect.objectContaining({ code: 'NOT_FOUND' });
    expect(() => mine.result(id)).toThrow(unknown);
    expect(() => mine.question(id)).toThrow(unknown);
    await expect(mine.wait(id, { signal: FOREVER })).rejects.toEqual(unknown);
    await expect(mine.stop(id)).rejects.toEqual(unknown);
    await expect(mine.send(id, 'two')).rejects.toEqual(unknown);
    expect([mine.list(), mine.includes(id), theirs.includes(id)]).toEqual([[], false, true]);
  });

  test('that several clients share are reached by their ids, and never listed', async () => {
    const session = await openServingSession({ script: () => ({ text: 'done' }) });
    const tasks = new ServedTasks(session, { areListed: false });
    const id = tasks.start({ prompt: 'one', agent });
    expect(await tasks.wait(id, { signal: FOREVER })).toMatchObject({ kind: 'ended' });
    expect(tasks.list()).toEqual([]);
    expect(() => tasks.get('nobody00')).toThrow(
      /^no task "nobody00" was started through this server$/,
    );
  });

  test('that cannot start are not listed', async () => {
    const session = await openServingSession({ script: () => ({ text: 'done' }) });
    const tasks = new ServedTasks(session, LISTED);
    expect(() => tasks.start({ prompt: '  ', agent })).toThrow('the prompt is empty');
    expect(() => tasks.start({ prompt: 'Go.', agent: 'Nobody' })).toThrow('Nobody');
    expect(tasks.list()).toEqual([]);
  });
});
