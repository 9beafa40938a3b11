import { spawn } from 'node:child_process';
import { now } from './program.ts';

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Once it has been drawn, the first picture is whole. */
  readonly until: string;
  /** What ends the program. */
  readonly keys: readonly string[];
}

const PATIENCE_MS = 20_000;
const BETWEEN_KEYS_MS = 50;

/**
 * Runs `node ARGS` in a terminal of 80 × 24, which `script` (of util-linux) makes. Resolves, at its end, to the
 * milliseconds from its start until `until` was drawn.
 */
export async function firstPaint(
  args: readonly string[],
  { cwd, env, until, keys }: TerminalOptions,
): Promise<number> {
  const words = [process.execPath, ...args].map((word) => `'${word}'`).join(' ');
  const command = `stty rows 24 cols 80; exec ${words}`;
  const startedAt = now();
  const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd, env, stdio: 'pipe' });
  const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  let drawn = '';
  let paintedAt: number | null = null;
  child.stdout.on('data', (chunk: Buffer) => {
    if (paintedAt !== null) return;
    drawn += chunk.toString('utf8');
    if (!drawn.includes(until)) return;
    paintedAt = now();
    for (const [index, key] of keys.entries()) {
      setTimeout(() => child.stdin.write(key), (index + 1) * BETWEEN_KEYS_MS);
    }
  });
  // It may have ended before a key of ours reaches it.
  child.stdin.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  clearTimeout(patience);
  if (paintedAt === null)
    throw new Error(`nothing with ${until} was drawn: ${drawn.slice(0, 500)}`);
  return paintedAt - startedAt;
}
