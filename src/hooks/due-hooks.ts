import type { HookCondition, HookMatch, HookOccasion } from '../protocol/hook.ts';
import type { HookDefinition } from './hook-definition.ts';
import { matchHook } from './match-hooks.ts';

/** A hook that is to run, and how its matcher and its condition cover the occasion. */
export interface DueHook {
  readonly hook: HookDefinition;
  readonly match: HookMatch;
}

/** The part of an occasion that decides which hooks run. */
type Moment = Pick<HookOccasion, 'event' | 'matched'>;

/** How the call of an occasion fits the conditions of hooks. A condition that is missing fits loosely. */
export type MatchedConditions = ReadonlyMap<HookCondition, HookMatch>;

/** Compares the call of an occasion with the conditions of all hooks whose matcher covers it. */
export async function matchConditions(
  hooks: readonly HookDefinition[],
  occasion: Moment & Pick<HookOccasion, 'matchCondition'>,
): Promise<MatchedConditions> {
  const { matchCondition } = occasion;
  if (matchCondition === undefined) return new Map();
  const conditions = hooks.flatMap((hook) =>
    hook.condition !== undefined && matchMatcher(hook, occasion) !== 'no' ? [hook.condition] : [],
  );
  return new Map(
    await Promise.all(conditions.map(async (each) => [each, await matchCondition(each)] as const)),
  );
}

/**
 * Finds the hooks that run on an occasion, in their order. Of hooks that do the same, only one runs: one of the user's own
 * settings, because its permission counts, and otherwise one that is meant for exactly this occasion.
 */
export function findDueHooks(
  hooks: readonly HookDefinition[],
  moment: Moment,
  conditions: MatchedConditions,
): readonly DueHook[] {
  const due = hooks.flatMap((hook): readonly DueHook[] => {
    const match = matchMoment(hook, moment, conditions);
    return match === 'no' ? [] : [{ hook, match }];
  });
  return withoutRepeatedHooks(due);
}

/** Tells whether a hook is meant for an occasion. */
export function coversOccasion(
  hook: HookDefinition,
  moment: Moment,
  conditions: MatchedConditions,
): boolean {
  return matchMoment(hook, moment, conditions) !== 'no';
}

/** Returns the weaker match of the matcher and the condition of a hook. */
function matchMoment(
  hook: HookDefinition,
  moment: Moment,
  conditions: MatchedConditions,
): HookMatch {
  const { condition } = hook;
  const byMatcher = matchMatcher(hook, moment);
  if (byMatcher === 'no' || condition === undefined) return byMatcher;
  const byCondition = conditions.get(condition) ?? 'loosely';
  return byCondition === 'yes' ? byMatcher : byCondition;
}

function matchMatcher(hook: HookDefinition, { event, matched }: Moment): HookMatch {
  return isFor(hook, event) ? matchHook(hook.matcher, matched, event) : 'no';
}

/** The `Stop` of an agent or a skill is the end of the task that has it, which may be a subagent. */
function isFor(
  { event, source: { kind } }: HookDefinition,
  present: HookOccasion['event'],
): boolean {
  if (event === present) return true;
  return event === 'Stop' && present === 'SubagentStop' && (kind === 'agent' || kind === 'skill');
}

function withoutRepeatedHooks(due: readonly DueHook[]): readonly DueHook[] {
  const best = new Map<string, DueHook>();
  for (const each of due) {
    const { action, source, isAsync, isRewaking, blocksOnFailure } = each.hook;
    // The same command is another program in each plugin.
    const key = JSON.stringify([action, source.pluginRoot, isAsync, isRewaking, blocksOnFailure]);
    const other = best.get(key);
    if (other === undefined || rank(each) > rank(other)) best.set(key, each);
  }
  const kept = new Set(best.values());
  return due.filter((each) => kept.has(each));
}

function rank({ hook, match }: DueHook): number {
  return (hook.source.kind === 'user' ? 2 : 0) + (match === 'yes' ? 1 : 0);
}
