/**
 * Removes a workspace, and kills itself with SIGKILL before its call number KILL_AT of a function that changes the disk or
 * starts a program. Prints the number of such calls.
 *
 *     node killed-removal.ts DATA_DIR ID discard|landed|prune KILL_AT
 */
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [dataDir = '', id = '', action = '', killAt = '0'] = process.argv.slice(2);

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
const record = readWorkspaceRecord(workspaceDirectory(dataDir, id));
if (isDamagedWorkspace(record)) throw new Error(record.problem);
calls = 0;
if (action === 'discard') await discardWorkspace(record, access);
else if (action === 'landed') await removeWorkspace(record, { ...access, discard: 'landed' });
else await pruneWorkspaces({ dataDir, ...access, isActive: () => false, onNotice: () => {} }, 0);
process.stdout.write(`${calls}\n`);
