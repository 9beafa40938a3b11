import { join } from 'node:path';

import { spawnGroup } from '../../src/sys/processes.ts';
import { openSandbox } from '../../src/sys/sandbox/open-sandbox.ts';
import { interleave } from '../harness/interleave.ts';
import { Place } from '../harness/place.ts';
import type { Row } from '../harness/row.ts';

const ROUNDS = 60;
const ARGV = ['/bin/bash', '--noprofile', '--norc', '-c', 'true'] as const;

/** What the sandbox adds to a command that does nothing, its plan and what is done afterwards included. */
export const sandbox: Row = {
  name: 'sandbox',
  async measure() {
    using place = new Place();
    const home = place.newHome();
    const env = place.environment(home);
    const held = openSandbox({
      kind: 'auto',
      platform: process.platform,
      path: env['PATH'] ?? '',
      roots: [place.workspace],
      records: join(home, 'records'),
      surroundings: {
        homes: [home],
        stateDirectories: [],
        runtimeDirectories: [],
        sockets: [],
      },
    });
    const startedAt = performance.now();
    const state = await held.state();
    const tried = performance.now() - startedAt;
    if (!state.on) throw new Error(`there is no sandbox: ${state.because}`);
    const cwd = place.workspace;
    const confinement = { access: 'workspace', roots: [cwd], network: false } as const;
    const [file, ...args] = ARGV;
    const { bare, sandboxed } = await interleave(ROUNDS, {
      bare: () => timed(() => run(file, args, { cwd, env })),
      sandboxed: () =>
        timed(async () => {
          const command = held.confine({ argv: ARGV, cwd, env, confinement, stderr: 'monitor' });
          const { startCheck } = command;
          await run(command.file, command.args, { cwd, env: command.env, startCheck });
          await command.settle();
          command.release();
        }),
    });
    return [
      {
        what: 'a command in the sandbox',
        unit: 'ms',
        samples: sandboxed,
        floor: { what: 'the same command, bare', samples: bare },
        bound: { kind: 'above', most: 30, goal: 20 },
        notes: [`trying it out, once a process: ${tried.toFixed(0)} ms (${state.kind})`],
      },
    ];
  },
};

async function run(
  file: string,
  args: readonly string[],
  options: Parameters<typeof spawnGroup>[2],
): Promise<void> {
  const group = spawnGroup(file, args, options);
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
