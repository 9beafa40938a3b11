import type { HookOccasion } from '../protocol/hook.ts';
import type { HookDefinition } from './hook-definition.ts';
import { matchHook, type HookMatch } from './match-hooks.ts';

/** A hook that is to run, and how its matcher covers the occasion. */
export interface DueHook {
  readonly hook: HookDefinition;
  readonly match: HookMatch;
}

/** The part of an occasion that decides which hooks run. */
type Moment = Pick<HookOccasion, 'event' | 'matched'>;

/**
 * Finds the hooks that run on an occasion, in their order. Of hooks that do the same, only one runs: one of the user's own
 * settings, because its permission counts, and otherwise one whose matcher covers the occasion exactly.
 */
export function findDueHooks(hooks: readonly HookDefinition[], moment: Moment): readonly DueHook[] {
  const due = hooks.flatMap((hook): readonly DueHook[] => {
    const match = matchMoment(hook, moment);
    return match === 'no' ? [] : [{ hook, match }];
  });
  return withoutRepeatedHooks(due);
}

/** Tells whether a hook is meant for an occasion. */
export function coversOccasion(hook: HookDefinition, moment: Moment): boolean {
  return matchMoment(hook, moment) !== 'no';
}

function matchMoment(hook: HookDefinition, { event, matched }: Moment): HookMatch {
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
    const { action, source, isAsync, blocksOnFailure } = each.hook;
    // The same command is another program in each plugin.
    const key = JSON.stringify([action, source.pluginRoot, isAsync, blocksOnFailure]);
    const other = best.get(key);
    if (other === undefined || rank(each) > rank(other)) best.set(key, each);
  }
  const kept = new Set(best.values());
  return due.filter((each) => kept.has(each));
}

function rank({ hook, match }: DueHook): number {
  return (hook.source.kind === 'user' ? 2 : 0) + (match === 'yes' ? 1 : 0);
}
