import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { stdioWithoutInherited } from './inherited-descriptors.ts';

/** Pipes that one helper makes. Each that waits for its use is one descriptor of this process. */
const BATCH = 8;
/** With fewer than these the next ones are made meanwhile, so that no command has to wait for them. */
const LOW = 2;
/** The descriptors of the pipes in the helper. */
const DESCRIPTORS = Array.from({ length: BATCH }, (_, index) => index + 3);
/**
 * Bash makes a pipe for each process substitution. The helper holds their read ends until they have been
 * opened here, and ends when its stdin does, which is also the case when this process is killed.
 */
const HELPER = [
  ...DESCRIPTORS.map((descriptor) => `exec ${descriptor}< <(:)`),
  'echo ready; read -r _',
].join('\n');

/**
 * A pipe of the kernel that nothing has been written to. Node's own "pipes" are socket pairs, and a socket
 * cannot be opened by a name, so `echo x > /dev/stderr` fails in a command whose output goes to one.
 */
export class Pipe {
  /** A descriptor of this process, which no child inherits. Whoever takes it closes it. */
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

/** Returns a pipe that was never used, or null where none can be had: not on Linux, or without /proc or bash. */
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
    // It could not be started, or has ended: then nothing of it is to be opened.
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
    // Out of descriptors, or no /proc: whoever needs a pipe does without, and the next one tries again.
  } finally {
    helper?.stdin?.destroy();
    helper?.stdout?.destroy();
  }
}

/** Nobody writes to it yet, and reading must never wait for somebody. */
function openReadEnd(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
}
