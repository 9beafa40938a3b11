import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClientUpdate } from '../../../src/front/acp/call-updates.ts';
import { replayConversation } from '../../../src/front/acp/replay-conversation.ts';
import { SessionUpdates } from '../../../src/front/acp/session-updates.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { findParamErrors } from '../../e2e/acp-schema.ts';
import { wildPlan } from '../../engine/random-plans.ts';
import { randomRuns } from '../../engine/random-runs.ts';
import { live, newWorld } from '../../engine/random-world.ts';

const RUNS = randomRuns(40);

/** What a client shows of a call in the end. */
interface ShownCallState {
  readonly sessionId: string;
  readonly statuses: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

function createUpdates(root: string, hasChildSessions: boolean, isReplay: boolean): SessionUpdates {
  return new SessionUpdates({
    root,
    hasChildSessions,
    hasNotices: false,
    isReplay,
    contextWindow: () => 200_000,
    readChange: () => null,
  });
}

/** Folds updates as a client does. Throws for an update of a call that was not announced, or announced twice. */
function foldCalls(updates: readonly ClientUpdate[]): ReadonlyMap<string, ShownCallState> {
  const calls = new Map<string, ShownCallState>();
  for (const { sessionId, update } of updates) {
    if (update.sessionUpdate !== 'tool_call' && update.sessionUpdate !== 'tool_call_update')
      continue;
    const { sessionUpdate, toolCallId, status, ...fields } = update;
    const known = calls.get(toolCallId);
    if ((known === undefined) !== (sessionUpdate === 'tool_call'))
      throw new Error(`${toolCallId}: ${sessionUpdate}`);
    const statuses = [...(known?.statuses ?? []), ...(typeof status === 'string' ? [status] : [])];
    calls.set(toolCallId, { sessionId, statuses, fields: { ...known?.fields, ...fields } });
  }
  return calls;
}

const isEnd = (status: string | undefined) => status === 'completed' || status === 'failed';

it.each([false, true])(
  'shows any tree of tasks as the protocol allows, live and replayed (child sessions: %s)',
  RUNS.test,
  async (hasChildSessions) => {
    await fc.assert(
      fc.asyncProperty(wildPlan, async (plan) => {
        const world = newWorld(plan);
        const events: TaskEvent[] = [];
        world.onEvent = (event) => void events.push(event);
        await live(world, null);
        const [root = ''] = world.ids;
        const present = createUpdates(root, hasChildSessions, false);
        const updates = events.flatMap((event) => present.add(event));
        const past = createUpdates(root, hasChildSessions, true);
        const replayed: ClientUpdate[] = [];
        for await (const event of replayConversation(world.store, root))
          replayed.push(...past.add(event));
        const name = hasChildSessions ? 'unstable' : 'stable';
        expect(
          [...updates, ...replayed].flatMap((each) =>
            findParamErrors('session/update', each, name),
          ),
        ).toEqual([]);
        if (!hasChildSessions)
          expect(new Set([...updates, ...replayed].map((each) => each.sessionId))).toEqual(
            new Set([root]),
          );
        const calls = foldCalls(updates);
        for (const [id, { statuses }] of calls) {
          const end = statuses.findIndex(isEnd);
          // All tasks have ended, and so have their calls. The end may be told again, with more to show.
          expect([id, isEnd(statuses.at(-1))]).toEqual([id, true]);
          expect(new Set(statuses.slice(end)).size).toBe(1);
        }
        const last = (all: ReadonlyMap<string, ShownCallState>) =>
          new Map([...all].map(([id, { statuses }]) => [id, statuses.at(-1)]));
        expect(last(foldCalls(replayed))).toEqual(last(calls));
        await world.store.close();
      }),
      RUNS.runs,
    );
  },
);
