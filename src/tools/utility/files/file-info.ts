import { createHash } from 'node:crypto';
import { lstatSync, readlinkSync, statSync, type BigIntStats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { MusterError } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import { NO_ACCESS } from '../../../protocol/permission.ts';
import type { ToolContext } from '../../../protocol/tool.ts';
import { firstDirectoryNames } from '../../../sys/files/directory-names.ts';
import { describeFileType } from '../../../sys/files/file-errors.ts';
import {
  withHeldDirectory,
  requirePathInRoots,
  type OpenFile,
} from '../../../sys/files/open-in-roots.ts';
import { toAbsolutePath, displayName, displayPath } from '../../../sys/files/paths.ts';
import { withFile, fileChunks } from '../../../sys/files/read-file.ts';
import { FILE_PATH, FILE_PATH_ALIASES, defineBuiltinTool } from '../../shared/define-tool.ts';
import { MAX_EDIT_BYTES, detectBinaryKind, SAMPLE_BYTES } from '../../shared/file-text.ts';
import { addPathSuggestion } from '../../shared/path-suggestions.ts';
import { markedEncoding, Transcoder } from '../../shared/text-encoding.ts';

const PERMISSION_BITS = 0o7777n;
/** The maximum number of names of a directory that are counted. */
const MAX_NAMES = 2000;

export const fileInfoTool = defineBuiltinTool({
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
  const target = readLinkTarget(path, context);
  const link = target === undefined ? [] : [`${shown}: a link -> ${displayName(target)}`];
  const stats = readStats(real, context);
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
 * Returns the target of a link as it is stored. Returns undefined for anything that is not a link, and for a link that
 * is reached through another link.
 */
function readLinkTarget(path: string, { roots }: ToolContext): string | undefined {
  if (roots.includes(path)) return undefined;
  try {
    return withHeldDirectory(dirname(path), { roots }, (directory, real) => {
      const entry = directory.at(basename(path));
      const isLink = lstatSync(entry, { throwIfNoEntry: false })?.isSymbolicLink() === true;
      return isLink && real === dirname(path) ? readlinkSync(entry) : undefined;
    });
  } catch (thrown) {
    // The directory of the path is missing or outside the roots. The caller describes the target of the path, or the
    // error.
    if (thrown instanceof MusterError) return undefined;
    throw thrown;
  }
}

function readStats(real: string, { roots }: ToolContext): BigIntStats | undefined {
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
    `changed ${formatTime(stats)}, mode ${mode}, owner ${stats.uid}:${stats.gid}${names}`,
  ];
}

function formatTime({ mtimeMs }: BigIntStats): string {
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

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Describes the content of a file without showing it: one line about its text, and one line with its hash. */
async function describeContent(file: OpenFile, signal: AbortSignal): Promise<readonly string[]> {
  const isHashed = file.stats.size <= BigInt(MAX_EDIT_BYTES);
  const hash = createHash('sha256');
  let text = new TextCount();
  let transcoder = new Transcoder('UTF-8');
  let kind: string | undefined;
  let size = 0;
  for await (const chunk of fileChunks(file, signal)) {
    const marked = size === 0 ? markedEncoding(chunk) : null;
    if (size === 0) kind = detectBinaryKind(chunk.subarray(0, SAMPLE_BYTES));
    if (marked !== null) {
      text = new TextCount(marked);
      transcoder = new Transcoder(marked);
    }
    size += chunk.length;
    if (!isHashed) break;
    hash.update(chunk);
    text.add(text.encoding === null ? chunk : transcoder.push(chunk));
  }
  if (size === 0) return ['empty'];
  if (!isHashed) {
    const limit = `larger than the limit of ${MAX_EDIT_BYTES} bytes, so its lines were not counted and it has no sha256`;
    return [`${kind ?? 'text'}; ${limit}`];
  }
  return [kind ?? text.describe(), `sha256 ${hash.digest('hex')}`];
}

/** Counts the lines and line ends of a file that is passed in chunks, and detects its encoding. */
class TextCount {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private isUtf8 = true;
  private hasMark = false;
  private size = 0;
  private newlines = 0;
  /** The number of line ends that are CRLF. */
  private returns = 0;
  /** The last byte so far. */
  private last = 0;
  /**
   * The encoding of a UTF-16 file, whose chunks are converted to UTF-8 before they are added. Null for any other file,
   * whose bytes are added unchanged.
   */
  readonly encoding: string | null;

  constructor(encoding: string | null = null) {
    this.encoding = encoding;
    this.hasMark = encoding !== null;
  }

  add(chunk: Buffer): void {
    if (this.size === 0) this.hasMark ||= chunk.subarray(0, 3).toString('hex') === 'efbbbf';
    this.size += chunk.length;
    this.decode(chunk, { stream: true });
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
      this.newlines += 1;
      if ((at === 0 ? this.last : chunk[at - 1]) === RETURN) this.returns += 1;
    }
    this.last = chunk.at(-1) ?? this.last;
  }

  describe(): string {
    this.decode(new Uint8Array(), { stream: false });
    const encoding = this.encoding ?? (this.isUtf8 ? 'UTF-8' : 'not UTF-8 (perhaps Latin-1)');
    const mark = this.hasMark ? ' with byte order mark' : '';
    const lines = this.newlines + (this.last === NEWLINE ? 0 : 1);
    return `text, ${encoding}${mark}, ${plural(lines, 'line')}${this.lineEnds()}`;
  }

  private lineEnds(): string {
    const open = this.last === NEWLINE ? '' : ', the last one without an end';
    if (this.returns === 0) return open;
    return `${this.returns === this.newlines ? ', CRLF line ends' : ', LF and CRLF line ends mixed'}${open}`;
  }

  private decode(bytes: Uint8Array, options: { readonly stream: boolean }): void {
    if (!this.isUtf8) return;
    try {
      this.decoder.decode(bytes, options);
    } catch {
      // A fatal decoder only throws for bytes that are not UTF-8.
      this.isUtf8 = false;
    }
  }
}
