import { describe, expect, it } from 'vitest';
import { itemDigest } from '../../../src/agents/templates/render.ts';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import { readItemRows } from '../../../src/engine/fan-out/item-rows.ts';
import type { FanOut } from '../../../src/protocol/template.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { MODEL, rootRights, testEngine } from '../support.ts';
import { VirtualTime } from '../virtual-time.ts';

const ITEMS = ['a', 'b', 'c'];

const FAN_OUT: FanOut = {
  template: 'count',
  path: '/templates/count.md',
  body: 'Count {{item}}',
  items: ITEMS,
  source: { kind: 'stdin' },
  digests: ITEMS.map(itemDigest),
};

const REQUEST = { fanOut: FAN_OUT, model: MODEL, rights: rootRights(3), cwd: '/' };

const script = () => ({ text: 'fine' });

describe('a run of a template', () => {
  it('creates an item under the id that was announced before a crash, and only once', async () => {
    const before = testEngine(script);
    const first = await before.engine.startFanOut(REQUEST);
    await first.end.written;
    const store = openMemoryStore({});
    const log = store.create(first.spec);
    log.append([
      { type: 'task.started' },
      {
        type: 'child.created',
        child: 'announcedtask',
        callId: 'item-1',
        background: false,
      },
    ]);
    log.close();
    const after = testEngine(script, { store });
    const run = await after.engine.resume(first.spec.id, {
      prompt: null,
      maxRights: (recorded) => recorded,
    });
    await run.end.written;
    const rows = readItemRows(store, foldLog(store, first.spec.id));
    expect(rows.map(({ item, status }) => [item, status])).toEqual(
      ITEMS.map((item) => [item, 'completed']),
    );
    expect(rows[1]?.taskId).toBe('announcedtask');
    expect([run.state.status, run.state.result, after.model.requests.length]).toEqual([
      'completed',
      '3 items: 3 completed.',
      3,
    ]);
  });

  it('sends no request again if results are reused and the files that they read are unchanged', async () => {
    const store = openMemoryStore({});
    const settings = { reusesResults: true };
    const first = await testEngine(script, { store, settings }).engine.startFanOut(REQUEST);
    await first.end.written;
    const again = testEngine(script, { store, settings });
    const run = await again.engine.startFanOut(REQUEST);
    await run.end.written;
    expect(again.model.requests).toEqual([]);
    expect(run.state.result).toBe('3 items: 3 completed.');
    const reused = readItemRows(store, foldLog(store, run.spec.id)).map(
      ({ taskId }) => foldLog(store, taskId ?? '').reused?.of,
    );
    const rows = readItemRows(store, foldLog(store, first.spec.id));
    expect(reused).toEqual(rows.map(({ taskId }) => taskId));
  });

  it('starts no further items after the time of the tree, and ends those at work', async () => {
    const time = new VirtualTime();
    const { engine, store } = testEngine(
      async () => {
        await time.sleep(40_000);
        return { text: 'fine' };
      },
      { time, settings: { treeWallMs: 60_000, maxParallel: 1 } },
    );
    const run = await engine.startFanOut(REQUEST);
    let hasEnded = false;
    void run.end.written.then(() => (hasEnded = true));
    await time.pass(() => hasEnded);
    const rows = readItemRows(store, foldLog(store, run.spec.id));
    expect(rows.map(({ status }) => status)).toEqual(['completed', 'partial', 'waiting']);
    expect(run.state.end).toMatchObject({
      status: 'partial',
      error: { code: 'LIMIT_EXCEEDED' },
      because:
        'the limit tree_wall_seconds = 60 is reached (60 used): 3 items: 1 completed, 1 partial, 1 not started',
    });
  });

  it('cannot start if no item could begin, and says why', async () => {
    const { engine } = testEngine(script);
    await expect(
      engine.startFanOut({ ...REQUEST, fanOut: { ...FAN_OUT, agent: 'nobody' } }),
    ).rejects.toThrow("the template count can't be run: subagent_type: ");
    await expect(engine.startFanOut({ ...REQUEST, rights: rootRights(0) })).rejects.toThrow(
      'the limit max_depth = 0 is reached',
    );
  });

  it('accepts no messages', async () => {
    const { engine } = testEngine(script);
    const run = await engine.startFanOut(REQUEST);
    await run.end.written;
    const said = engine.resume(run.spec.id, { prompt: 'hello', maxRights: (each) => each });
    await expect(said).rejects.toThrow('is a run of a template: only its tasks read messages');
  });
});
