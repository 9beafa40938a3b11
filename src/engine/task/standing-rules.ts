import type { PermissionRule, Rights } from '../../protocol/permission.ts';
import type { GrantScope } from '../../protocol/question.ts';

/** What the user has allowed once and for all, in one project or everywhere. */
export interface StandingRules {
  /**
   * In force for tasks that work in this directory (absolute, real), wherever this process was started;
   * null: in none. Each is a value: never changed, only replaced.
   */
  rules(directory: string | null): readonly PermissionRule[];
  /** Keeps one, in force from now on. Throws MusterError when it can't be kept; then it is not in force. */
  add(rule: PermissionRule, kept: KeptFor): void;
}

export interface KeptFor {
  readonly scope: Exclude<GrantScope, 'task'>;
  /** Where the task works that asked. */
  readonly directory: string | null;
}

/** Its first root, and not what it says of itself: a task from a file may say anything. */
export function workingDirectory({ roots }: Pick<Rights, 'roots'>): string | null {
  return roots[0] ?? null;
}
