import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { RequestPrefix, Usage } from '../protocol/model.ts';
import { messageTexts } from './message-texts.ts';
import { systemTexts, toolTexts, type RequestText } from './request-texts.ts';
import { foldEvents } from '../protocol/state/fold.ts';

/** The parts of a request that have the same name, added up. */
export interface ContextPart extends RequestText {
  readonly group: 'tools' | 'system' | 'messages';
  /** The number of texts: 1 for a tool, more for results. */
  readonly count: number;
  /**
   * The estimated tokens that the provider's cache served, or null if the provider has not counted the request. A
   * cache holds the beginning of a request.
   */
  readonly cached: number | null;
}

/** One request of a task, divided into its parts. */
export interface RequestContext {
  readonly task: string;
  readonly turn: number;
  /** The number of turns. */
  readonly turns: number;
  /** `provider/id` of the requested model. */
  readonly model: string;
  /** The parts in the order of the request, messages by kind. */
  readonly parts: readonly ContextPart[];
  readonly bytes: number;
  /** The estimated tokens of all parts. */
  readonly tokens: number;
  /** The provider's count, or null if it gave none. */
  readonly counted: CountedInput | null;
}

export interface CountedInput {
  /** Tokens that were neither read from a cache nor written to one. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The sum of the three. */
  readonly total: number;
  /** The share of the total that was read from a cache, from 0 to 1. */
  readonly cachedShare: number;
}

/**
 * Returns the request of a turn as the log of its task has it. After a rewind, several turns may have the same
 * number; the newest one counts. Throws MusterError `NOT_FOUND` if there is no such turn.
 *
 * @param options `turn` is the number of the turn, or null for the newest one
 */
export function requestContext(
  events: readonly TaskEvent[],
  { turn, prefix }: { readonly turn: number | null; readonly prefix: RequestPrefix },
): RequestContext {
  const turns = events.filter((event) => event.type === 'turn.started');
  const started = turns.findLast((event) => turn === null || event.turn === turn);
  const task = events[0]?.task ?? '';
  if (started === undefined) throw noSuchTurn(task, turn, turns.at(-1)?.turn ?? 0);
  const until = events.filter(({ seq }) => seq <= started.seq);
  const { messages, summaryTransfer } = foldEvents(until).conversation;
  const counted = countedInput(events, started);
  const items = [
    ...toolTexts(prefix).map((source): Item => ({ group: 'tools', source })),
    ...systemTexts(prefix).map((source): Item => ({ group: 'system', source })),
    ...messageTexts(messages, until, summaryTransfer?.text ?? null).map((source): Item => ({
      group: 'messages',
      source,
    })),
  ];
  const tokens = items.reduce((sum, { source }) => sum + source.tokens, 0);
  return {
    task,
    turn: started.turn,
    turns: Math.max(...turns.map((each) => each.turn)),
    model: started.model,
    parts: byName(withCached(items, counted === null ? null : counted.cachedShare * tokens)),
    bytes: items.reduce((sum, { source }) => sum + source.bytes, 0),
    tokens,
    counted,
  };
}

function noSuchTurn(task: string, turn: number | null, last: number): MusterError {
  if (last === 0) {
    return new MusterError('NOT_FOUND', `task ${task} has asked no model yet: there is no request`);
  }
  return new MusterError(
    'NOT_FOUND',
    `--turn: task ${task} has no turn ${turn}, it has turns 1 to ${last}`,
  );
}

type Started = Extract<TaskEvent, { type: 'turn.started' }>;

function countedInput(events: readonly TaskEvent[], started: Started): CountedInput | null {
  // Up to the next turn: a rewind can begin one of the same number.
  const next = events.find(({ seq, type }) => seq > started.seq && type === 'turn.started');
  const ended = events.find(
    (event) =>
      event.type === 'turn.ended' &&
      event.seq > started.seq &&
      (next === undefined || event.seq < next.seq),
  );
  return ended?.type === 'turn.ended' ? countOf(ended.usage) : null;
}

/** Returns the provider's count, or null, since some servers count nothing. */
function countOf({ input, cacheRead, cacheWrite }: Usage): CountedInput | null {
  const total = input + cacheRead + cacheWrite;
  if (total === 0) return null;
  return { input, cacheRead, cacheWrite, total, cachedShare: cacheRead / total };
}

interface Item {
  readonly group: ContextPart['group'];
  readonly source: RequestText;
}

type CachedItem = Item & Pick<ContextPart, 'cached'>;

/** Distributes the cached tokens over the parts, from the front. */
function withCached(items: readonly Item[], cached: number | null): readonly CachedItem[] {
  let remaining = cached ?? 0;
  return items.map(({ group, source }) => {
    if (cached === null) return { group, source, cached };
    const served = Math.min(source.tokens, remaining);
    remaining -= served;
    return { group, source, cached: served };
  });
}

function byName(items: readonly CachedItem[]): readonly ContextPart[] {
  const groups = Map.groupBy(items, ({ group, source }) => `${group} ${source.name}`);
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const sum = (of: (item: CachedItem) => number) => same.reduce((all, each) => all + of(each), 0);
    return [
      {
        group: first.group,
        name: first.source.name,
        count: same.length,
        bytes: sum(({ source }) => source.bytes),
        tokens: sum(({ source }) => source.tokens),
        cached: first.cached === null ? null : Math.round(sum(({ cached }) => cached ?? 0)),
      },
    ];
  });
}
