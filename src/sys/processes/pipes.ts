import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { stdioWithoutInherited } from './inherited-descriptors.ts';

/** The number of pipes that one helper makes. Each unused pipe takes one descriptor of this process. */
const BATCH = 8;
/** If fewer pipes than this are left, more are made in advance, so that no command has to wait for one. */
const LOW = 2;
/** The descriptors of the pipes in the helper. */
const DESCRIPTORS = Array.from({ length: BATCH }, (_, index) => index + 3);
/**
 * Bash creates a pipe for each process substitution. The helper holds their read ends until this process has
 * opened them, and ends when its stdin closes, which also happens if this process is killed.
 */
const HELPER = [
  ...DESCRIPTORS.map((descriptor) => `exec ${descriptor}< <(:)`),
  'echo ready; read -r _',
].join('\n');

/**
 * A kernel pipe that nothing has been written to. Node's own "pipes" are socket pairs. A socket cannot be
 * opened by a name, so `echo x > /dev/stderr` fails in a command whose output goes to one.
 */
export class Pipe {
  /** A descriptor of this process that no child inherits. The caller closes it. */
  readonly readEnd: number;

  constructor(readEnd: number) {
    this.readEnd = readEnd;
  }

  /** Opens a descriptor for a child to write to. No child inherits it unless it is named in `stdio`. */
  openWriteEnd(): number {
    return openSync(`/proc/self/fd/${this.readEnd}`, constants.O_WRONLY);
  }

  close(): void {
    closeSync(this.readEnd);
  }
}

const waiting: Pipe[] = [];
let making: Promise<void> | undefined;

/** Returns an unused pipe; null if none is available: not on Linux, or without /proc or bash. */
export async function takePipe(): Promise<Pipe | null> {
  if (process.platform !== 'linux') return null;
  if (waiting.length === 0) await makePipes();
  const pipe = waiting.shift() ?? null;
  if (pipe !== null && waiting.length < LOW) void makePipes();
  return pipe;
}

function makePipes(): Promise<void> {
  making ??= makeBatch().finally(() => (making = undefined));
  return making;
}

async function makeBatch(): Promise<void> {
  let helper: ChildProcess | undefined;
  try {
    helper = spawn('/bin/bash', ['--noprofile', '--norc', '-c', HELPER], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore', ...stdioWithoutInherited()],
    });
    // If the helper could not be started or has ended, there are no pipes to open.
    helper.on('error', () => {});
    helper.stdin?.on('error', () => {});
    if (helper.pid === undefined || helper.stdout === null) return;
    const isReady = await Promise.race([
      once(helper.stdout, 'data').then(() => true),
      once(helper, 'close').then(() => false),
    ]);
    if (!isReady) return;
    for (const descriptor of DESCRIPTORS) {
      waiting.push(new Pipe(openReadEnd(`/proc/${helper.pid}/fd/${descriptor}`)));
    }
  } catch {
    // No descriptor is free, or there is no /proc. The caller works without a pipe, and the next one tries again.
  } finally {
    helper?.stdin?.destroy();
    helper?.stdout?.destroy();
  }
}

/**
 * Opens the read end without blocking. Nobody has written to the pipe yet, and a read must never block the
 * process.
 */
function openReadEnd(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
}
