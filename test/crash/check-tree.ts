import { isDeepStrictEqual } from 'node:util';
import { runningShells } from '../../src/protocol/state/owned-work.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { Acknowledged, Effect } from './acknowledged.ts';
import { wrongIn, type Logs } from './check-logs.ts';
import { wrongRequests, type Sent } from './check-requests.ts';
import { taskOfPrompt } from './scenario.ts';
import { FINAL_ANSWER, TASKS } from './tree-script.ts';
import { foldEvents } from '../../src/protocol/state/fold.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

/** All that is known of a run of the tree that came to its end, however often it was killed. */
export interface TreeEvidence {
  readonly logs: Logs;
  readonly acknowledged: Acknowledged;
  /** In order of arrival. */
  readonly requests: readonly Sent[];
  readonly getBlob: (hash: string) => string;
}

const UNKNOWN = 'outcome is unknown';

/** What is wrong with it, one sentence each. */
export function wrongTree(evidence: TreeEvidence): readonly string[] {
  const { logs, acknowledged, requests, getBlob } = evidence;
  const wrong = wrongIn(logs, acknowledged, getBlob);
  // A log that does not fold can't be looked at any further.
  if (logs.size === 0 || wrong.length > 0) return wrong;
  const states = [...logs.values()].map(({ events }) => foldEvents(events));
  const names = states.map(({ spec }) => taskOfPrompt(spec.prompt)).toSorted();
  const answer = states.find(({ spec }) => spec.parent === null)?.result;
  return [
    ...(isDeepStrictEqual(names, TASKS.toSorted()) ? [] : [`the tasks are ${names.join()}`]),
    // What is unknown to a task does not change what it answers here.
    ...(answer === FINAL_ANSWER ? [] : [`the final answer is ${answer}`]),
    ...states.flatMap((state) => wrongState(state, logs)),
    ...[...logs].flatMap(([id, { events }]) => wrongCalls(id, events, acknowledged.effects)),
    ...wrongRequests(requests, states),
  ];
}

function wrongState(state: TaskState, logs: Logs): readonly string[] {
  const name = taskOfPrompt(state.spec.prompt);
  const events = logs.get(state.spec.id)?.events ?? [];
  const begun = new Set(events.flatMap((e) => (e.type === 'call.started' ? [e.callId] : []))).size;
  const counted = [...state.toolCounts.values()].reduce((sum, count) => sum + count, 0);
  return [
    ...(state.status === 'completed'
      ? []
      : [`${name} is ${state.status}: ${state.end?.because ?? 'it has no end'}`]),
    ...(counted === begun ? [] : [`${name} counts ${counted} calls, not ${begun}`]),
    ...[...state.openChildren].map((id) => `${name} has ended, its child ${id} has not`),
    ...runningShells(state).map((id) => `${name} has ended, its shell ${id} has not`),
    ...wrongEnds(name, events),
  ];
}

/** A task ends once in each stint. */
function wrongEnds(name: string, events: readonly TaskEvent[]): readonly string[] {
  const ends = events.filter(({ type }) => type === 'task.ended').length;
  const resumes = events.filter(({ type }) => type === 'task.resumed').length;
  return ends === resumes + 1 ? [] : [`${name} ended ${ends} times, and was resumed ${resumes}`];
}

/** Each call has one outcome, and a command that is said to have run has left its token. */
function wrongCalls(
  id: string,
  events: readonly TaskEvent[],
  effects: readonly Effect[],
): readonly string[] {
  const outcomes = new Map<string, number>();
  const inputs = new Map<string, string>();
  const wrong: string[] = [];
  for (const event of events) {
    if (event.type === 'call.started') inputs.set(event.callId, JSON.stringify(event.input));
    if (event.type !== 'call.ended' && event.type !== 'call.refused') continue;
    outcomes.set(event.callId, (outcomes.get(event.callId) ?? 0) + 1);
    if (event.type !== 'call.ended' || event.tool !== 'Bash') continue;
    if (event.error !== null) {
      if (!event.text.includes(UNKNOWN)) wrong.push(`${id}: a command ended with: ${event.text}`);
      continue;
    }
    const input = inputs.get(event.callId) ?? '';
    // In the background it may have been ended before it came to that.
    if (input.includes('run_in_background')) continue;
    const [token = ''] = /tok_\w+_/.exec(input) ?? [];
    if (!effects.some((effect) => effect.token.includes(token))) {
      wrong.push(`${id}: ${token} was not made`);
    }
  }
  for (const [call, count] of outcomes) {
    if (count !== 1) wrong.push(`${id}: call ${call} has ${count} outcomes`);
  }
  return wrong;
}
