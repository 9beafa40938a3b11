import { rootRights, type RootGrant } from '../../policy/attenuate.ts';
import type { PermissionMode, Rights } from '../../protocol/permission.ts';
import { retainedAllowRules } from './granted-still.ts';

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
