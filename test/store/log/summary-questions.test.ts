import { expect, it } from 'vitest';
import { LOG_VERSION, type EventBody, type TaskEvent } from '../../../src/protocol/events/event.ts';
import { openQuestions } from '../../../src/protocol/state/questions.ts';
import type { Answer, InputQuestion } from '../../../src/protocol/question.ts';
import { getDisplayStatus } from '../../../src/store/log/task-summary.ts';
import { taskEnded, taskSpec, summarizeEvents } from '../fixture-data.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';

const TASK = 'abcdefgh0123';

function question(number: number, callId: string): InputQuestion {
  return {
    kind: 'input',
    id: `${TASK}q${number}`,
    task: TASK,
    callId,
    chain: ['main'],
    tool: 'AskUser',
    text: `question ${number}`,
    options: [],
  };
}

const asked = (number: number, callId: string, parks = true): EventBody => ({
  type: 'question.asked',
  question: question(number, callId),
  digest: String(number),
  parks,
});
const answered = (
  number: number,
  callId: string,
  answer: Answer = { kind: 'text', text: 'so' },
): EventBody => ({
  type: 'question.answered',
  question: `${TASK}q${number}`,
  callId,
  answer,
  by: 'user',
});
const refused: EventBody = {
  type: 'call.refused',
  callId: 'c1',
  tool: 'AskUser',
  text: 'no',
  error: 'CANCELLED',
  decision: null,
};
const STARTED: EventBody = { type: 'task.started' };
const CLAIMED: EventBody = { type: 'task.claimed', pid: 1, host: 'here' };
const PARKED: EventBody = { type: 'task.parked', questions: ['otherq1'] };

function log(bodies: readonly EventBody[]): readonly TaskEvent[] {
  const whole: readonly EventBody[] = [{ type: 'task.created', spec: taskSpec(TASK) }, ...bodies];
  return whole.map((body, seq) =>
    Object.assign({ v: LOG_VERSION, seq, ts: seq, task: TASK, epoch: 1 }, body),
  );
}

it.each<[string, readonly EventBody[], string, readonly string[], string]>([
  ['waits', [STARTED, asked(1, 'c1', false)], 'running', ['1'], 'interrupted'],
  ['parks', [STARTED, asked(1, 'c1')], 'parked', ['1'], 'parked'],
  ['is answered', [STARTED, asked(1, 'c1'), answered(1, 'c1')], 'running', [], 'interrupted'],
  [
    'another waits',
    [STARTED, asked(1, 'c1'), asked(2, 'c2'), answered(1, 'c1')],
    'parked',
    ['2'],
    'parked',
  ],
  ['is asked again', [STARTED, asked(1, 'c1'), asked(2, 'c1')], 'parked', ['2'], 'parked'],
  ['its call ends', [STARTED, asked(1, 'c1'), refused], 'running', [], 'interrupted'],
  ['is taken over', [STARTED, asked(1, 'c1'), CLAIMED], 'parked', ['1'], 'parked'],
  [
    'continues, still asking',
    [STARTED, asked(1, 'c1'), CLAIMED, STARTED],
    'parked',
    ['1'],
    'parked',
  ],
  ['is left for another', [STARTED, PARKED], 'parked', [], 'parked'],
  [
    'continues after it was left for another',
    [STARTED, PARKED, CLAIMED],
    'queued',
    [],
    'interrupted',
  ],
  ['ends', [STARTED, asked(1, 'c1'), taskEnded()], 'completed', [], 'completed'],
])('fold and listing agree on a task that %s', (_, bodies, status, open, unowned) => {
  const events = log(bodies);
  const state = foldEvents(events);
  const summary = summarizeEvents(events);
  if (summary === undefined) throw new Error('no summary');
  const ids = open.map((number) => `${TASK}q${number}`);
  expect([state.status, openQuestions(state).map(({ id }) => id)]).toEqual([status, ids]);
  expect([summary.status, (summary.questions ?? []).map(({ id }) => id)]).toEqual([status, ids]);
  expect(getDisplayStatus(summary, { owned: false })).toBe(unowned);
});

it('shows whether a question is open, answered or gone', () => {
  const no: Answer = { kind: 'no', reason: 'later' };
  const yes: Answer = { kind: 'once' };
  const state = foldEvents(
    log([STARTED, asked(1, 'c1'), answered(1, 'c1', no), answered(1, 'c1', yes), refused]),
  );
  expect([...state.closedQuestions]).toEqual([[`${TASK}q1`, 'answered: no (later)']]);
  expect(state.denials).toEqual(['AskUser question 1 (later)']);
});
