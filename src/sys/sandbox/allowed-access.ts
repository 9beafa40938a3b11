import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { isInside } from '../../base/path-inside.ts';
import { lstatIfPresent } from '../files/path-lookup.ts';
import { EMPTY_KINDS, findCoveringRule, isWritable, layerRules, type PathRule } from './plan.ts';
import type { FileToolAccess } from './sandbox.ts';

/** Directories of which each sandbox has its own. */
const OWN_DIRECTORIES: readonly PathRule[] = ['/dev', '/proc'].map((path) => ({
  kind: 'private',
  path,
}));

/**
 * Creates a check that tells whether a call of a file tool has the same result in a sandbox as outside of it, as far as
 * the rules of the sandbox decide that:
 *
 * - Each path that it reads is visible, and no directory below it is replaced by an empty one. A file or directory below
 *   it may be hidden: searches leave out such files anyway.
 * - Each path that it writes is writable, and contains nothing with a rule of its own, which could not be moved.
 * - All paths that it writes have the same rule, since nothing can be renamed from one mount to another.
 *
 * @param rules the rules of the sandbox, from `layerRules`
 * @param missing paths that did not exist when the sandbox was created, and that nothing in it should create
 */
export function createAccessCheck(
  rules: readonly PathRule[],
  missing: readonly string[],
): (access: FileToolAccess) => boolean {
  const absent = missing.map((path): PathRule => ({ kind: 'absent', path }));
  const layered = layerRules([...rules, ...absent, ...OWN_DIRECTORIES]);
  const privatePaths = layered.filter(({ kind }) => kind === 'private').map(({ path }) => path);
  const isVisible = (path: string): boolean => {
    const kind = findCoveringRule(path, layered)?.kind;
    if (kind !== undefined && EMPTY_KINDS.has(kind)) return false;
    return !privatePaths.some((each) => isInside(path, each));
  };
  const isChangeable = (path: string): boolean =>
    isWritable(path, layered) && !layered.some((rule) => isInside(path, rule.path));
  return ({ reads, writes }) =>
    reads.every(isVisible) &&
    writes.every(isChangeable) &&
    new Set(writes.map((path) => findCoveringRule(path, layered)?.path)).size <= 1;
}

/** The user and the group of a process. */
export interface ProcessIds {
  readonly uid: number;
  readonly gid: number;
}

const READABLE_BY_ALL = 0o004;

/**
 * Tells whether a process that has only these ids, as in a user namespace, can use a file in the same way as outside of
 * the namespace. A file of another user or group would lose its owner when it is replaced, and the root user of a
 * namespace has no power over the files of others.
 *
 * @param stats the file, or the nearest directory in which it would be created
 */
export function isUsableWithOwnIds(
  { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  use: 'read' | 'replace' | 'create',
  own: ProcessIds,
): boolean {
  const isOwn = uid === own.uid;
  switch (use) {
    case 'read':
      return isOwn || own.uid !== 0 || (mode & READABLE_BY_ALL) !== 0;
    case 'replace':
      return isOwn && gid === own.gid;
    case 'create':
      return isOwn || own.uid !== 0;
  }
}

/** Tells whether a process with only these ids can use all files of a call as `isUsableWithOwnIds` says. */
export function hasOnlyUsableFiles({ reads, writes }: FileToolAccess, own: ProcessIds): boolean {
  const isUsable = (path: string, use: 'read' | 'replace'): boolean => {
    const stats = lstatIfPresent(path);
    if (stats !== undefined) return isUsableWithOwnIds(stats, use, own);
    const directory = findNearestDirectory(path);
    return directory === undefined || isUsableWithOwnIds(directory, 'create', own);
  };
  return (
    reads.every((path) => isUsable(path, 'read')) &&
    writes.every((path) => isUsable(path, 'replace'))
  );
}

function findNearestDirectory(path: string): Stats | undefined {
  const above = dirname(path);
  return above === path ? undefined : (lstatIfPresent(above) ?? findNearestDirectory(above));
}
