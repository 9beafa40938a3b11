import { dirname } from 'node:path';
import { isInside } from '../base/path-inside.ts';
import { isDamagedWorkspace, listWorkspaces, type WorkspaceRecord } from './record.ts';

/** Lists the ids of the tasks whose workspaces began in a workspace and are still there: their work lands in it. */
export function listInnerWorkspaces({ tree }: WorkspaceRecord): readonly string[] {
  const dataDir = dirname(dirname(dirname(tree)));
  return listWorkspaces(dataDir).flatMap((each) =>
    !isDamagedWorkspace(each) && each.status !== 'removed' && isInside(tree, each.source)
      ? [each.id]
      : [],
  );
}
