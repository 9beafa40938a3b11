import { expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import { call, calls, eventsOfType, hookLogs, play, requestsOf } from '../play.ts';
import { testEngine } from '../support.ts';

it('with task_tool.enabled = false a resumed conversation can no longer delegate', async () => {
  const script = play({
    main: [{ text: 'one' }, calls(call('Task', { prompt: 'part' })), { text: 'alone' }],
  });
  const first = testEngine(script);
  const run = first.start('main');
  await run.end.written;
  const second = testEngine(script, { store: first.store, settings: { taskTools: false } });
  const again = await second.engine.resume(run.spec.id, {
    prompt: 'go on',
    maxRights: (all) => all,
  });
  await again.end.written;
  expect(eventsOfType(second, 'child.created')).toEqual([]);
  expect(eventsOfType(second, 'call.refused').map(({ tool, error }) => [tool, error])).toEqual([
    ['Task', 'PERMISSION_DENIED'],
  ]);
  // The prefix was recorded when the task was created, so it stays the same.
  expect(requestsOf(second, 'main').at(-1)?.prefix).toEqual(first.model.requests[0]?.prefix);
  expect(again.state.result).toBe('alone');
});

it('the usage of a child counts after a crash that came before its end was reported', async () => {
  let isFull = false;
  let root = '';
  const script = play({
    main: [calls(call('Task', { prompt: 'part' })), { text: 'over budget' }],
    part: [{ text: 'found', usage: { input: 5_000 } }],
  });
  const settings = { treeTokens: 6_000 };
  const first = testEngine(script, {
    settings,
    onFault: () => {},
    prepareStore: (store) =>
      hookLogs(store, {
        append: (task, bodies) => {
          if (task !== root) return;
          isFull ||= bodies.some(({ type }) => type === 'child.ended');
          if (isFull) throw new MusterError('INTERNAL_ERROR', 'the disk is full');
        },
      }),
  });
  const run = first.start('main');
  root = run.spec.id;
  await run.end.written;
  root = '';
  const second = testEngine(script, { settings, store: first.store });
  const again = await second.engine.resume(run.spec.id, { prompt: null, maxRights: (all) => all });
  await again.end.written;
  expect(again.state.end?.because).toMatch(/^the limit tree_tokens = 6000 .*\(5000 used/);
});
