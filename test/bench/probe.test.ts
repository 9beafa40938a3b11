import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PROBE_ARGS, readExitReport } from '../../bench/harness/probe.ts';
import { programPath, startProgram } from '../../bench/harness/program.ts';

async function peakOfNothing(): Promise<number> {
  const program = startProgram([programPath('nothing.mjs')], {
    cwd: import.meta.dirname,
    env: {},
    nodeArgs: PROBE_ARGS,
  });
  await program.finished;
  return readExitReport(program).peakMb;
}

test.runIf(existsSync('/proc/self/status'))(
  'the peak memory of a program does not depend on that of the process that starts it',
  async () => {
    const ballast = Buffer.alloc(400 * 1024 * 1024, 1);
    expect(await peakOfNothing()).toBeLessThan(ballast.length / 1024 / 1024 / 2);
  },
);
