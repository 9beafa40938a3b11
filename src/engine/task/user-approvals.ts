import type { PermissionRule, Rights, ModeGrant } from '../../protocol/permission.ts';
import type { GrantScope } from '../../protocol/question.ts';
import { isDeepStrictEqual } from 'node:util';
import type { EventBody } from '../../protocol/events/event.ts';

/** The rules that the user has allowed permanently, in one project or everywhere. */
export interface StandingRules {
  /**
   * Returns the rules for tasks that work in this directory (absolute, real), or without a directory (null).
   * Returned arrays never change.
   */
  rules(directory: string | null): readonly PermissionRule[];
  /** Stores a rule, which applies from now on. Throws MusterError when it can't be stored; then it does not apply. */
  add(rule: PermissionRule, target: StandingRuleScope): void;
}

/** The scope of a permanent rule. */

export interface StandingRuleScope {
  readonly scope: Exclude<GrantScope, 'task'>;
  /** The working directory of the task that asked. */
  readonly directory: string | null;
}

/** Returns a task's first root. Its recorded directory is not trusted, since an imported log may name any. */
export function workingDirectory({ roots }: Pick<Rights, 'roots'>): string | null {
  return roots[0] ?? null;
}

/** The modes that the user grants to agents outside of the logs of tasks. */
export interface ModeGrantStore {
  /** Returns the grants in files, variables and flags, and those that the user gave for every conversation. */
  inForce(): readonly ModeGrant[];
  /**
   * Stores a grant for every conversation, which applies from now on, and returns it as stored. Throws MusterError
   * when it can't be stored; then it does not apply.
   */
  add(grant: ModeGrant): ModeGrant;
}

/** Returns the events that record grants by flags in a conversation, so that they also apply when it is resumed. */
export function flagGrantEvents(
  store: ModeGrantStore | null,
  recorded: readonly { readonly grant: ModeGrant }[] = [],
): readonly EventBody[] {
  const flags = store?.inForce().filter(({ source }) => source.kind === 'flag') ?? [];
  const fresh = flags.filter(
    (flag) => !recorded.some(({ grant }) => isDeepStrictEqual(grant, flag)),
  );
  return fresh.map((grant) => ({ type: 'mode.granted', grant, scope: 'task', by: 'user' }));
}
