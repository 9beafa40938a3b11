import { describe, expect, it } from 'vitest';
import { mapToolsByName } from '../../../src/replay/idle-deps.ts';
import { rerunTree } from '../../../src/replay/rerun-tree.ts';
import type { EventBody, TaskEvent } from '../../../src/protocol/events/event.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import {
  background,
  call,
  calls,
  eventsOfType,
  play,
  requestsOf,
  textsOf,
  until,
} from '../play.ts';
import { SETTINGS, testEngine, waitTool, type TestEngine } from '../support.ts';

const ALL = { maxRights: <T>(rights: T) => rights };

/** Creates the logs of a process that was killed after it had written these events. */
function leftWith(events: readonly TaskEvent[]): TaskStore {
  const store = openMemoryStore();
  for (const of of Map.groupBy(events, ({ task }) => task).values()) {
    const [first, ...rest] = of;
    if (first?.type !== 'task.created') throw new Error('a log begins with its task');
    const log = store.create(first.spec);
    const bodies = rest.map(({ v: _v, seq: _s, ts: _t, task: _i, epoch: _e, ...body }) => body);
    log.append(bodies as EventBody[]);
    log.close();
  }
  return store;
}

/** Expects that a rerun of a task and all its descendants shows no difference. */
async function expectSameAgain({ store }: TestEngine, id: string): Promise<void> {
  const settings = SETTINGS;
  const tools = mapToolsByName({ store, settings }, [waitTool]);
  const { tasks, lost } = await rerunTree({ store, settings, tools }, id);
  const differences = tasks.flatMap(({ difference }) => difference ?? []);
  expect({ differences, lost }).toEqual({ differences: [], lost: [] });
}

/** Kills a process in which a conversation with a background task was interrupted during a request. */
async function killedInRequest() {
  const gate = Promise.withResolvers<void>();
  const late = async () => {
    await gate.promise;
    return { text: 'too late' };
  };
  const test: TestEngine = testEngine(
    play({ main: [calls(background('aside')), late], aside: [late] }),
  );
  const main = test.start('main');
  await until(() => test.model.requests.length === 3);
  test.engine.interrupt(main.spec.id);
  const written = [...test.events];
  expect(written.at(-1)?.type).toBe('turn.interrupted');
  gate.resolve();
  await main.end.written;
  return { store: leftWith(written), id: main.spec.id };
}

describe('a process that is killed while its conversation is interrupted', () => {
  it('leaves a request that nobody sends again: the conversation waits for its background tasks', async () => {
    const { store, id } = await killedInRequest();
    const test = testEngine(
      play({ main: [{ text: 'a' }, { text: 'heard' }], aside: [{ text: 'found' }] }),
      {
        store,
      },
    );
    const again = await test.engine.resume(id, { ...ALL, prompt: null });
    await again.end.written;
    const asked = requestsOf(test, 'main').map((request) => textsOf(request).join(' '));
    expect(asked).toEqual([expect.stringContaining('found')]);
    expect(eventsOfType(test, 'turn.failed', id)).toMatchObject([
      { turn: 2, failure: { kind: 'cancelled', message: 'the user interrupted it' } },
    ]);
    expect(again.state.result).toBe('heard');
    await expectSameAgain(test, id);
  });

  it('leaves a request that nobody sends again, even if a task below it is resumed', async () => {
    const gate = Promise.withResolvers<void>();
    const late = async () => {
      await gate.promise;
      return { text: 'too late' };
    };
    const first: TestEngine = testEngine(
      play({ main: [calls(call('Task', { prompt: 'part' })), late], part: [{ text: 'one' }] }),
    );
    const main = first.start('main');
    await until(() => first.model.requests.length === 3);
    const store = leftWith(first.events);
    gate.resolve();
    await main.end.written;
    const test = testEngine(
      play({ main: [late, { text: 'a' }, { text: 'heard' }], part: [late, { text: 'two' }] }),
      { store },
    );
    const [child = ''] = main.state.children.keys();
    const below = { id: child };
    const again = await test.engine.resume(main.spec.id, { ...ALL, prompt: null, below });
    await again.end.written;
    expect(requestsOf(test, 'main').map((request) => textsOf(request).join(' '))).toEqual([
      expect.stringContaining('Result: two'),
    ]);
    await expectSameAgain(test, main.spec.id);
  });
});
