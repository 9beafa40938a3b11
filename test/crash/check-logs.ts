import { isDeepStrictEqual } from 'node:util';
import { errorMessage } from '../../src/base/errors.ts';
import { formatTaskLine } from '../../src/engine/prompt/prompt.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { RequestPrefix } from '../../src/protocol/model.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { tell, type Acknowledged, type Effect, type Told } from './acknowledged.ts';
import { readLog, type LogContents } from '../store/read-log.ts';
import { applyEvent } from '../../src/protocol/state/fold.ts';
import { initialState, type TaskState } from '../../src/protocol/state/task-state.ts';

/** The logs that a run left, as the store reads them. A log that has no event yet is none. */
export type Logs = ReadonlyMap<string, LogContents>;

export function readLogs(store: TaskStore, ids: readonly string[]): Logs {
  return new Map(
    ids.map((id) => [id, readLog(store, id)] as const).filter(([, log]) => log.events.length > 0),
  );
}

/**
 * What is wrong with the logs that a crash left, one sentence each; empty: nothing that was
 * acknowledged is lost, and what is there is whole.
 */
export function wrongIn(
  logs: Logs,
  acknowledged: Acknowledged,
  getBlob: (hash: string) => string,
): readonly string[] {
  const wrong: string[] = [];
  const told = new Set<string>();
  for (const [id, log] of logs) {
    wrong.push(...wrongInLog(id, log, logs));
    try {
      for (const request of requestsIn(log.events, getBlob)) told.add(JSON.stringify(request));
    } catch (thrown) {
      wrong.push(`${id}: its events don't fold: ${errorMessage(thrown)}`);
    }
  }
  const lostEvents = acknowledged.printed.filter(
    (event) => !isDeepStrictEqual(logs.get(event.task)?.events[event.seq], event),
  );
  wrong.push(...lostEvents.map(({ task, seq, type }) => `${task}: ${type} ${seq} was printed`));
  const lostRequests = acknowledged.requests.filter(
    (request) => !told.has(JSON.stringify(request)),
  );
  wrong.push(...lostRequests.map((request) => `a request was sent: ${brief(request)}`));
  return [...wrong, ...wrongEffects(logs, acknowledged.effects)];
}

function wrongInLog(id: string, { events, problems }: LogContents, logs: Logs): readonly string[] {
  const wrong = problems
    .filter((problem) => problem.code !== 'torn_tail')
    .map(({ line, message }) => `${id}: line ${line}: ${message}`);
  for (const [index, { seq }] of events.entries()) {
    if (seq !== index) wrong.push(`${id}: event ${index} has seq ${seq}`);
  }
  const [first] = events;
  if (first?.type !== 'task.created') return wrong;
  const { parent, parentCall } = first.spec;
  if (parent !== null && !notesChild(logs.get(parent)?.events ?? [], id, parentCall)) {
    wrong.push(`${id}: its parent's log does not know of it`);
  }
  return wrong;
}

function notesChild(events: readonly TaskEvent[], child: string, callId: string | null): boolean {
  return events.some(
    (event) => event.type === 'child.created' && event.child === child && event.callId === callId,
  );
}

/** Every request that the log says was about to be sent. */
function requestsIn(
  events: readonly TaskEvent[],
  getBlob: (hash: string) => string,
): readonly Told[] {
  const requests: Told[] = [];
  let state: TaskState | undefined;
  for (const event of events) {
    if (state === undefined) state = initialState(event);
    else applyEvent(state, event);
    if (event.type === 'turn.started') {
      requests.push(tell(prefixOf(state, getBlob), state.conversation.messages));
    }
  }
  return requests;
}

function prefixOf({ spec }: TaskState, getBlob: (hash: string) => string): RequestPrefix {
  const shared: RequestPrefix = JSON.parse(getBlob(spec.prefix));
  if (spec.parent === null) return shared;
  return { ...shared, system: [...shared.system, formatTaskLine(spec.description)] };
}

function wrongEffects(logs: Logs, effects: readonly Effect[]): readonly string[] {
  const intents = [...logs.values()]
    .flatMap(({ events }) => events)
    .filter((event) => event.type === 'call.started')
    .map(({ tool, input }) => ({ tool, input: JSON.stringify(input) }));
  const wrong = effects
    .filter(
      ({ tool, token }) =>
        !intents.some((intent) => intent.tool === tool && intent.input.includes(token)),
    )
    .map(({ tool, token }) => `${tool} made ${token} without its intent in a log`);
  const tokens = effects.map(({ tool, token }) => `${tool} made ${token}`);
  const twice = tokens.filter((token, index) => tokens.indexOf(token) !== index);
  return [...wrong, ...twice.map((token) => `${token} twice`)];
}

function brief({ messages }: Told): string {
  return JSON.stringify(messages).slice(0, 300);
}
