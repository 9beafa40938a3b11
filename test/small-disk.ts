import { execFileSync, spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';
import { needs } from './needs.ts';
import { tempDirectory } from './sys/temp.ts';

const UNSHARE = 'unshare';
const MOUNT = 'mount';
const UNMOUNT = 'umount';

/** Checks whether this user may mount. The superuser of a container often may not. */
function mayMount(): boolean {
  const mount = ['--mount', MOUNT, '-t', 'tmpfs', 'tmpfs', '/mnt'];
  if (spawnSync(UNSHARE, mount, { stdio: 'ignore' }).status === 0) return true;
  return needs('a right to mount a tmpfs', 'none: run the tests as one who has it');
}

/** Whether tests can create a small file system. */
export const canMount = mayMount();

/** Creates a file system of this many kilobytes, for a disk that is really full. It is removed after the test. */
export function smallDisk(kilobytes: number): string {
  const directory = tempDirectory();
  execFileSync(MOUNT, ['-t', 'tmpfs', '-o', `size=${kilobytes}k,mode=700`, 'tmpfs', directory]);
  onTestFinished(() => void execFileSync(UNMOUNT, ['--lazy', directory]));
  return directory;
}

/** Makes a file system of `smallDisk` read-only. */
export function makeReadOnly(directory: string): void {
  execFileSync(MOUNT, ['-o', 'remount,ro', directory]);
}
