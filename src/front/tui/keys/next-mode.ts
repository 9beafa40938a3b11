import { PERMISSION_MODES, type PermissionMode } from '../../../protocol/permission.ts';

/**
 * The mode after this one, and from the widest to the narrowest. `most`: what the conversation has, which it
 * gets no wider than; null: there is none yet. `isBounded`: there are modes that it can't have.
 */
export function nextMode(
  now: PermissionMode,
  most: PermissionMode | null,
): { readonly mode: PermissionMode; readonly isBounded: boolean } {
  const last = PERMISSION_MODES.length - 1;
  const end = most === null ? last : PERMISSION_MODES.indexOf(most);
  const at = PERMISSION_MODES.indexOf(now);
  const mode = PERMISSION_MODES[at >= end ? 0 : at + 1] ?? 'plan';
  return { mode, isBounded: end < last };
}
