import { describe, expect, it } from 'vitest';
import type { MusterError } from '../../../src/base/errors.ts';
import { background, call, calls, eventsOfType, hookLogs, play, until } from '../play.ts';
import { testEngine, type TestEngine } from '../support.ts';

/** Delays the write of the end of the task with this name until the delay is released. */
function holdEnd(name: string) {
  const held = Promise.withResolvers<void>();
  let id = '';
  let isEnding = false;
  const prepareStore = (store: TestEngine['store']) => {
    hookLogs(store, {
      append: (task, bodies) => {
        for (const body of bodies) {
          if (body.type === 'task.ended' && task === id) isEnding = true;
        }
      },
      sync: async (task) => {
        if (task === id && isEnding) await held.promise;
      },
    });
    const { create } = store;
    store.create = (spec) => {
      if (spec.prompt === name) id = spec.id;
      return create.call(store, spec);
    };
  };
  return { prepareStore, isEnding: () => isEnding, letGo: () => held.resolve() };
}

function childId(test: TestEngine, index: number): string {
  return eventsOfType(test, 'child.created')[index]?.child ?? '';
}

describe('a task that a person resumes while its parent', () => {
  it('ends becomes work of the next task above', async () => {
    const end = holdEnd('middle');
    const test = testEngine(
      play({
        main: [calls(background('middle')), { text: 'waiting' }],
        middle: [calls(call('Task', { prompt: 'part' }))],
        part: [{ text: 'one' }, { text: 'two' }],
      }),
      { prepareStore: end.prepareStore },
    );
    const run = test.start('main');
    await until(end.isEnding);
    const part = childId(test, 1);
    const resumed = test.engine.resumeBelow(part, {});
    end.letGo();
    await resumed;
    await run.end.written;
    expect(run.state.children.get(part)).toMatchObject({ status: 'completed', background: true });
  });

  it('ends as the last of its tree leaves the tree ended', async () => {
    const end = holdEnd('main');
    const test = testEngine(
      play({ main: [calls(call('Task', { prompt: 'part' }))], part: [{ text: 'one' }] }),
      { prepareStore: end.prepareStore },
    );
    const run = test.start('main');
    await until(end.isEnding);
    const resumed = test.engine
      .resumeBelow(childId(test, 0), {})
      .catch((thrown: unknown) => thrown);
    end.letGo();
    expect(await resumed).toMatchObject({ code: 'NOT_FOUND' } satisfies Partial<MusterError>);
    await run.end.written;
    expect(eventsOfType(test, 'task.resumed')).toEqual([]);
  });
});
