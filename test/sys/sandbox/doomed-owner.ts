import { flushCompileCache } from 'node:module';
import { openSandbox } from '../../../src/sys/sandbox/open-sandbox.ts';
import { spawnProcessGroup } from '../../../src/sys/processes/process-group.ts';

/**
 * Starts a command in a sandbox each time it is told to on its stdin, until it is killed. Prints `ready`
 * when the sandbox was tried out.
 */
const [root = '/', mark = '', command = 'true', kind = ''] = process.argv.slice(2);
const sandbox = openSandbox({
  kind: 'bwrap',
  platform: process.platform,
  path: '/usr/bin:/bin',
  roots: [root],
  records: null,
  hostPaths: { homes: [root], stateDirectories: [], runtimeDirectories: [], sockets: [] },
});
const state = await sandbox.state();
if (!state.on) throw new Error(state.because);
if (kind === 'loopback') {
  process.stdin.once('data', () => void sandbox.useLoopback(mark));
} else {
  process.stdin.once('data', () => {
    const { file, args, env, startCheck } = sandbox.confine({
      argv: ['/bin/bash', '--noprofile', '--norc', '-c', command],
      cwd: root,
      env: { PATH: '/usr/bin:/bin', MUSTER_TASK: mark },
      confinement: { access: 'workspace', roots: [root], network: false },
      stderr: 'monitor',
    });
    spawnProcessGroup(file, args, { cwd: root, env, monitored: true, startCheck });
  });
}
// It will be killed before it would write the code that it has compiled.
flushCompileCache();
process.stdout.write('ready\n');
