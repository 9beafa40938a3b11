import { expect, it } from 'vitest';
import { call, calls, eventsOfType, play, requestsOf } from './play.ts';
import { testEngine } from './support.ts';

it('with task_tool.enabled = false a resumed conversation can’t delegate any more', async () => {
  const script = play({
    main: [{ text: 'one' }, calls(call('Task', { prompt: 'part' })), { text: 'alone' }],
  });
  const first = testEngine(script);
  const run = first.start('main');
  await run.ended;
  const second = testEngine(script, { store: first.store, settings: { taskTools: false } });
  const again = await second.engine.resume(run.spec.id, { prompt: 'go on', ceiling: (all) => all });
  await again.ended;
  expect(eventsOfType(second, 'child.created')).toEqual([]);
  expect(eventsOfType(second, 'call.refused').map(({ tool, error }) => [tool, error])).toEqual([
    ['Task', 'PERMISSION_DENIED'],
  ]);
  // Frozen when the task was made: what its requests begin with stays the same.
  expect(requestsOf(second, 'main').at(-1)?.prefix).toEqual(first.model.requests[0]?.prefix);
  expect(again.state.result).toBe('alone');
});
