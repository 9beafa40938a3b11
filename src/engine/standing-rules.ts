import type { PermissionRule } from '../protocol/permission.ts';
import type { GrantScope } from '../protocol/question.ts';

/** What the user has allowed once and for all, in this project or everywhere. */
export interface StandingRules {
  /** In force for every task of this process. Each is a value: never changed, only replaced. */
  readonly rules: readonly PermissionRule[];
  /** Keeps one, in force from now on. Throws MusterError when it can't be kept; then it is not in force. */
  add(rule: PermissionRule, scope: Exclude<GrantScope, 'task'>): void;
}
