import { isDeepStrictEqual } from 'node:util';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { Message } from '../../src/protocol/message.ts';
import type { ModelRequest } from '../../src/protocol/model.ts';
import { eventsOf, type SeenRequest, type World } from './random-world.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';
import { foldEvents } from '../../src/protocol/state/fold.ts';

interface TaskHistory {
  readonly id: string;
  readonly events: readonly TaskEvent[];
  readonly state: TaskState;
}

/** Returns all errors in a world whose root has ended; an empty list if there are none. */
export function wrongsOf(world: World): readonly string[] {
  const tasks = world.store.list().map(({ id }) => {
    const events = eventsOf(world.store, id);
    return { id, events, state: foldEvents(events) };
  });
  return [
    ...world.wrongs,
    ...tasks.flatMap(wrongEnd),
    ...tasks.flatMap(wrongOutcomes),
    ...tasks.flatMap(wrongMessages),
    ...tasks.flatMap((task) => wrongDeliveries(task, world)),
    ...wrongRequests(world.requests),
    ...[...world.runs]
      .filter(([, runs]) => runs > 1)
      .map(([key, runs]) => `${key} ran ${runs} times`),
  ];
}

function wrongEnd({ id, state, events }: TaskHistory): readonly string[] {
  if (state.end === null) return [`task ${id} has no end`];
  const { openCalls, results, queued } = state.conversation;
  const ended = events.findLastIndex(({ type }) => type === 'task.ended');
  const unread = queued.filter((input) =>
    events.slice(0, ended).some((event) => event.type === 'input.queued' && event.input === input),
  );
  if (endedWell(state) && unread.length > 0) {
    return [`task ${id} ended without having read ${unread.map((input) => input.id).join()}`];
  }
  if (openCalls.length === results.size) return [];
  return [`task ${id} ended with ${openCalls.length} calls and ${results.size} results`];
}

/** Checks that each call has exactly one outcome. */
function wrongOutcomes({ id, events }: TaskHistory): readonly string[] {
  const outcomes = new Map<string, number>();
  for (const event of events) {
    if (event.type !== 'call.ended' && event.type !== 'call.refused') continue;
    outcomes.set(event.callId, (outcomes.get(event.callId) ?? 0) + 1);
  }
  return [...outcomes]
    .filter(([, n]) => n > 1)
    .map(([call, n]) => `${id}: ${call} ended ${n} times`);
}

/**
 * Checks that each message of a person is in exactly one request or was taken back. A message to a task that did not
 * complete may still wait for its next request.
 */
function wrongMessages({ id, events, state }: TaskHistory): readonly string[] {
  const taken = events.flatMap((event) => (event.type === 'turn.started' ? event.inputs : []));
  const withdrawn = events.flatMap((event) => (event.type === 'input.withdrawn' ? event.ids : []));
  return events.flatMap((event) => {
    if (event.type !== 'input.queued' || event.input.from !== 'user') return [];
    const { id: input, kind } = event.input;
    if (kind !== 'message') return [];
    const waits = state.conversation.queued.some((each) => each.id === input);
    const places = [...taken, ...withdrawn].filter((each) => each === input).length;
    if (places + (waits ? 1 : 0) === 1) return [];
    return [`${id}: the message ${input} is in ${places} places${waits ? ' and waits' : ''}`];
  });
}

/** The time from the creation or a resume of a child to its next resume. */
interface Episode {
  readonly child: string;
  background: boolean;
  hasEnded: boolean;
  /** True for a shell that was stopped after its task had been notified of the stop. */
  isUntold: boolean;
  /** The call that created or resumed the child. */
  readonly callId: string;
  /** True if a later process resumed the child for another call before it had ended. */
  isSuperseded: boolean;
  /** The ids of the notices of its end. */
  readonly notices: Set<string>;
  /** The ids of notices that a call replaced, including notices of an earlier end. */
  readonly told: Set<string>;
}

/**
 * Checks that the end of background work reaches its task exactly once. The end of other work reaches it only through
 * the call.
 */
function wrongDeliveries({ id, events, state }: TaskHistory, { store }: World): readonly string[] {
  const wrongs: string[] = [];
  const standing = new Map<string, number>();
  const withdrawn = new Set<string>();
  for (const episode of episodesOf(events, { standing, withdrawn })) {
    const { child, background, hasEnded, isUntold, notices, told } = episode;
    if (episode.isSuperseded && !isBegun(store, episode)) continue;
    if (!hasEnded) wrongs.push(`${id}: ${child} did not end`);
    const isKnown = isUntold || told.size > 0;
    if (background && notices.size !== 1 && !(isKnown && notices.size === 0)) {
      wrongs.push(`${id}: the end of ${child} has ${notices.size} notices: ${[...notices].join()}`);
    }
    for (const notice of notices) {
      const times = standing.get(notice) ?? 0;
      const waits = state.conversation.queued.some((input) => input.id === notice);
      const isGiven = background && !withdrawn.has(notice);
      const fits = isGiven
        ? times === 1 || (times === 0 && waits && !endedWell(state))
        : times === 0;
      if (!fits)
        wrongs.push(
          `${id}: ${notice} (${JSON.stringify({ background, waits })}) stands ${times} times`,
        );
    }
  }
  return wrongs;
}

/**
 * Returns true if the child's own log has the activation. An activation that a process announced before it died may
 * be dropped by the next process.
 */
function isBegun(store: World['store'], { child, callId }: Episode): boolean {
  return eventsOf(store, child).some(
    (event) => event.type === 'task.resumed' && event.callId === callId,
  );
}

function endedWell({ end }: TaskState): boolean {
  return end?.status === 'completed';
}

function episodesOf(
  events: readonly TaskEvent[],
  seen: { readonly standing: Map<string, number>; readonly withdrawn: Set<string> },
): readonly Episode[] {
  const episodes: Episode[] = [];
  const newest = new Map<string, Episode>();
  const begun = new Map<Episode, number>();
  const begin = (child: string, background: boolean, event: TaskEvent, callId = '') => {
    const former = newest.get(child);
    if (former !== undefined && !former.hasEnded) {
      former.isSuperseded = (begun.get(former) ?? 0) < event.epoch;
    }
    const states = { hasEnded: false, isUntold: false, isSuperseded: false };
    const ids = { callId, notices: new Set<string>(), told: new Set<string>() };
    const episode = { child, background, ...states, ...ids };
    episodes.push(episode);
    newest.set(child, episode);
    begun.set(episode, event.epoch);
  };
  for (const event of events) {
    switch (event.type) {
      case 'child.created':
      case 'child.resumed':
        begin(event.child, event.background, event, event.callId);
        break;
      case 'shell.started':
        begin(event.shell, true, event);
        break;
      case 'child.detached': {
        const episode = newest.get(event.child);
        if (episode !== undefined) episode.background = true;
        break;
      }
      case 'child.ended': {
        const episode = newest.get(event.child);
        if (episode !== undefined) episode.hasEnded = true;
        break;
      }
      case 'shell.ended': {
        const episode = newest.get(event.shell);
        if (episode === undefined) break;
        episode.hasEnded = true;
        episode.isUntold = event.end === 'stopped';
        break;
      }
      case 'input.queued':
        if (event.input.kind === 'result') {
          newest.get(event.input.from)?.notices.add(event.input.id);
        }
        break;
      case 'input.withdrawn':
        for (const notice of event.ids) {
          newest.get(childOf(notice))?.told.add(notice);
          if (!seen.standing.has(notice)) seen.withdrawn.add(notice);
        }
        break;
      case 'turn.started':
        for (const input of event.inputs) {
          seen.standing.set(input, (seen.standing.get(input) ?? 0) + 1);
        }
        break;
      default:
    }
  }
  return episodes;
}

function childOf(notice: string): string {
  return notice.split('-')[0] ?? '';
}

/** Returns the outcomes that a task got more than once although none of its calls could have asked for them again. */
export function heardTwice(world: World): readonly string[] {
  return world.store.list().flatMap(({ id }) => {
    const { messages } = foldEvents(eventsOf(world.store, id)).conversation;
    const texts = messages.flatMap((message) =>
      message.role === 'assistant' ? [] : message.content.map(({ text }) => text),
    );
    const heard = [...texts.join('\n').matchAll(/done\(([^#)]*)#/g)].map(([, path]) => path);
    return heard
      .filter((path, index) => heard.indexOf(path) !== index)
      .map((path) => `${id}: ${path}`);
  });
}

/**
 * Removes the parts of a request that are not sent or that differ between processes: its queue and the function that
 * reads blobs.
 */
function isSentAlike(one: ModelRequest, other: ModelRequest): boolean {
  const { priority: _, readBlob: _reads, ...first } = one;
  const { priority: _other, readBlob: _otherReads, ...second } = other;
  return isDeepStrictEqual(first, second);
}

function wrongRequests(requests: readonly SeenRequest[]): readonly string[] {
  const wrongs: string[] = [];
  for (const [path, its] of Map.groupBy(requests, (seen) => seen.path)) {
    for (const [index, { request, life }] of its.entries()) {
      const before = its[index - 1];
      if (request.messages.at(-1)?.role === 'assistant') {
        wrongs.push(`${path}: request ${index} (life ${life}) adds nothing to an answer`);
      }
      wrongs.push(...wrongPairs(request.messages).map((wrong) => `${path}: ${wrong}`));
      if (before === undefined) continue;
      const old = before.request;
      if (!isDeepStrictEqual(old.messages, request.messages.slice(0, old.messages.length))) {
        wrongs.push(`${path}: request ${index} (life ${life}) does not go on from the one before`);
      }
      if (!isDeepStrictEqual(old.prefix, request.prefix)) wrongs.push(`${path}: another prefix`);
      if (old.messages.length === request.messages.length && !isSentAlike(old, request)) {
        wrongs.push(`${path}: request ${index} (life ${life}) is not the one that it repeats`);
      }
    }
  }
  return wrongs;
}

/** Checks that the results of an answer's calls are in the next message, in order. */
function wrongPairs(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'assistant') return [];
    const asked = message.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
    const next = messages[index + 1];
    const answered = next?.role === 'tool' ? next.content.map(({ callId }) => callId) : [];
    return isDeepStrictEqual(asked, answered)
      ? []
      : [`${asked.join()} answered by ${answered.join()}`];
  });
}
