import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { errorMessage } from '../../base/errors.ts';
import type { PlaceFiles } from './list-files.ts';

/** What tells whether agent files have changed, without opening any. */
export interface Stamp {
  add(found: PlaceFiles): void;
  /** `others` are looked at beside what was added. */
  text(others: readonly string[]): string;
}

export function newStamp(): Stamp {
  const hash = createHash('sha256');
  return {
    add({ files, skipped }) {
      for (const { path, realPath } of files) hash.update(`${path}\0${stateOf(realPath)}\n`);
      for (const { path, code } of skipped) hash.update(`${path}\0${code}\n`);
    },
    text(others) {
      for (const path of others) hash.update(`${path}\0${stateOf(path)}\n`);
      return hash.digest('hex');
    },
  };
}

/** The stamp of all of these, and of `others`. */
export function filesStamp(found: readonly PlaceFiles[], others: readonly string[]): string {
  const stamp = newStamp();
  for (const each of found) stamp.add(each);
  return stamp.text(others);
}

function stateOf(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined
      ? 'absent'
      : [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
  } catch (error) {
    // What cannot be looked at stays the same until it can.
    return errorMessage(error);
  }
}
