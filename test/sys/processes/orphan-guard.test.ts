import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { newId } from '../../../src/base/ids.ts';
import { endMarked, findMarked, waitForMarked } from '../../e2e/processes.ts';

const src = new URL('../../../src/sys/processes', import.meta.url).pathname;

/** A program that starts a guarded group, in which one process has left the group, and another one that has ended. */
const OWNER = `
import { spawnProcessGroup } from '${src}/process-group.ts';
import { guardAgainstOrphans } from '${src}/orphan-guard.ts';
const env = { PATH: process.env.PATH, [process.argv[1]]: process.argv[2] };
const start = (command) => spawnProcessGroup('/bin/sh', ['-c', command], { cwd: '/', env });
const ended = start('exit 0');
const stop = guardAgainstOrphans(ended);
await ended.exited;
await ended.end();
stop();
const group = start("trap '' TERM; setsid sleep 1000 & sleep 1000 & echo ready; wait; wait; sleep 1000");
guardAgainstOrphans(group);
group.stdout.on('data', (chunk) => process.stdout.write(String(chunk)));
group.stdout.on('end', () => {});
process.stdin.resume();
process.stdin.on('end', () => process.exit());
`;

test.runIf(process.platform === 'linux').each(['SIGKILL', 'exit'])(
  'a guarded group ends with the process that started it: %s',
  async (how) => {
    const [name, value] = ['GUARD_TEST', newId()];
    const mark = `${name}=${value}`;
    onTestFinished(() => endMarked(mark));
    const args = ['--input-type=module', '-e', OWNER, name, value];
    const owner = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void owner.kill('SIGKILL'));
    await once(owner.stdout, 'data');
    expect(findMarked(mark).length).toBe(3);
    if (how === 'exit') owner.stdin.end();
    else owner.kill('SIGKILL');
    await waitForMarked(mark, (pids) => pids.length === 0);
  },
);
