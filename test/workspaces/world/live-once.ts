/**
 * Creates a workspace, changes a file in it, ends it and removes it, for a test that kills this process on the way.
 * Arguments: the source, the data directory, the id.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_COPY_LIMITS } from '../../../src/workspaces/copy-tree.ts';
import { createWorkspace } from '../../../src/workspaces/create.ts';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import { planWorkspace } from '../../../src/workspaces/plan.ts';
import { removeWorkspace } from '../../../src/workspaces/remove.ts';

const [, , cwd = '', dataDir = '', id = ''] = process.argv;
const access = {
  environment: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  signal: new AbortController().signal,
};
process.stdout.write('begin\n');
const { record } = await createWorkspace(
  planWorkspace({ cwd, id, description: 'Live once', dataDir }),
  {
    ...access,
    start: 'uncommitted',
    limits: DEFAULT_COPY_LIMITS,
    packages: { names: [], mode: 'none' },
  },
  access.signal,
);
writeFileSync(join(record.tree, 'a'), 'work of the task\n');
process.stdout.write('worked\n');
const end = await endWorkspace(record, access);
await removeWorkspace(end.record, { ...access, discard: 'changes' });
