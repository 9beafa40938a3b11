import { createRootRights, type RootGrant } from '../../policy/attenuate.ts';
import type { PermissionMode, Rights, PermissionRule } from '../../protocol/permission.ts';
import { isAbsolute } from 'node:path';

export interface CurrentRights {
  readonly grant: RootGrant;
  /** The mode that a flag of this start requests, or null. */
  readonly modeFlag: PermissionMode | null;
  /** True if its log was imported from a file. */
  readonly isImported: boolean;
}

/**
 * Returns the rights of a resumed task: its recorded rights without rules that files no longer grant, with today's
 * deny rules, `max_depth` and requested mode. An imported log proves no grant, so its task gets only what a new one
 * would get.
 */
export function resumedRights(
  recorded: Rights,
  { grant, modeFlag, isImported }: CurrentRights,
): Rights {
  if (isImported) return createRootRights(grant, null);
  const { ask, deny } = grant.rules;
  const allow = retainedAllowRules(recorded.rules.allow, grant.rules.allow);
  return {
    ...recorded,
    mode: modeFlag ?? recorded.mode,
    rules: { allow, ask, deny },
    network: grant.network,
    maxDepth: grant.maxDepth,
  };
}

/**
 * Returns the recorded allow rules that remain valid. A rule granted for the conversation remains. A rule from a file
 * or a variable remains only while it is still there, because a file can be revoked and `--trust-project` applies to
 * one run. Rules are compared by their text, because the paths in them may have been expanded since.
 */
export function retainedAllowRules(
  recorded: readonly PermissionRule[],
  now: readonly PermissionRule[],
): readonly PermissionRule[] {
  return recorded.filter(
    (rule) =>
      !isSaidOutside(rule) ||
      now.some(({ text, tool }) => text === rule.text && tool === rule.tool),
  );
}

function isSaidOutside({ source }: PermissionRule): boolean {
  switch (source.kind) {
    case 'config':
    case 'env':
      return true;
    case 'answer':
      // Saved answers name their file; one for a task alone was given to that task.
      return isAbsolute(source.where);
    case 'flag':
    case 'definition':
    case 'builtin':
      return false;
  }
}
