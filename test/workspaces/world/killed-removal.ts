/**
 * Creates or removes a workspace, and kills itself with SIGKILL before its call number KILL_AT of a function that changes the disk or
 * starts a program. Prints the number of such calls.
 *
 *     node killed-removal.ts DATA_DIR ID create|discard|landed|prune KILL_AT SOURCE
 */
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [dataDir = '', id = '', action = '', killAt = '0', source = ''] = process.argv.slice(2);

let calls = 0;

function countCalls(owner: object, names: readonly string[]): void {
  for (const name of names) {
    const original: unknown = Reflect.get(owner, name);
    if (typeof original !== 'function') throw new Error(`${name} is no function`);
    const counted = function counted(this: unknown, ...args: unknown[]): unknown {
      calls += 1;
      if (calls === Number(killAt)) process.kill(process.pid, 'SIGKILL');
      return Reflect.apply(original, this, args);
    };
    // `promisify` looks for functions of its own.
    Object.defineProperties(counted, Object.getOwnPropertyDescriptors(original));
    Reflect.set(owner, name, counted);
  }
}

countCalls(fs, ['mkdirSync', 'renameSync', 'rmSync', 'unlinkSync', 'writeFileSync', 'fsyncSync']);
countCalls(fs.promises, ['mkdir', 'rename', 'rm', 'rmdir', 'unlink', 'writeFile']);
countCalls(childProcess, ['spawn']);
syncBuiltinESMExports();
const { isDamagedWorkspace, readWorkspaceRecord, workspaceDirectory } =
  await import('../../../src/workspaces/record.ts');
const { discardWorkspace, removeWorkspace } = await import('../../../src/workspaces/remove.ts');
const { pruneWorkspaces } = await import('../../../src/api/workspaces/prune-workspaces.ts');

const access = {
  environment: { PATH: process.env['PATH'], HOME: '/nonexistent' },
  signal: new AbortController().signal,
};
const { createWorkspace } = await import('../../../src/workspaces/create.ts');
const { planWorkspace } = await import('../../../src/workspaces/plan.ts');

async function create(): Promise<void> {
  const plan = planWorkspace({ cwd: source, id, description: 'Killed', dataDir });
  const options = {
    environment: access.environment,
    start: 'uncommitted',
    limits: { files: 100, bytes: 100_000 },
    packages: { names: [], mode: 'none' },
  } as const;
  await createWorkspace(plan, options, access.signal);
}

function readRecord() {
  const read = readWorkspaceRecord(workspaceDirectory(dataDir, id));
  if (isDamagedWorkspace(read)) throw new Error(read.problem);
  return read;
}

calls = 0;
if (action === 'create') await create();
else if (action === 'discard') await discardWorkspace(readRecord(), access);
else if (action === 'landed') await removeWorkspace(readRecord(), { ...access, discard: 'landed' });
else await pruneWorkspaces({ dataDir, ...access, isActive: () => false, onNotice: () => {} }, 0);
process.stdout.write(`${calls}\n`);
