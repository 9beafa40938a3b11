import { isAbsolute } from 'node:path';
import type { PermissionRule } from '../../protocol/permission.ts';

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
