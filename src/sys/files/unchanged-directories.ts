import { lstatSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';

/**
 * The types of file systems (statfs(2)) whose times come from the clock of this machine: ext2 to ext4, XFS, Btrfs, ZFS,
 * F2FS, bcachefs, tmpfs and overlays of them. A server of a network file system has its own clock.
 */
const LOCAL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x2fc12fc1, 0xf2f52010, 0xca451a4e, 0x01021994, 0x794c7630,
]);
/**
 * How much older than the given time a change must be, in milliseconds. The clock of the times of files goes in steps of up
 * to 10 ms, and a clock may be set back a little.
 */
const MARGIN_MS = 1_000;

/**
 * Tells which directories still have the same entries as at a time. Creating, renaming, replacing and removing an entry sets
 * the change time (ctime) of its directory, and renaming a directory sets its own, too. No program without special rights
 * can set a change time. If nothing has changed on the way from the top of the file system to a directory, its path has
 * led to the same place since then, so no link can have led a program elsewhere meanwhile. The contents of files may have
 * changed.
 */
export class UnchangedDirectories {
  readonly #since: number;
  readonly #top: string;
  readonly #known = new Map<string, boolean>();
  readonly #devices = new Map<bigint, boolean>();

  /**
   * @param since milliseconds since the epoch
   * @param top the directory, absolute, at which the checks end. Default: the top of the file system, because whoever can
   *   rename a directory above can also lead the path elsewhere
   */
  constructor(since: number, top = '/') {
    this.#since = since;
    this.#top = top;
  }

  /**
   * Returns true if a directory (absolute) and all directories above it are directories, not links, whose entries have not
   * changed. Returns false if that is not known.
   */
  has(path: string): boolean {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const isTop = path === this.#top || path === '/';
    const isUnchanged = (isTop || this.has(dirname(path))) && this.#check(path);
    this.#known.set(path, isUnchanged);
    return isUnchanged;
  }

  #check(path: string): boolean {
    try {
      const stats = lstatSync(path, { bigint: true });
      const isOld = Number(stats.ctimeMs) + MARGIN_MS < this.#since;
      return stats.isDirectory() && isOld && this.#isLocal(path, stats.dev);
    } catch (thrown) {
      // A directory that cannot be inspected may have changed.
      if (systemErrorCode(thrown) !== undefined) return false;
      throw thrown;
    }
  }

  #isLocal(path: string, device: bigint): boolean {
    const isLocal = this.#devices.get(device) ?? LOCAL_FILE_SYSTEMS.has(statfsSync(path).type);
    this.#devices.set(device, isLocal);
    return isLocal;
  }
}
