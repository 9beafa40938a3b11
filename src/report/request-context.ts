import { MusterError } from '../base/errors.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { RequestPrefix, Usage } from '../protocol/model.ts';
import { measureMessages } from './message-texts.ts';
import { measureSystemPrompt, measureTools, type RequestText } from './request-texts.ts';
import { foldEvents } from '../protocol/state/fold.ts';

/** The sum of all parts of a request that have the same name. */
export interface ContextPart extends RequestText {
  readonly group: 'tools' | 'system' | 'messages';
  /** The number of texts with this name, such as the results of one tool. */
  readonly count: number;
  /**
   * The estimated tokens that the provider read from its cache, or null if the provider has not counted the request. A
   * cache always contains the beginning of a request.
   */
  readonly cached: number | null;
}

/** One request of a task, divided into its parts. */
export interface RequestContext {
  readonly task: string;
  readonly turn: number;
  /** The number of turns of the task. */
  readonly turns: number;
  /** `provider/id` of the requested model. */
  readonly model: string;
  /** The parts in the order of the request, messages by kind. */
  readonly parts: readonly ContextPart[];
  readonly bytes: number;
  /** The estimated tokens of all parts. */
  readonly tokens: number;
  /** The provider's count of the input tokens, or null if it gave none. */
  readonly counted: CountedInput | null;
}

/** The input tokens of a request as the provider counted them. */
export interface CountedInput {
  /** The tokens that were neither read from a cache nor written to a cache. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The sum of `input`, `cacheRead` and `cacheWrite`. */
  readonly total: number;
  /** The share of the total that was read from a cache, from 0 to 1. */
  readonly cachedShare: number;
}

/**
 * Rebuilds the request of a turn from the log of its task, and measures its parts. If several turns have the same
 * number because of a rewind, the newest one is used. Throws MusterError `NOT_FOUND` if there is no such turn.
 *
 * @param options `turn` is the number of the turn, or null for the newest one
 */
export function measureRequest(
  events: readonly TaskEvent[],
  { turn, prefix }: { readonly turn: number | null; readonly prefix: RequestPrefix },
): RequestContext {
  const turns = events.filter((event) => event.type === 'turn.started');
  const started = turns.findLast((event) => turn === null || event.turn === turn);
  const task = events[0]?.task ?? '';
  if (started === undefined) throw createUnknownTurnError(task, turn, turns.at(-1)?.turn ?? 0);
  const eventsUntilTurn = events.filter(({ seq }) => seq <= started.seq);
  const { messages, summaryTransfer } = foldEvents(eventsUntilTurn).conversation;
  const counted = findCountedInput(events, started);
  const items = [
    ...measureTools(prefix).map((source): Item => ({ group: 'tools', source })),
    ...measureSystemPrompt(prefix).map((source): Item => ({ group: 'system', source })),
    ...measureMessages(messages, eventsUntilTurn, summaryTransfer?.text ?? null).map(
      (source): Item => ({
        group: 'messages',
        source,
      }),
    ),
  ];
  const tokens = items.reduce((sum, { source }) => sum + source.tokens, 0);
  return {
    task,
    turn: started.turn,
    turns: Math.max(...turns.map((each) => each.turn)),
    model: started.model,
    parts: sumByName(addCached(items, counted === null ? null : counted.cachedShare * tokens)),
    bytes: items.reduce((sum, { source }) => sum + source.bytes, 0),
    tokens,
    counted,
  };
}

function createUnknownTurnError(task: string, turn: number | null, last: number): MusterError {
  if (last === 0) {
    return new MusterError('NOT_FOUND', `task ${task} has asked no model yet: there is no request`);
  }
  return new MusterError(
    'NOT_FOUND',
    `--turn: task ${task} has no turn ${turn}, it has turns 1 to ${last}`,
  );
}

type Started = Extract<TaskEvent, { type: 'turn.started' }>;

function findCountedInput(events: readonly TaskEvent[], started: Started): CountedInput | null {
  // Search only up to the next turn, because after a rewind a later turn can have the same number.
  const next = events.find(({ seq, type }) => seq > started.seq && type === 'turn.started');
  const ended = events.find(
    (event) =>
      event.type === 'turn.ended' &&
      event.seq > started.seq &&
      (next === undefined || event.seq < next.seq),
  );
  return ended?.type === 'turn.ended' ? toCountedInput(ended.usage) : null;
}

/** Returns the provider's count, or null if it is 0, because some servers do not count. */
function toCountedInput({ input, cacheRead, cacheWrite }: Usage): CountedInput | null {
  const total = input + cacheRead + cacheWrite;
  if (total === 0) return null;
  return { input, cacheRead, cacheWrite, total, cachedShare: cacheRead / total };
}

/** A text of a request before equal names are added up. */
interface Item {
  readonly group: ContextPart['group'];
  readonly source: RequestText;
}

type CachedItem = Item & Pick<ContextPart, 'cached'>;

/** Distributes the cached tokens over the parts, beginning with the first part. */
function addCached(items: readonly Item[], cached: number | null): readonly CachedItem[] {
  let remaining = cached ?? 0;
  return items.map(({ group, source }) => {
    if (cached === null) return { group, source, cached };
    const served = Math.min(source.tokens, remaining);
    remaining -= served;
    return { group, source, cached: served };
  });
}

function sumByName(items: readonly CachedItem[]): readonly ContextPart[] {
  const groups = Map.groupBy(items, ({ group, source }) => `${group} ${source.name}`);
  return [...groups.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const sum = (readValue: (item: CachedItem) => number) =>
      same.reduce((all, each) => all + readValue(each), 0);
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
