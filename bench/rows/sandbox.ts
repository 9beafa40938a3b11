import { join } from 'node:path';

import { spawnProcessGroup } from '../../src/sys/processes/process-group.ts';
import { openSandbox } from '../../src/sys/sandbox/open-sandbox.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Row } from '../harness/row.ts';

const ROUNDS = 60;
const MAX_PROCESSES = 2048;
const ARGV = ['/bin/bash', '--noprofile', '--norc', '-c', 'true'] as const;

/** The time that the sandbox adds to a command that does nothing, including preparation and cleanup. */
export const sandbox: Row = {
  name: 'sandbox',
  async measure() {
    using fixture = new Fixture();
    const home = fixture.newHome();
    const env = fixture.environment(home);
    const sandboxHandle = openSandbox({
      kind: 'auto',
      platform: process.platform,
      path: env['PATH'] ?? '',
      roots: [fixture.workspace],
      records: join(home, 'records'),
      maxProcesses: MAX_PROCESSES,
      hostPaths: {
        homes: [home],
        stateDirectories: [],
        runtimeDirectories: [],
        sockets: [],
      },
    });
    const startedAt = performance.now();
    const state = await sandboxHandle.state();
    const probeMs = performance.now() - startedAt;
    if (!state.on) throw new Error(`there is no sandbox: ${state.because}`);
    const cwd = fixture.workspace;
    const confinement = { access: 'workspace', roots: [cwd], network: false } as const;
    const [file, ...args] = ARGV;
    const { bare, sandboxed } = await interleave(ROUNDS, {
      bare: () => timed(() => run(file, args, { cwd, env })),
      sandboxed: () =>
        timed(async () => {
          const command = sandboxHandle.confine({
            argv: ARGV,
            cwd,
            env,
            confinement,
            stderr: 'monitor',
          });
          const { startCheck } = command;
          await run(command.file, command.args, {
            cwd,
            env: command.env,
            startCheck,
            maxProcesses: MAX_PROCESSES,
          });
          await command.settle();
          command.release();
        }),
    });
    return [
      {
        title: 'a command in the sandbox',
        unit: 'ms',
        samples: sandboxed,
        reference: { title: 'the same command without it', samples: bare },
        bound: { kind: 'difference', max: 30, goal: 20 },
        notes: [
          `the check whether it works, once per process: ${probeMs.toFixed(0)} ms (${state.kind})`,
        ],
      },
    ];
  },
};

async function run(
  file: string,
  args: readonly string[],
  options: Parameters<typeof spawnProcessGroup>[2],
): Promise<void> {
  const group = spawnProcessGroup(file, args, options);
  group.stdout.resume();
  group.stderr.resume();
  const { code } = await group.exited;
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
