import type { PermissionRule, Rights, ModeGrant } from '../../protocol/permission.ts';
import type { GrantScope } from '../../protocol/question.ts';
import { isDeepStrictEqual } from 'node:util';
import type { EventBody } from '../../protocol/events/event.ts';

/** What the user has allowed once and for all, in one project or everywhere. */
export interface StandingRules {
  /**
   * In force for tasks that work in this directory (absolute, real), wherever this process was started;
   * null: in none. Each is a value: never changed, only replaced.
   */
  rules(directory: string | null): readonly PermissionRule[];
  /** Keeps one, in force from now on. Throws MusterError when it can't be kept; then it is not in force. */
  add(rule: PermissionRule, kept: StandingRuleScope): void;
}

export interface StandingRuleScope {
  readonly scope: Exclude<GrantScope, 'task'>;
  /** Where the task works that asked. */
  readonly directory: string | null;
}

/** Its first root, and not what it says of itself: a task from a file may say anything. */
export function workingDirectory({ roots }: Pick<Rights, 'roots'>): string | null {
  return roots[0] ?? null;
}

/** The modes that the user grants to agents outside of the logs of tasks. */
export interface ModeGrantStore {
  /** The grants of files, variables and flags, and those answered for every conversation. */
  inForce(): readonly ModeGrant[];
  /**
   * Keeps one for every conversation, in force from now on, and returns it as it is kept. Throws MusterError when
   * it can't be kept; then it is not in force.
   */
  add(grant: ModeGrant): ModeGrant;
}

/** Records in the log of a conversation what flags of this start grant in it: they hold when it is resumed, too. */
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
