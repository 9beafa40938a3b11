import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { stdioWithoutInherited } from './inherited-descriptors.ts';

/** The number of pipes that one helper creates. Each unused pipe takes one descriptor of this process. */
const PIPES_PER_HELPER = 8;
/** If fewer unused pipes than this are left, more are created in advance, so that no command has to wait for a pipe. */
const MIN_UNUSED_PIPES = 2;
/** The descriptors of the pipes in the helper. */
const DESCRIPTORS = Array.from({ length: PIPES_PER_HELPER }, (_, index) => index + 3);
/**
 * The script of the helper. Bash creates a pipe for each process substitution. The helper keeps the read ends open
 * until this process has opened them. The helper ends when its stdin closes, so also if this process is killed.
 */
const HELPER = [
  ...DESCRIPTORS.map((descriptor) => `exec ${descriptor}< <(:)`),
  'echo ready; read -r _',
].join('\n');

/**
 * A kernel pipe. Node's own "pipes" are socket pairs, and a socket cannot be opened by name, so
 * `echo x > /dev/stderr` would fail in a command whose output goes to a socket.
 */
export class Pipe {
  /** A descriptor of this process that no child inherits. The caller closes it. */
  readonly readEnd: number;

  constructor(readEnd: number) {
    this.readEnd = readEnd;
  }

  /** Opens a descriptor for a child to write to. A child inherits it only if `stdio` names it. */
  openWriteEnd(): number {
    return openSync(`/proc/self/fd/${this.readEnd}`, constants.O_WRONLY);
  }

  close(): void {
    closeSync(this.readEnd);
  }
}

const unusedPipes: Pipe[] = [];
let pendingBatch: Promise<boolean> | undefined;

/** Returns an unused pipe; null if no pipe can be created, for example on other systems than Linux or without bash. */
export async function takePipe(): Promise<Pipe | null> {
  if (process.platform !== 'linux') return null;
  // Other callers may have waited for the same batch and have taken all of it.
  while (unusedPipes.length === 0) {
    if (!(await createPipes())) break;
  }
  const pipe = unusedPipes.shift() ?? null;
  if (pipe !== null && unusedPipes.length < MIN_UNUSED_PIPES) void createPipes();
  return pipe;
}

/** Creates a batch of pipes, or waits for the batch that is being created. Returns whether it was created. */
function createPipes(): Promise<boolean> {
  pendingBatch ??= createBatch().finally(() => (pendingBatch = undefined));
  return pendingBatch;
}

async function createBatch(): Promise<boolean> {
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
    if (helper.pid === undefined || helper.stdout === null) return false;
    const isReady = await Promise.race([
      once(helper.stdout, 'data').then(() => true),
      once(helper, 'close').then(() => false),
    ]);
    if (!isReady) return false;
    for (const descriptor of DESCRIPTORS) {
      unusedPipes.push(new Pipe(openReadEnd(`/proc/${helper.pid}/fd/${descriptor}`)));
    }
    return true;
  } catch {
    // No descriptor is free, or there is no /proc. The caller works without a pipe, and the next call tries again.
    return false;
  } finally {
    helper?.stdin?.destroy();
    helper?.stdout?.destroy();
  }
}

/**
 * Opens the read end without blocking. Otherwise reading would block this process, because the pipe is still empty.
 */
function openReadEnd(path: string): number {
  return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
}
