import { describe, expect, it } from 'vitest';
import { nextStep, reportsEndsOnly, type Step } from '../../../src/engine/loop/next-step.ts';
import type { EventBody, TaskEvent } from '../../../src/protocol/events/event.ts';
import { NO_USAGE, type FinishReason } from '../../../src/protocol/model.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';

const ID = 'task00000000';
const LIMITS = { noProgressCalls: 2 };

const stepAfter = (...bodies: readonly EventBody[]): Step =>
  nextStep(stateAfter(...bodies), LIMITS);

function stateAfter(...bodies: readonly EventBody[]): TaskState {
  const created = { type: 'task.created', spec: taskSpec(ID, { limits: MAX_3 }) } as const;
  const events = [created, ...bodies].map((body, seq): TaskEvent =>
    Object.assign({ v: 2, seq, ts: seq, task: ID, epoch: 1 }, body),
  );
  return foldEvents(events);
}

const MAX_3 = { maxTurns: 3, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 };
const CALL = { type: 'tool_call', id: 'c1', name: 'Bash', input: {} } as const;

const asked = (turn = 1, toolChoice: 'auto' | 'none' = 'auto'): EventBody => ({
  type: 'turn.started',
  turn,
  inputs: turn === 1 ? ['prompt'] : [],
  model: 'scripted/one',
  toolChoice,
});

function answered(
  text: string,
  { turn = 1, calls = [CALL].slice(1), reason = 'stop' as FinishReason } = {},
): EventBody {
  const content = [{ type: 'text', text } as const, ...calls];
  return {
    type: 'turn.ended',
    turn,
    message: { role: 'assistant', content },
    usage: NO_USAGE,
    costUsd: null,
    reason,
    model: 'scripted/one',
    ms: 1,
  };
}

const called = (turn = 1): EventBody => answered('', { turn, calls: [CALL], reason: 'tool_calls' });
const result: EventBody = {
  type: 'call.ended',
  callId: 'c1',
  tool: 'Bash',
  text: 'ok',
  error: null,
  facts: {},
  ms: 1,
};
const rounds = (count: number): readonly EventBody[] =>
  Array.from({ length: count }, (_, index) => [asked(index + 1), called(index + 1), result]).flat();

const limit: EventBody = { type: 'limit.reached', limit: 'max_turns', value: 3, used: 3 };
const timeUp: EventBody = {
  type: 'limit.reached',
  limit: 'tree_wall_seconds',
  value: 60,
  used: 60,
};
const child = (background: boolean): EventBody => ({
  type: 'child.created',
  child: 'child0000000',
  callId: 'c1',
  background,
});
const childEnded: EventBody = {
  type: 'child.ended',
  child: 'child0000000',
  status: 'completed',
  changed: [],
  spent: { tokens: 0, costUsd: 0 },
  below: [],
};
const said = (id: string): EventBody => ({
  type: 'input.queued',
  input: { id, kind: 'message', from: 'user', text: 'and this' },
});
const shell: EventBody = {
  type: 'shell.started',
  shell: 'shell0000000',
  callId: 'c1',
  command: 'serve',
  output: '/tmp/x',
};
const shellEnded: EventBody = {
  type: 'shell.ended',
  shell: 'shell0000000',
  end: 'exited',
  exitCode: 0,
};
const ENDED: EventBody = {
  type: 'task.ended',
  end: { status: 'completed', error: null, because: 'the model ended its answer', by: null },
  result: 'here',
};
const RESUMED: EventBody = { type: 'task.resumed', by: 'user', callId: null };
const empties = [1, 2, 3].flatMap((turn) => [asked(turn), answered(' ', { turn })]);

const turn: Step = { kind: 'turn', toolChoice: 'auto' };
const lastTurn: Step = { kind: 'turn', toolChoice: 'none' };
const completed: Step = {
  kind: 'end',
  ending: {
    end: { status: 'completed', error: null, because: 'the model ended its answer', by: null },
    result: 'here',
  },
};
const partial = (text: string, message: string, by: 'limit' | null): Step => ({
  kind: 'end',
  ending: {
    end: {
      status: 'partial',
      error: { code: 'LIMIT_EXCEEDED', message, retryable: false },
      because: message,
      by,
    },
    result: text,
  },
});
const failed = (message: string, retryable: boolean): Step => ({
  kind: 'end',
  ending: {
    end: {
      status: 'failed',
      error: { code: 'PROVIDER_ERROR', message, retryable },
      because: message,
      by: null,
    },
    result: '',
  },
});
const LIMIT_REACHED = 'the limit max_turns = 3 is reached (3 used)';
const TIME_UP = 'the limit tree_wall_seconds = 60 is reached (60 used)';
const GO_ON =
  'Your answer was cut off at your output limit. Go on with it exactly where it stopped: no introduction, nothing said again.';
const EMPTY = 'Your answer was empty. Go on with the task, or give your final answer as text.';
const SHELLS =
  'Still running in the background: shell0000000. Wait with TaskOutput or end with TaskStop what you need an outcome of; what runs when you answer again is stopped. Then give your final answer.';

describe('the next step', () => {
  it.each<readonly [string, readonly EventBody[], Step]>([
    ['of a new task is its first turn', [], turn],
    ['of a request under way is to send it again', [asked()], turn],
    ['of a last request under way, too', [...rounds(3), limit, asked(4, 'none')], lastTurn],
    [
      'after an answer with calls is to run them',
      [asked(), called()],
      { kind: 'calls', calls: [CALL] },
    ],
    ['after their results is a turn', rounds(1), turn],
    [
      'after a failed turn is another',
      [
        asked(),
        {
          type: 'turn.failed',
          turn: 1,
          failure: { kind: 'server', message: 'x', retryable: true },
          usage: NO_USAGE,
        },
      ],
      turn,
    ],
    ['after a complete answer is the end', [asked(), answered('here')], completed],
    ['while a message is waiting is a turn', [asked(), answered('here'), said('m1')], turn],
    ['while a child runs is to wait', [asked(), child(true), answered('here')], { kind: 'wait' }],
    [
      'while a child runs and a message is waiting is a turn',
      [asked(), child(true), answered('here'), said('m1')],
      turn,
    ],
    [
      'once the child has ended is the end',
      [asked(), child(true), answered('here'), childEnded],
      completed,
    ],
    [
      'while a child runs does not depend on it if calls are left',
      [asked(), child(false), called()],
      { kind: 'calls', calls: [CALL] },
    ],
    [
      'while a shell runs is to report it, once',
      [asked(), shell, answered('here')],
      { kind: 'notice', id: 'shells-0', text: SHELLS },
    ],
    [
      'when the shell was reported and still runs is to stop it',
      [
        asked(),
        shell,
        answered('here'),
        said('shells-0'),
        { ...asked(2), inputs: ['shells-0'] } as EventBody,
        answered('here', { turn: 2 }),
      ],
      { kind: 'stop_shells', shells: ['shell0000000'], notify: false },
    ],
    [
      'once the shell has ended is the end',
      [asked(), shell, answered('here'), shellEnded],
      completed,
    ],
    [
      'after an empty answer is to report it',
      [asked(), answered(' ')],
      { kind: 'notice', id: 'fault-1', text: EMPTY },
    ],
    [
      'after three of them is the end',
      empties,
      failed('the model gave 3 empty answers in a row (limit empty_answers = 3)', true),
    ],
    [
      'after an answer that was cut is to ask for the rest',
      [asked(), answered('he', { reason: 'length' })],
      { kind: 'notice', id: 'go-on-1', text: GO_ON },
    ],
    [
      'after an answer that was cut is a turn, if a message is waiting',
      [asked(), answered('he', { reason: 'length' }), said('m1')],
      turn,
    ],
    [
      'after a filtered answer is the end, and its calls are not run',
      [asked(), answered('', { calls: [CALL], reason: 'content_filter' })],
      failed("the provider's content filter ended the answer", false),
    ],
    [
      'at max_turns is to announce the last turn',
      rounds(3),
      { kind: 'limit', hit: { limit: 'max_turns', value: 3, used: 3 } },
    ],
    [
      'with calls left at max_turns is to run them',
      [...rounds(2), asked(3), called(3)],
      { kind: 'calls', calls: [CALL] },
    ],
    ['after the announcement of the limit is the last turn', [...rounds(3), limit], lastTurn],
    [
      'after the last turn is the end with its answer',
      [...rounds(3), limit, asked(4, 'none'), answered('late', { turn: 4 })],
      partial('late', LIMIT_REACHED, 'limit'),
    ],
    [
      'after a last turn with calls is the end, and the calls are not run',
      [...rounds(3), limit, asked(4, 'none'), called(4)],
      partial('', LIMIT_REACHED, 'limit'),
    ],
    [
      'at the end of the time of the tree is to close a request under way',
      [asked(), timeUp],
      { kind: 'close_turn', turn: 1, because: TIME_UP },
    ],
    [
      'at the end of the time of the tree is to close the calls that are left',
      [asked(), called(), timeUp],
      { kind: 'close_calls', because: TIME_UP },
    ],
    [
      'at the end of the time of the tree is to stop the shells',
      [...rounds(1), shell, timeUp],
      { kind: 'stop_shells', shells: ['shell0000000'], notify: true },
    ],
    [
      'at the end of the time of the tree is to wait for the children',
      [...rounds(1), child(true), timeUp],
      { kind: 'wait' },
    ],
    [
      'at the end of the time of the tree is to report it when everything has ended',
      [...rounds(1), child(true), shell, timeUp, childEnded, shellEnded],
      {
        kind: 'notice',
        id: 'time-0',
        text: `Stop here: ${TIME_UP}. No more tools: give your final answer now, with what you have. It must be complete within 6 s.`,
      },
    ],
    ['after that report is the last turn', [...rounds(1), timeUp, said('time-0')], lastTurn],
    [
      'of a last request at the end of the time is to send it again',
      [...rounds(1), timeUp, asked(2, 'none')],
      lastTurn,
    ],
    [
      'after that answer is the end',
      [...rounds(1), timeUp, asked(2, 'none'), answered('so far', { turn: 2 })],
      partial('so far', TIME_UP, 'limit'),
    ],
    [
      'of a task that reached another limit first is its last turn',
      [...rounds(3), limit, timeUp],
      lastTurn,
    ],
    [
      'of a resumed task is the turn with the message',
      [asked(), answered('here'), ENDED, said('m1'), RESUMED],
      turn,
    ],
    [
      'of a resumed task counts its turns from zero',
      [
        ...rounds(3),
        ENDED,
        RESUMED,
        asked(4),
        called(4),
        { ...result, text: 'other' } as EventBody,
      ],
      turn,
    ],
  ])('%s', (_, events, step) => {
    expect(stepAfter(...events)).toEqual(step);
  });

  it('is to report a repetition when the same calls gave the same results no_progress_calls times', () => {
    const hit = { limit: 'no_progress_calls', value: 2, used: 2 };
    expect(stepAfter(...rounds(2))).toEqual({ kind: 'limit', hit });
  });
});

describe('a request that only reports ended tasks', () => {
  const other: EventBody = { ...child(true), child: 'child0000001' } as EventBody;
  const told: EventBody = {
    type: 'input.queued',
    input: { id: 'end-1', kind: 'result', from: 'child0000000', text: 'ended' },
  };
  const delegated = [asked(), called(), child(true), other, result];
  const waiting = [...delegated, asked(2), answered('waiting', { turn: 2 })];

  it.each<[string, readonly EventBody[], boolean]>([
    [
      'follows an answer if one child has ended while another works',
      [...waiting, told, childEnded],
      true,
    ],
    ['does not exist without an end to report', waiting, false],
    [
      'does not exist when all children have ended',
      [
        asked(),
        called(),
        child(true),
        result,
        asked(2),
        answered('waiting', { turn: 2 }),
        told,
        childEnded,
      ],
      false,
    ],
    ['does not exist when there is a message', [...waiting, told, childEnded, said('m1')], false],
    ['does not exist when there are results of calls', [...delegated, told, childEnded], false],
    ['does not exist once the request was begun', [...waiting, told, childEnded, asked(3)], false],
  ])('%s', (_, events, expected) => {
    expect(reportsEndsOnly(stateAfter(...events))).toBe(expected);
  });
});
