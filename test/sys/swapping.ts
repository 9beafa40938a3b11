import { spawn } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** What the other process does without a pause: the names change places, back and forth. */
const SWAP = `
  const { existsSync, lstatSync, renameSync, rmSync } = require('node:fs');
  const [directory, link, spare] = process.argv.slice(1);
  // Somebody may make the directory anew while it is away, as often as it takes.
  const restore = () => {
    while (existsSync(spare)) {
      try {
        if (lstatSync(directory, { throwIfNoEntry: false })?.isSymbolicLink()) renameSync(directory, link);
        rmSync(directory, { recursive: true, force: true });
        renameSync(spare, directory);
      } catch {}
    }
  };
  process.stdout.write('on');
  for (;;) {
    try {
      renameSync(directory, spare);
      renameSync(link, directory);
      renameSync(directory, link);
      renameSync(spare, directory);
    } catch {
      restore();
    }
  }`;

/** Another process swaps a directory for a link, in a tight loop, until the test is over. */
export async function keepSwapping(directory: string, link: string): Promise<void> {
  const args = ['-e', SWAP, directory, link, `${directory}.spare`];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  onTestFinished(async () => {
    const isAlive = child.kill('SIGKILL');
    await closed;
    if (!isAlive) throw new Error('the process that swaps had ended: nothing was tested');
  });
  await new Promise<void>((resolve) => void child.stdout.once('data', () => resolve()));
}
