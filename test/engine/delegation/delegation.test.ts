import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import type { TaskSpec } from '../../../src/protocol/task.ts';
import { background, call, calls, eventsOfType, hookLogs, play, toldTo, until } from '../play.ts';
import { testEngine } from '../support.ts';

it('a call waits on if its default_timeout_seconds cannot be written to the log', async () => {
  const faults: string[] = [];
  const test = testEngine(
    play({
      main: [calls(call('Task', { prompt: 'part' }))],
      part: [
        async () => {
          await until(() => faults.length > 0);
          await sleep(5);
          return { text: 'found' };
        },
      ],
    }),
    {
      settings: { foregroundMs: 10 },
      onFault: (thrown) => void faults.push(String(thrown)),
      prepareStore: (store) =>
        hookLogs(store, {
          append: (_, bodies) => {
            if (bodies.some(({ type }) => type === 'child.detached')) throw FULL;
          },
        }),
    },
  );
  const run = test.start('main');
  await run.end.written;
  expect(faults).toEqual([String(FULL)]);
  expect(toldTo(test, 'main').at(-1)).toMatch(/^found\n/);
  expect(run.state.status).toBe('completed');
});

const FULL = new MusterError('INTERNAL_ERROR', 'the disk is full');

it.each([
  ['in the foreground', call('Task', { prompt: 'part' })],
  ['in the background', background('part')],
])('a child %s that could not be created because of a bug is not waited for', async (_, task) => {
  const test = testEngine(play({ main: [calls(task)] }), {
    prepareStore: (store) => {
      const { create } = store;
      store.create = (spec: TaskSpec) => {
        if (spec.parent !== null) throw new TypeError('a bug');
        return create.call(store, spec);
      };
    },
  });
  const run = test.start('main');
  await run.end.written;
  expect(run.state.status).toBe('completed');
  expect(toldTo(test, 'main')).toContain('Task broke: a bug');
  expect(eventsOfType(test, 'child.ended').map(({ status }) => status)).toEqual(['failed']);
});
