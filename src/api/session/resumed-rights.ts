import { rootRights, type RootGrant } from '../../policy/attenuate.ts';
import type { PermissionMode, Rights, PermissionRule } from '../../protocol/permission.ts';
import { isAbsolute } from 'node:path';

export interface CurrentRights {
  readonly grant: RootGrant;
  /** The mode that a flag of this start asks for. */
  readonly modeFlag: PermissionMode | null;
  /** Its log came from a file. */
  readonly isImported: boolean;
}

/**
 * What a task that goes on may do: what was granted stays, cut by what files do not say any more, by what is
 * denied now, by max_depth as it is now and by a mode that is asked for now. What a file from elsewhere says
 * was granted was not: of that only what would be granted now stays.
 */
export function resumedRights(
  recorded: Rights,
  { grant, modeFlag, isImported }: CurrentRights,
): Rights {
  if (isImported) return rootRights(grant, null);
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
 * The allow rules that a conversation goes on with: what was granted for it stays; what stood in a file
 * or a variable only while it is still said there, since a file can be revoked, and `--trust-project`
 * holds for one run. Rules are told by their text: the paths in them may have been written out since.
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
