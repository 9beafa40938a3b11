import { readFileSync } from 'node:fs';
import { TASK_VARIABLE } from '../processes/command-environment.ts';
import { spawnProcessGroup, type ProcessGroup } from '../processes/process-group.ts';
import { START_CHECK } from '../processes/start-check.ts';

/** Holds nothing back: it only owns a network namespace, and waits. */
const HOLDER = [
  '--unshare-user',
  '--unshare-net',
  '--die-with-parent',
  '--new-session',
  '--cap-drop',
  'ALL',
  '--ro-bind',
  '/',
  '/',
  '--',
  '/bin/sh',
  '-c',
  [...START_CHECK, 'echo ready; exec sleep 2147483647'].join('\n'),
];

interface Loopback {
  readonly group: ProcessGroup;
  /** Resolves to a process in the namespace; undefined where none could be made. */
  readonly owner: Promise<number | undefined>;
  /** Once `owner` has resolved. */
  pid: number | undefined;
  uses: number;
}

/**
 * Networks without a way out that several commands share, by key (the id of their task): a server in the background is reached
 * by the commands that come after it. Each is there as long as somebody uses it, and is held by a process
 * that ends with this one. Others enter it with nsenter(1), since bwrap can't.
 */
export class Loopbacks {
  private readonly open = new Map<string, Loopback>();

  /** Returns when commands can enter it, or won't ever; call what it gives when it is not used any more. */
  async use(key: string, bwrap: string): Promise<() => void> {
    const loopback = this.open.get(key) ?? this.make(key, bwrap);
    loopback.uses += 1;
    loopback.pid = await loopback.owner;
    let isUsed = true;
    return () => {
      if (isUsed) this.leave(key, loopback);
      isUsed = false;
    };
  }

  /** The arguments with which nsenter enters it; null where there is none. */
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

  private make(key: string, bwrap: string): Loopback {
    const env = { PATH: '/usr/bin:/bin', [TASK_VARIABLE]: key };
    const group = spawnProcessGroup(bwrap, HOLDER, { cwd: '/', env, startCheck: true });
    const loopback: Loopback = { group, owner: ownerOf(group), pid: undefined, uses: 0 };
    this.open.set(key, loopback);
    return loopback;
  }

  private leave(key: string, loopback: Loopback): void {
    loopback.uses -= 1;
    if (loopback.uses > 0) return;
    if (this.open.get(key) === loopback) this.open.delete(key);
    // Nothing in it minds how it ends.
    void loopback.group.end({ graceMs: 0 });
  }
}

async function ownerOf(group: ProcessGroup): Promise<number | undefined> {
  group.stderr.resume();
  const isReady = await new Promise<boolean>((resolve) => {
    group.stdout.once('data', () => resolve(true));
    group.stdout.once('close', () => resolve(false));
  });
  return isReady ? childOf(group.pid) : undefined;
}

/** What bwrap has started: it stays outside itself. */
function childOf(pid: number | undefined): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return /^\d+$/.test(children) ? Number(children) : undefined;
  } catch {
    // It has ended, or this kernel does not list children.
    return undefined;
  }
}
