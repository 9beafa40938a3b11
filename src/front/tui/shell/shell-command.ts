import { isAbsolute } from 'node:path';
import { errorMessage } from '../../../base/errors.ts';
import { formatDuration } from '../../../base/text.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { spawnGroup } from '../../../sys/processes.ts';
import { OutputKeeper } from './output-keeper.ts';

/** From asking it to end to killing it. */
const GRACE_MS = 2_000;

/** A command of the person's own that runs. */
export interface ShellCommand {
  readonly output: OutputKeeper;
  /** How it ended: "exit code 0". Never rejects. */
  readonly ended: Promise<string>;
  /** It and all that it started; killed after `graceMs`, and with 0 before this returns. */
  end(graceMs?: number): Promise<void>;
}

/** In the person's own shell, with their whole environment: it is they who run it. */
export function startShellCommand(
  command: string,
  { cwd, onOutput }: { readonly cwd: string; readonly onOutput: () => void },
): ShellCommand {
  const environment = readEnvironment();
  const shell = environment['SHELL'] ?? '';
  const output = new OutputKeeper();
  const began = performance.now();
  const group = spawnGroup(isAbsolute(shell) ? shell : '/bin/sh', ['-c', command], {
    cwd,
    env: environment,
  });
  for (const stream of [group.stdout, group.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output.add(bytes);
      onOutput();
    });
  }
  let isStopped = false;
  const exited = async () => {
    try {
      const { code, signal } = await group.exited;
      // What it left in the background would hold its pipes open, and goes with it.
      await group.end({ graceMs: GRACE_MS });
      output.end();
      const how = code === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${code}`;
      const by = isStopped ? 'stopped by the user, ' : '';
      return `${by}${how}, ${formatDuration(Math.round(performance.now() - began))}`;
    } catch (thrown) {
      return `not started: ${errorMessage(thrown)}`;
    }
  };
  return {
    output,
    ended: exited(),
    async end(graceMs = GRACE_MS) {
      isStopped = true;
      await group.end({ graceMs });
    },
  };
}
