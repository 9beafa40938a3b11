import { join, relative } from 'node:path';
import { collapseWhitespace, plural, truncate } from '../../base/text.ts';
import type { GitSnapshot } from '../../sys/git/snapshot.ts';
import type { ChangedPath } from '../../sys/git/status.ts';

/** More of them say no more. */
const MAX_CHANGES = 20;
/** Characters of a path, a branch or a subject. */
const MAX_LENGTH = 160;

/** A snapshot in the words of git; paths are told from `cwd`. */
export function gitLines({ branch, changes, commits, top }: GitSnapshot, cwd: string): string {
  const shown = changes.slice(0, MAX_CHANGES).map((change) => changeLine(change, { top, cwd }));
  const more = changes.length - shown.length;
  return [
    `Branch: ${onLine(branch)}`,
    ...(shown.length === 0 ? ['No changes.'] : ['Changes:', ...shown]),
    ...(more > 0 ? [`and ${plural(more, 'more path')}`] : []),
    ...(commits.length === 0 ? [] : ['Last commits:', ...commits.map(onLine)]),
  ].join('\n');
}

function changeLine(
  { code, path, from }: ChangedPath,
  { top, cwd }: { readonly top: string; readonly cwd: string },
): string {
  const shown = (each: string): string =>
    onLine((relative(cwd, join(top, each)) || '.') + (each.endsWith('/') ? '/' : ''));
  return `${code} ${from === undefined ? '' : `${shown(from)} -> `}${shown(path)}`;
}

function onLine(text: string): string {
  return truncate(collapseWhitespace(text), MAX_LENGTH);
}
