import { describe, expect, it } from 'vitest';
import { isTaskEvent } from '../../../src/store/log/validate-event.ts';
import { upgradeEvent } from '../../../src/store/log/upgrade-event.ts';
import { NO_USAGE } from '../../../src/protocol/model.ts';
import { taskSpec } from '../fixture-data.ts';

const stamp = (v: number) => ({ v, seq: 3, ts: 7, task: 'task00000001', epoch: 1 });
const { network: _, ...rightsOfOld } = taskSpec('task00000001').rights;

describe('events of older versions', () => {
  it.each([
    [
      'a child of version 1 was in the foreground',
      { ...stamp(1), type: 'child.created', child: 'c', callId: 'x' },
      { background: false },
    ],
    [
      'what a child of version 1 spent is not known',
      { ...stamp(1), type: 'child.ended', child: 'c', status: 'completed', changed: [] },
      { spent: { tokens: 0, costUsd: 0 }, below: [] },
    ],
    [
      'a task of version 1 ended by itself',
      { ...stamp(1), type: 'task.ended', end: { status: 'completed' }, result: '' },
      { end: { status: 'completed', by: null } },
    ],
    [
      'an answer of version 1 that was interrupted has no known usage',
      { ...stamp(1), type: 'turn.failed', turn: 1, failure: {} },
      { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 } },
    ],
    [
      'a call of version 1 was refused by no particular step',
      { ...stamp(1), type: 'call.refused', callId: 'c', tool: 'Bash', text: 'no', error: 'X' },
      { decision: null },
    ],
    [
      'a task of version 1 had the limits that it names',
      { ...stamp(1), type: 'task.created', spec: { ...taskSpec('a'), limits: { maxTurns: 7 } } },
      {
        spec: {
          ...taskSpec('a'),
          limits: { maxTurns: 7, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 },
        },
      },
    ],
    [
      'commands of version 2 had no network',
      { ...stamp(2), type: 'terms.changed', rights: rightsOfOld, limits: {}, model: {} },
      { rights: { ...rightsOfOld, network: false } },
    ],
    [
      'tasks that version 2 created had no network, and keep their other rights',
      { ...stamp(2), type: 'task.created', spec: { ...taskSpec('a'), rights: rightsOfOld } },
      { spec: { ...taskSpec('a'), rights: { ...rightsOfOld, network: false } } },
    ],
  ])('%s', (_name, old, added) => {
    expect(upgradeEvent(old)).toEqual({ ...old, ...added });
  });
});

it('a task that was logged before tasks could refuse questions still asks', () => {
  const made = { ...stamp(2), type: 'task.created', spec: taskSpec('task00000001') };
  const upgraded = upgradeEvent(made);
  expect(isTaskEvent(upgraded, 'task00000001')).toBe(true);
  expect(upgraded).not.toHaveProperty('spec.rights.refusesQuestions');
  const silent = { ...made.spec.rights, refusesQuestions: true };
  const changed = { ...stamp(2), type: 'terms.changed', rights: silent, limits: {}, model: {} };
  expect(upgradeEvent(changed)).toEqual(changed);
});

const USED = {
  usage: NO_USAGE,
  model: 'a/b',
  failure: { kind: 'network' },
  estimated: { usage: NO_USAGE, costUsd: null },
};
const TURN_END = {
  usage: NO_USAGE,
  model: 'a/b',
  estimated: USED.estimated,
  turn: 1,
  message: { content: [] },
};
const CHILD_END = {
  child: 'c',
  status: 'completed',
  changed: [],
  below: [],
  spent: {},
  work: {},
  delegations: {},
};

it.each([
  ['turn.ended', TURN_END],
  ['turn.retried', USED],
  ['turn.failed', { usage: NO_USAGE, failure: {} }],
  ['child.ended', CHILD_END],
])('%s is accepted as it was written, but not without its totals', (type, body) => {
  const event = { ...stamp(4), type, ...body };
  expect(isTaskEvent(event, 'task00000001')).toBe(true);
  for (const field of Object.keys(body)) {
    const broken = { ...event, [field]: 'x' };
    const isLookedAt = !['child', 'model', 'status'].includes(field);
    if (isLookedAt) expect(isTaskEvent(broken, 'task00000001')).toBe(false);
  }
  expect(isTaskEvent({ ...event, model: 5 }, 'task00000001')).toBe(type === 'child.ended');
});

it('a task of the current version needs the limit of its result', () => {
  const event = (limits: unknown) => ({
    ...stamp(4),
    type: 'task.created',
    spec: { ...taskSpec('task00000001'), limits },
  });
  const { limits } = taskSpec('task00000001');
  expect(isTaskEvent(event(limits), 'task00000001')).toBe(true);
  // A program that embeds Muster may log this.
  expect(isTaskEvent(event({ ...limits, resultMaxTokens: 1.5 }), 'task00000001')).toBe(true);
  for (const wrong of [undefined, {}, { ...limits, resultMaxTokens: Number.NaN }]) {
    expect(isTaskEvent(event(wrong), 'task00000001')).toBe(false);
  }
});

it.each([
  ['child.created', { child: 'c', callId: 'c1' }],
  ['turn.started', { turn: 1, inputs: ['prompt'], model: 'a/b' }],
  ['call.ended', { callId: 'c1', tool: 'Read', text: '', facts: {} }],
  ['call.refused', { callId: 'c1', tool: 'Read', text: '', decision: { reason: 'no' } }],
  ['input.queued', { input: { id: 'i', kind: 'message', from: 'user', text: '' } }],
  ['input.withdrawn', { ids: [] }],
  ['turn.interrupted', { input: 'i', because: 'the user interrupted it' }],
  ['question.answered', { question: 'q', callId: 'c1', answer: { kind: 'once' } }],
  ['task.ended', { end: {}, result: '' }],
])('%s is not an event without the fields that its readers need', (type, body) => {
  const event = { ...stamp(4), type, ...body };
  expect(isTaskEvent(event, 'task00000001')).toBe(true);
  for (const field of Object.keys(body)) {
    for (const wrong of [undefined, null, [5]]) {
      // There may be no decision.
      if (field === 'decision' && wrong === null) continue;
      expect(isTaskEvent({ ...event, [field]: wrong }, 'task00000001')).toBe(false);
    }
  }
});
