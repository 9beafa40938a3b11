import { createRootRights, type RootGrant } from '../../policy/attenuate.ts';
import type { PermissionMode, Rights, PermissionRule } from '../../protocol/permission.ts';
import { isAbsolute } from 'node:path';

export interface CurrentRights {
  readonly grant: RootGrant;
  /** The mode that a flag of this start requests, or null. */
  readonly modeFlag: PermissionMode | null;
  /** True if the log of the task was imported from a file. */
  readonly isImported: boolean;
}

/**
 * Computes the rights of a resumed task: its recorded rights without the allow rules that files no longer contain, and
 * with the current ask and deny rules, network access, `max_depth` and requested mode. The rights in an imported log
 * are not trusted, so an imported task gets the rights of a new task.
 */
export function computeResumedRights(
  recorded: Rights,
  { grant, modeFlag, isImported }: CurrentRights,
): Rights {
  if (isImported) return createRootRights(grant, null);
  const { ask, deny } = grant.rules;
  const allow = selectRetainedRules(recorded.rules.allow, grant.rules.allow);
  return {
    ...recorded,
    mode: modeFlag ?? recorded.mode,
    rules: { allow, ask, deny },
    network: grant.network,
    maxDepth: grant.maxDepth,
  };
}

/**
 * Selects the recorded allow rules that are still valid. A rule that was granted for the conversation stays valid. A
 * rule from a file or a variable is valid only while the file or variable still contains it, because the trust in a
 * file can be revoked and `--trust-project` applies to one run. Rules are compared by their text, because the paths in
 * them may have been expanded since.
 */
export function selectRetainedRules(
  recorded: readonly PermissionRule[],
  now: readonly PermissionRule[],
): readonly PermissionRule[] {
  return recorded.filter(
    (rule) =>
      !isFromFileOrVariable(rule) ||
      now.some(({ text, tool }) => text === rule.text && tool === rule.tool),
  );
}

function isFromFileOrVariable({ source }: PermissionRule): boolean {
  switch (source.kind) {
    case 'config':
    case 'env':
      return true;
    case 'answer':
      // The source of a saved answer is the path of its file. Other answers were given for this task only.
      return isAbsolute(source.where);
    case 'flag':
    case 'definition':
    case 'builtin':
      return false;
  }
}
