import { spawn } from 'node:child_process';
import { now } from './program.ts';

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The text whose appearance completes the first picture. */
  readonly until: string;
  /** The keys that end the program. */
  readonly keys: readonly string[];
}

const TIME_LIMIT_MS = 20_000;
const BETWEEN_KEYS_MS = 50;

/**
 * Runs `node ARGS` to its end in a terminal of 80 × 24, which `script` (of util-linux) provides. Resolves to the
 * milliseconds from the start until `until` was drawn.
 */
export async function measureFirstPaint(
  args: readonly string[],
  { cwd, env, until, keys }: TerminalOptions,
): Promise<number> {
  const quoted = [process.execPath, ...args].map((argument) => `'${argument}'`).join(' ');
  const command = `stty rows 24 cols 80; exec ${quoted}`;
  const startedAt = now();
  const child = spawn('script', ['-qfec', command, '/dev/null'], { cwd, env, stdio: 'pipe' });
  const timeLimit = setTimeout(() => child.kill('SIGKILL'), TIME_LIMIT_MS);
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
  // The program may have ended before a key reaches it.
  child.stdin.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  clearTimeout(timeLimit);
  if (paintedAt === null) throw new Error(`${until} was never drawn: ${drawn.slice(0, 500)}`);
  return paintedAt - startedAt;
}
