import { lstatSync, readlinkSync, statSync, type BigIntStats } from 'node:fs';
import { NO_ACCESS } from '../../../protocol/permission.ts';
import { basename, dirname } from 'node:path';
import { MusterError } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import type { ToolContext } from '../../../protocol/tool.ts';
import { firstDirectoryNames } from '../../../sys/files/directory-names.ts';
import { describeFileType } from '../../../sys/files/file-errors.ts';
import { withHeldDirectory, requirePathInRoots } from '../../../sys/files/open-in-roots.ts';
import { toAbsolutePath, displayName, displayPath } from '../../../sys/files/paths.ts';
import { withFile } from '../../../sys/files/read-file.ts';
import { defineTool } from '../../shared/define-tool.ts';
import { FILE_PATH, FILE_PATH_ALIASES } from '../../shared/common-arguments.ts';
import { addPathSuggestion } from '../../shared/path-suggestions.ts';
import { describeContent } from './content-info.ts';

const PERMISSION_BITS = 0o7777n;
/** The most names of a directory that are counted. */
const MAX_NAMES = 2000;

export const fileInfoTool = defineTool({
  name: 'FileInfo',
  kind: 'read',
  replay: 'pure',
  description:
    'Kind, size, time, mode and link target of a path; of a file also encoding, lines and sha256.',
  input: { type: 'object', properties: { file_path: FILE_PATH }, required: ['file_path'] },
  aliases: FILE_PATH_ALIASES,
  describe: (input, { cwd }) => ({ ...NO_ACCESS, reads: [toAbsolutePath(input.file_path, cwd)] }),
  async run(input, context) {
    const path = toAbsolutePath(input.file_path, context.cwd);
    try {
      return { text: await describePath(path, context) };
    } catch (thrown) {
      throw addPathSuggestion(thrown, path, context);
    }
  },
});

async function describePath(path: string, context: ToolContext): Promise<string> {
  const shown = displayPath(path, context.cwd);
  const { real } = requirePathInRoots(path, context, { mayBeMissing: true });
  const target = linkTarget(path, context);
  const link = target === undefined ? [] : [`${shown}: a link -> ${displayName(target)}`];
  const stats = statsOf(real, context);
  if (stats === undefined) {
    if (target !== undefined) return [...link, 'Its target does not exist.'].join('\n');
    throw new MusterError('NOT_FOUND', `${path} does not exist`);
  }
  const name = target === undefined ? shown : displayPath(real, context.cwd);
  return [
    ...link,
    ...describeEntry(name, stats),
    ...(await describeInside(path, stats, context)),
  ].join('\n');
}

/**
 * The target of a link as stored in it; undefined for anything else, and for a link that was reached through another
 * one.
 */
function linkTarget(path: string, { roots }: ToolContext): string | undefined {
  if (roots.includes(path)) return undefined;
  try {
    return withHeldDirectory(dirname(path), { roots }, (directory, real) => {
      const entry = directory.at(basename(path));
      const isLink = lstatSync(entry, { throwIfNoEntry: false })?.isSymbolicLink() === true;
      return isLink && real === dirname(path) ? readlinkSync(entry) : undefined;
    });
  } catch (thrown) {
    // Its directory is missing or outside the roots; the caller describes the target of the path, or the error.
    if (thrown instanceof MusterError) return undefined;
    throw thrown;
  }
}

function statsOf(real: string, { roots }: ToolContext): BigIntStats | undefined {
  if (roots.includes(real)) {
    return withHeldDirectory(real, { roots }, (root) => statSync(root.at('.'), { bigint: true }));
  }
  return withHeldDirectory(dirname(real), { roots }, (directory) =>
    lstatSync(directory.at(basename(real)), { bigint: true, throwIfNoEntry: false }),
  );
}

function describeEntry(shown: string, stats: BigIntStats): readonly string[] {
  const size = stats.isFile() ? `, ${plural(Number(stats.size), 'byte')}` : '';
  const mode = (stats.mode & PERMISSION_BITS).toString(8).padStart(4, '0');
  const names = stats.isFile() && stats.nlink > 1n ? `, ${stats.nlink} names (hard links)` : '';
  return [
    `${shown}: ${describeFileType(stats)}${size}`,
    `changed ${timeOf(stats)}, mode ${mode}, owner ${stats.uid}:${stats.gid}${names}`,
  ];
}

function timeOf({ mtimeMs }: BigIntStats): string {
  const time = new Date(Number(mtimeMs));
  return Number.isNaN(time.getTime()) ? `${mtimeMs} ms after 1970` : time.toISOString();
}

async function describeInside(
  path: string,
  stats: BigIntStats,
  context: ToolContext,
): Promise<readonly string[]> {
  if (stats.isDirectory()) return [countEntries(path, context)];
  if (!stats.isFile()) return [];
  return await withFile(path, context, (file) => describeContent(file, context.signal));
}

function countEntries(path: string, context: ToolContext): string {
  return withHeldDirectory(path, context, (directory, real) => {
    const withheld = context.excludedPathsBelow({ asked: path, real });
    const names = firstDirectoryNames(directory.at('.'));
    const count = names.filter((name) => withheld?.(name) === undefined).length;
    const atLeast = names.length === MAX_NAMES ? 'at least ' : '';
    return `${atLeast}${plural(count, 'entry', 'entries')}`;
  });
}
