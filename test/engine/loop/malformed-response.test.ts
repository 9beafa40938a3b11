import { expect, it } from 'vitest';
import { nextStep, type Step } from '../../../src/engine/loop/next-step.ts';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import { NO_USAGE, type FinishReason } from '../../../src/protocol/model.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';

const ID = 'task00000000';
const NO_LIMITS = { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };

function stateAfter(bodies: readonly EventBody[]): TaskState {
  const spec = taskSpec(ID, { limits: NO_LIMITS, tools: ['Bash'] });
  const events = [{ type: 'task.created', spec } as const, ...bodies];
  return foldEvents(
    events.map((body, seq) => Object.assign({ v: 2, seq, ts: seq, task: ID, epoch: 1 }, body)),
  );
}

const CALL = { type: 'tool_call', id: 'c1', name: 'Bash', input: {} } as const;
type Call = typeof CALL & { readonly malformed?: string; readonly renamed?: true };

interface Said {
  readonly text?: string;
  readonly calls?: readonly Call[];
  readonly reason?: FinishReason;
  /** The ids of the notices in the request. */
  readonly told?: readonly string[];
}

/** Creates the events of a request and its answer. */
function round(turn: number, { text = '', calls = [], reason = 'stop', told = [] }: Said) {
  const started = {
    type: 'turn.started',
    turn,
    inputs: turn === 1 ? ['prompt'] : told,
    model: 'scripted/one',
    toolChoice: 'auto',
  } as const;
  const ended = {
    type: 'turn.ended',
    turn,
    message: { role: 'assistant', content: [{ type: 'text', text }, ...calls] },
    usage: NO_USAGE,
    costUsd: null,
    reason,
    model: 'scripted/one',
    ms: 1,
  } as const;
  const queued = told.map(
    (id) =>
      ({
        type: 'input.queued',
        input: { id, kind: 'notice', from: 'muster', text: 'told' },
      }) as const,
  );
  return [...queued, started, ended] satisfies readonly EventBody[];
}

const CUT: Said = { text: 'he', reason: 'length' };
/** Creates answers that were cut off at the output limit. Each continues the previous answer. */
const cuts = (count: number) =>
  times(count, (turn) => round(turn, { ...CUT, told: turn === 1 ? [] : [`go-on-${turn - 1}`] }));
const AS_TEXT = {
  text: '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>',
};
const RAN: readonly EventBody[] = [
  { type: 'call.started', callId: 'c1', tool: 'Bash', input: {} },
  {
    type: 'call.ended',
    callId: 'c1',
    tool: 'Bash',
    text: 'ok',
    error: null,
    facts: {},
    ms: 1,
  },
];
const refused = (text: string): EventBody => ({
  type: 'call.refused',
  callId: 'c1',
  tool: 'Bash',
  text,
  error: 'INVALID_PARAM',
  decision: null,
});
/** Creates answers with a faulty call. The error differs each time, so that the calls do not count as repeated. */
const faulty = (count: number) =>
  times(count, (turn) => [...round(turn, { calls: [CALL] }), refused(`wrong ${turn}`)]);

function times(count: number, of: (turn: number) => readonly EventBody[]): readonly EventBody[] {
  return Array.from({ length: count }, (_, index) => of(index + 1)).flat();
}

const tells = (id: string, words: string): Step => ({
  kind: 'notice',
  id,
  text: expect.stringContaining(words),
});
const limit = (name: string, value: number): Step => ({
  kind: 'limit',
  hit: { limit: name, value, used: value },
});
const ends = (status: string, result: string) => ({
  kind: 'end',
  ending: expect.objectContaining({ end: expect.objectContaining({ status }), result }),
});
const TURN: Step = { kind: 'turn', toolChoice: 'auto' };

it.each<[string, readonly EventBody[], unknown]>([
  ['a cut answer', cuts(1), tells('go-on-1', 'exactly where it stopped')],
  [
    'a cut answer and its rest',
    [...cuts(1), ...round(2, { text: 'llo', told: ['go-on-1'] })],
    ends('completed', 'hello'),
  ],
  [
    'a cut answer and an empty rest',
    [...cuts(1), ...round(2, { told: ['go-on-1'] })],
    ends('completed', 'he'),
  ],
  ['four cut answers', cuts(4), ends('partial', 'hehehehe')],
  [
    'cut answers of which all but the first are empty',
    [...cuts(1), ...times(3, (n) => round(n + 1, { reason: 'length', told: [`go-on-${n}`] }))],
    ends('partial', 'he'),
  ],
  [
    'an answer that does not continue a cut one',
    [...cuts(1), ...round(2, { text: 'hello', told: ['m1'] })],
    ends('completed', 'hello'),
  ],
  [
    'an answer that was cut before it began',
    round(1, { reason: 'length' }),
    tells('fault-1', 'Send less'),
  ],
  [
    'three answers that were cut before they began',
    times(3, (n) => round(n, { reason: 'length' })),
    ends('failed', ''),
  ],
  ['a call as text', round(1, AS_TEXT), tells('fault-1', 'a call of Bash as text')],
  [
    'a call as text that was reported',
    [
      ...round(1, AS_TEXT),
      {
        type: 'input.queued',
        input: { id: 'fault-1', kind: 'notice', from: 'muster', text: 'told' },
      },
    ],
    TURN,
  ],
  [
    'three calls as text, an empty answer between them',
    [1, 2, 3, 4].flatMap((turn) => round(turn, turn === 3 ? {} : AS_TEXT)),
    ends('failed', AS_TEXT.text),
  ],
  [
    'three calls as text, of which one comes after a sentence',
    times(3, (n) => round(n, n === 2 ? { text: `I will look.\n${AS_TEXT.text}` } : AS_TEXT)),
    ends('failed', AS_TEXT.text),
  ],
  [
    'two calls as text, an answer that runs a call, and two more',
    [
      ...times(2, (turn) => round(turn, AS_TEXT)),
      ...round(3, { calls: [CALL] }),
      ...RAN,
      ...round(4, AS_TEXT),
      ...round(5, AS_TEXT),
    ],
    tells('fault-5', 'a call of Bash as text'),
  ],
  [
    'a call as text that was cut off and continued',
    [
      ...round(1, { text: AS_TEXT.text.slice(0, 40), reason: 'length' }),
      ...round(2, { text: AS_TEXT.text.slice(40), told: ['go-on-1'] }),
    ],
    tells('fault-2', 'a call of Bash as text'),
  ],
  [
    'a call as text after which the output limit is reached',
    round(1, { ...AS_TEXT, reason: 'length' }),
    tells('fault-1', 'a call of Bash as text'),
  ],
  [
    'a text about such a call',
    round(1, { text: `Write it so:\n\n\`\`\`\n${AS_TEXT.text}\n\`\`\`` }),
    ends('completed', `Write it so:\n\n\`\`\`\n${AS_TEXT.text}\n\`\`\``),
  ],
  ['eight answers whose calls are wrong', faulty(8), limit('faulty_calls', 8)],
  ['seven of them and one that ran', [...faulty(7), ...round(8, { calls: [CALL] }), ...RAN], TURN],
  [
    'nine of which one also ran a call',
    [...faulty(4), ...round(5, { calls: [CALL] }), ...RAN, refused('too'), ...faulty(4)],
    TURN,
  ],
])('after %s', (_, events, step) => {
  expect(nextStep(stateAfter(events), { noProgressCalls: 8 })).toEqual(step);
});

it('counts each kind of malformed response once', () => {
  const malformed = { ...CALL, malformed: '{"a' };
  const state = stateAfter([
    ...round(1, {}),
    ...round(2, AS_TEXT),
    ...round(3, CUT),
    ...round(4, { calls: [malformed], reason: 'length' }),
    refused('cut'),
    ...round(5, { calls: [malformed] }),
    refused('broken'),
    ...round(6, { calls: [{ ...CALL, renamed: true }] }),
    refused('invalid'),
    {
      type: 'turn.failed',
      turn: 7,
      failure: { kind: 'overloaded', message: 'busy', retryable: true },
      usage: NO_USAGE,
    },
  ]);
  expect(Object.fromEntries(state.faults)).toEqual({
    empty_answer: 1,
    call_as_text: 1,
    cut_answer: 1,
    cut_call: 1,
    broken_arguments: 1,
    duplicate_call_id: 1,
    invalid_arguments: 1,
    overloaded: 1,
  });
});
