import { readTextIfPresent } from '../files/path-lookup.ts';
import { ISOLATED } from './bubblewrap.ts';
import { TASK_VARIABLE } from '../processes/command-environment.ts';
import { spawnProcessGroup, type ProcessGroup } from '../processes/process-group.ts';
import { START_CHECK } from '../processes/start-check.ts';

/** Arguments of bwrap for a process that only owns a network namespace and waits. */
const HOLDER_ARGUMENTS = [
  '--unshare-user',
  '--unshare-net',
  ...ISOLATED,
  '--',
  '/bin/sh',
  '-c',
  [...START_CHECK, 'echo ready; exec sleep 2147483647'].join('\n'),
];

interface Loopback {
  readonly group: ProcessGroup;
  /** Resolves to the pid of a process in the namespace; undefined if the namespace could not be created. */
  readonly owner: Promise<number | undefined>;
  /** The value of `owner` after `owner` has resolved. */
  pid: number | undefined;
  /** The number of current users of the loopback. */
  uses: number;
}

/**
 * Loopback networks without a connection to the outside. Commands with the same key (the id of their task) share a
 * loopback, so that a command can reach a server that an earlier command started in the background. A loopback exists
 * while it is in use. Its namespace is kept by a process that ends together with this process. Commands enter the
 * namespace with nsenter(1), because bwrap cannot enter a network namespace.
 */
export class Loopbacks {
  private readonly open = new Map<string, Loopback>();

  /**
   * Resolves when commands can enter the loopback, or when its creation has failed. Call the returned function when the
   * loopback is no longer used.
   */
  async use(key: string, bwrap: string): Promise<() => void> {
    const loopback = this.open.get(key) ?? this.create(key, bwrap);
    loopback.uses += 1;
    loopback.pid = await loopback.owner;
    let isUsed = true;
    return () => {
      if (isUsed) this.leave(key, loopback);
      isUsed = false;
    };
  }

  /** Returns the arguments with which nsenter enters the loopback; null if there is none. */
  entry(key: string): readonly string[] | null {
    const pid = this.open.get(key)?.pid;
    if (pid === undefined) return null;
    return [
      `--user=/proc/${pid}/ns/user`,
      `--net=/proc/${pid}/ns/net`,
      '--preserve-credentials',
      '--',
    ];
  }

  private create(key: string, bwrap: string): Loopback {
    const env = { PATH: '/usr/bin:/bin', [TASK_VARIABLE]: key };
    const group = spawnProcessGroup(bwrap, HOLDER_ARGUMENTS, { cwd: '/', env, startCheck: true });
    const loopback: Loopback = { group, owner: findOwner(group), pid: undefined, uses: 0 };
    this.open.set(key, loopback);
    return loopback;
  }

  private leave(key: string, loopback: Loopback): void {
    loopback.uses -= 1;
    if (loopback.uses > 0) return;
    if (this.open.get(key) === loopback) this.open.delete(key);
    // The process has no state to save, so it is killed at once.
    void loopback.group.end({ graceMs: 0 });
  }
}

async function findOwner(group: ProcessGroup): Promise<number | undefined> {
  group.stderr.resume();
  const isReady = await new Promise<boolean>((resolve) => {
    group.stdout.once('data', () => resolve(true));
    group.stdout.once('close', () => resolve(false));
  });
  return isReady ? readChild(group.pid) : undefined;
}

/** Returns the pid of the process that bwrap started. bwrap itself stays outside the namespace. */
function readChild(pid: number | undefined): number | undefined {
  // The file is missing if the process has ended, or if this kernel does not list children.
  const children = readTextIfPresent(`/proc/${pid}/task/${pid}/children`)?.trim() ?? '';
  return /^\d+$/.test(children) ? Number(children) : undefined;
}
