import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { newId } from '../../base/ids.ts';
import { spawnProcessGroup } from '../processes/process-group.ts';
import { parseMonitorReport } from './monitor-script.ts';
import { makeUserOnlyDirectory, makeUserOnlyTempDirectory } from './private-directories.ts';
import type { CommandToConfine, ConfinedCommand } from './sandbox.ts';

const TIMEOUT_MS = 10_000;

/**
 * A script that tries things that the sandbox must prevent, and prints one line for each that succeeds. Process numbers
 * up to 9 may exist in the sandbox too, so the signal test is skipped if this process has such a number.
 */
const SCRIPT = `
umask 077
inside=$1 outside=$2 home=$3 port=$4 host=$5
echo canary > "$inside/canary" || echo 'the workspace cannot be written to'
for path in "$outside/canary" "$home"; do { echo canary > "$path"; } 2>/dev/null; done
if [ -r /proc/self/status ]; then
  while read -r name value; do
    case $name in CapEff:|CapPrm:|CapBnd:) [ $((16#$value)) -eq 0 ] || echo 'it has capabilities' ;; esac
  done < /proc/self/status
  [ -w /proc/sys/kernel/core_pattern ] && echo 'the kernel can be set up'
  set -- /proc/[0-9]*
  [ $# -le 4 ] || echo 'the processes of this machine can be seen'
fi
[ "$host" -gt 9 ] && kill -0 "$host" 2>/dev/null && echo 'the processes of this machine can be signalled'
{ exec 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null && echo 'the network of this machine can be reached'
echo done
`;

/**
 * The result of a self-test. `said` describes the protections that failed, or is the error output if the sandbox did
 * not start.
 */
export type SelfTestResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly started: boolean; readonly said: string };

/**
 * Tests a sandbox by running one command in it. The command must be able to write to its workspace. It must not be able
 * to write elsewhere, see or signal processes of this machine, configure the kernel, or reach a server on the loopback
 * of this machine, and must have no capabilities.
 */
export async function testSandbox(
  confine: (command: CommandToConfine) => ConfinedCommand,
  home: string,
): Promise<SelfTestResult> {
  const workDirectory = makeUserOnlyTempDirectory('muster-sandbox-');
  const canary = join(home, `.muster-sandbox-test-${newId()}`);
  let server: Server | undefined;
  try {
    const inside = join(workDirectory, 'inside');
    const outside = join(workDirectory, 'outside');
    makeUserOnlyDirectory(inside);
    makeUserOnlyDirectory(outside);
    server = await listen();
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const words = [inside, outside, canary, String(port), String(process.pid)];
    const result = await run(
      confine({
        argv: ['/bin/bash', '--noprofile', '--norc', '-c', SCRIPT, 'self-test', ...words],
        cwd: inside,
        env: { PATH: '/usr/bin:/bin' },
        confinement: { access: 'workspace', roots: [inside], network: false },
        stderr: 'monitor',
      }),
      inside,
    );
    if (!result.ok) return result;
    return checkFiles({ inside, outside, canary });
  } finally {
    server?.close();
    rmSync(canary, { force: true });
    rmSync(workDirectory, { recursive: true, force: true });
  }
}

async function run(command: ConfinedCommand, cwd: string): Promise<SelfTestResult> {
  try {
    const { file, args, env, startCheck } = command;
    const group = spawnProcessGroup(file, args, { cwd, env, startCheck });
    let stdout = '';
    let stderr = '';
    group.stdout.on('data', (chunk: Buffer) => void (stdout += chunk.toString('utf8')));
    group.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString('utf8')));
    const timer = setTimeout(() => void group.end({ graceMs: 0 }), TIMEOUT_MS);
    try {
      const closed = new Promise((resolve) => group.stdout.once('close', resolve));
      const exit = await group.exited;
      await closed;
      if (stdout === 'done\n' && exit.code === 0) return { ok: true };
      const started = command.monitored ? parseMonitorReport(stderr).hasStarted : stdout !== '';
      const said = (started ? stdout.replace(/^done$/m, '') : stderr).trim();
      return { ok: false, started, said: said || `it ended with ${exit.code ?? exit.signal}` };
    } finally {
      clearTimeout(timer);
    }
  } finally {
    command.release();
  }
}

/**
 * Checks the files on disk. The command cannot judge this itself: a path may lead to another directory in the sandbox.
 */
function checkFiles(paths: Record<'inside' | 'outside' | 'canary', string>): SelfTestResult {
  const wrote = readFileSync(join(paths.inside, 'canary'), 'utf8') === 'canary\n';
  const escaped = existsSync(join(paths.outside, 'canary')) || existsSync(paths.canary);
  if (wrote && !escaped) return { ok: true };
  const said = escaped ? 'files outside can be written to' : 'the workspace cannot be written to';
  return { ok: false, started: true, said };
}

function listen(): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server.unref()));
  });
}
