import { describe, expect, it } from 'vitest';
import { deferred } from '../../../src/base/async.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { isTaskEvent } from '../../../src/store/log/validate-event.ts';
import { call, calls, eventsOfType } from '../play.ts';
import { testEngine } from '../support.ts';
import { VirtualTime } from '../virtual-time.ts';
import { delegate, looks, SCOUT, scout, workspace } from './support.ts';

const LOOK = { look: looks(call('Read', { file_path: 'a.ts' })) };

/**
 * A Read that does not return before it is aborted when the call is only repeated for a comparison. Then `begun` is
 * called when it starts.
 */
function stuckRead(begun: () => void): AnyTool {
  return {
    name: 'Read',
    kind: 'read',
    replay: 'pure',
    description: 'read',
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    describe: () => ({ reads: [], writes: [], commands: [], hosts: [] }),
    run: async (_, { callId, signal }) => {
      if (callId !== 'reuse') return { text: 'read' };
      begun();
      const aborted = deferred<void>();
      signal.addEventListener('abort', () => aborted.resolve());
      await aborted.promise;
      return { text: 'cancelled', error: 'CANCELLED' };
    },
  };
}

describe('the search for an earlier result', () => {
  it('is given up after a time limit, and the task is run', async () => {
    const place = workspace({});
    const setup = { tools: [stuckRead(() => {})], time: new VirtualTime() };
    const first = await delegate(place, LOOK, setup);
    const second = await delegate(place, LOOK, setup);
    expect(second.requests).toHaveLength(2);
    expect(eventsOfType(second.test, 'reuse.missed')).toMatchObject([
      {
        because: `task ${first.state.spec.id} read so much that comparing it takes too long`,
      },
    ]);
  });

  it('is given up after a limited number of calls', async () => {
    const place = workspace({});
    const round = (from: number) =>
      calls(...Array.from({ length: 90 }, (_, at) => call('LS', { path: `d${from + at}` })));
    const rounds = (count: number) => Array.from({ length: count }, (_, at) => round(at * 90));
    const few = { few: [...rounds(5), { text: 'So.' }] };
    const many = { many: [...rounds(6), { text: 'So.' }] };
    for (const [answers, prompt, reused] of [
      [few, 'few', true],
      [many, 'many', false],
    ] as const) {
      const main = [calls(scout(prompt))];
      await delegate(place, answers, { main });
      const { state } = await delegate(place, answers, { main });
      expect(state.reused !== null).toBe(reused);
    }
  });

  it('ends at once when the task is stopped', async () => {
    const place = workspace({});
    await delegate(place, LOOK, { tools: [stuckRead(() => {})] });
    const begun = deferred<void>();
    const test = testEngine([calls(scout('look'))], {
      root: place.root,
      store: place.store,
      mode: 'default',
      agents: [SCOUT],
      tools: [stuckRead(begun.resolve)],
      settings: { reusesResults: true },
    });
    const run = test.start('main');
    await begun.promise;
    await test.engine.stop(stopOrder('user', 'enough'));
    expect(run.state.status).toBe('stopped');
    expect(test.model.requests).toHaveLength(1);
    expect(eventsOfType(test, 'task.ended')).toMatchObject([
      { end: { status: 'stopped' } },
      { end: { status: 'stopped' } },
    ]);
  });

  it('that fails is reported, and loses no task', async () => {
    const place = workspace({});
    const faults: unknown[] = [];
    const { requests, test } = await delegate(place, LOOK, {
      tools: [stuckRead(() => {})],
      onFault: (thrown) => void faults.push(thrown),
      prepareStore: (store) => {
        store.findReusable = () => {
          throw new Error('no index');
        };
      },
    });
    expect(requests).toHaveLength(2);
    expect(faults).toEqual([new Error('no index')]);
    expect(eventsOfType(test, 'reuse.missed')).toMatchObject([
      { because: 'earlier results could not be checked: no index' },
    ]);
  });
});

describe('an event about a reused result', () => {
  const stamp = { v: 4, seq: 2, ts: 0, task: 'abcdefgh', epoch: 1 };
  const reused = { ...stamp, type: 'task.reused', of: 'hgfedcba', at: 1, read: [], text: 'So.' };

  it('is accepted as it was written', () => {
    expect(isTaskEvent(reused, 'abcdefgh')).toBe(true);
  });

  it.each<[string, Partial<Record<keyof Extract<TaskEvent, { type: 'task.reused' }>, unknown>>]>([
    ['an invalid id', { of: '\u001b[2J' }],
    ['a time that no clock has', { at: 1e300 }],
    ['no time', { at: null }],
    ['no list of files', { read: 'a.ts' }],
    ['no text', { text: 7 }],
  ])('is invalid with %s', (_, part) => {
    expect(isTaskEvent({ ...reused, ...part }, 'abcdefgh')).toBe(false);
  });
});
