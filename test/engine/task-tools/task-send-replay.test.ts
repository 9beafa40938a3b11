import { expect, it } from 'vitest';
import { answeredRounds, promptOf, statesOf, testEngine } from '../support.ts';

/** Builds the state after a crash: the call has no outcome yet, but its effect is in the log. */
const SAME_CALL = 'send_1';

it('TaskSend that runs again after its task has ended repeats nothing', async () => {
  let child = '';
  const test = testEngine((request) => {
    const rounds = answeredRounds(request);
    if (promptOf(request) === 'work') {
      const hasNews = JSON.stringify(request.messages).includes('news');
      return { text: hasNews ? 'heard' : 'working', delayMs: 20 };
    }
    child ||= /Task (\w{12}) runs/.exec(JSON.stringify(request.messages))?.[1] ?? '';
    const send = { name: 'TaskSend', input: { to: child, message: 'news' }, id: SAME_CALL };
    if (rounds === 0) {
      const input = { prompt: 'work', run_in_background: true };
      return { calls: [{ name: 'Task', input }] };
    }
    if (rounds === 1) return { calls: [send] };
    const hasHeard = JSON.stringify(request.messages).includes('heard');
    if (!hasHeard) return { text: 'I wait' };
    return rounds === 2 ? { calls: [send] } : { text: 'done' };
  });
  const run = test.start('root');
  await run.end.written;
  const state = statesOf(test.events).get(child);
  expect({
    result: test.engine.result(run).data.result,
    child: [state?.result, state?.activation.number, state?.turns],
    outcomes: test.events.flatMap((event) =>
      event.type === 'call.ended' && event.tool === 'TaskSend' ? [event.text] : [],
    ),
  }).toEqual({
    result: 'done',
    child: ['heard', 0, 2],
    outcomes: Array(2).fill(`Sent: task ${child} reads it before its next step.`),
  });
});
