import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { nodeFiles } from '../../store/files/node-files.ts';
import { OwnerLocks } from '../../store/locks/owner-locks.ts';
import { createProcessPort } from '../../store/locks/process-identity.ts';

const LOCK_NAME = 'session';

/**
 * Returns the id of the process that keeps a workspace open between the messages of its conversation; null if none does.
 *
 * @param directory the directory of the workspace
 */
export function findHolder(directory: string): number | null {
  const locks = new OwnerLocks(nodeFiles, createProcessPort(), ownersDirectory(directory));
  return locks.findLiveOwner(join(directory, LOCK_NAME))?.pid ?? null;
}

/** Throws CONFLICT if a process keeps the workspace of a task open. */
export function requireNotHeld(id: string, directory: string): void {
  const pid = findHolder(directory);
  if (pid !== null) throw heldError(id, pid);
}

/**
 * Keeps a workspace open until the returned function is called. Throws CONFLICT if another process does so.
 *
 * @param directory the directory of the workspace, which exists
 */
export function holdWorkspace(id: string, directory: string): () => void {
  const owners = ownersDirectory(directory);
  mkdirSync(owners, { recursive: true, mode: 0o700 });
  const locks = new OwnerLocks(nodeFiles, createProcessPort(), owners);
  const lock = join(directory, LOCK_NAME);
  const owner = locks.acquire(lock);
  if (owner !== undefined) {
    locks.close();
    throw heldError(id, owner.pid);
  }
  return () => {
    locks.release(lock);
    locks.close();
  };
}

/** Does work while this process holds a workspace, so that no task begins to work in it. Throws CONFLICT as above. */
export async function withWorkspaceHold<T>(
  id: string,
  directory: string,
  work: () => Promise<T>,
): Promise<T> {
  const release = holdWorkspace(id, directory);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Returns the directory of the files that describe owners. Other names in the workspace look like the names of these. */
function ownersDirectory(directory: string): string {
  return join(directory, '.locks');
}

function heldError(id: string, pid: number): MusterError {
  return new MusterError(
    'CONFLICT',
    `process ${pid} uses the workspace of task ${id}: its conversation is open there, or its changes are being landed or discarded; close it or wait, and try again`,
  );
}
