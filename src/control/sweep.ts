import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { probeSocket } from './probe.ts';
import { TEMPORARY_SUFFIX } from './socket-file.ts';

/** How many sockets one sweep asks: it happens at each start, so few are enough. */
const MOST = 16;
const NAME = /^[a-z0-9]{12}\.(?:sock|tmp)$/;
/** A socket under a passing name may be about to listen. */
const PASSING_MS = 60_000;

export interface SocketSweep {
  readonly directory: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** From 0 to below 1: where in the directory the sweep begins, so that each gets its turn. */
  readonly from: number;
}

/**
 * Removes sockets that dead processes left in a directory of ours, a few at a time. Never throws:
 * what can't be removed now is only clutter, and the next start tries again.
 */
export async function sweepSockets(options: SocketSweep): Promise<void> {
  const { directory, now, from } = options;
  const names = (await readdir(directory).catch(() => [])).filter((name) => NAME.test(name));
  const begin = Math.floor(from * names.length);
  const some = [...names.slice(begin), ...names.slice(0, begin)].slice(0, MOST);
  await Promise.allSettled(some.map((name) => removeIfDead(join(directory, name), now)));
}

async function removeIfDead(path: string, now: number): Promise<void> {
  const stat = await lstat(path);
  if (!stat.isSocket()) return;
  if (path.endsWith(TEMPORARY_SUFFIX) && now - stat.ctimeMs < PASSING_MS) return;
  if ((await probeSocket(path)) === 'dead') await rm(path, { force: true });
}
