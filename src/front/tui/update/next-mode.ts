import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';

/** All modes but this one, in the order in which the key goes through them; after the widest the narrowest. */
export function modesAfter(now: PermissionMode): readonly PermissionMode[] {
  const at = PERMISSION_MODES.indexOf(now);
  return [...PERMISSION_MODES.slice(at + 1), ...PERMISSION_MODES.slice(0, at)];
}
