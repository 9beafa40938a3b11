import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { MusterError } from '../../base/errors.ts';
import { byteLength } from '../../base/text.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { OpenFile } from '../../sys/files/open-in-roots.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { fileChunks } from '../../sys/files/read-file.ts';

/** The lines of a file that are read. */
interface VerbatimLines {
  /** The number of the first line, from 1. Default: 1. */
  readonly offset?: number | undefined;
  /** The number of lines. Default: all of them. */
  readonly limit?: number | undefined;
}

/**
 * Reads lines of a text file without any change, with their line ends, for a program that may write them back. Throws
 * INVALID_PARAM for a file that is not UTF-8, and LIMIT_EXCEEDED if the lines are larger than one Read may return.
 */
export async function readVerbatim(
  file: OpenFile,
  lines: VerbatimLines,
  context: ToolContext,
): Promise<ToolOutput> {
  const shown = displayPath(file.real, context.cwd);
  const { readBytes } = context.caps;
  if (file.stats.size > BigInt(MAX_FILE_BYTES))
    throw new MusterError('LIMIT_EXCEEDED', `${shown} is larger than ${MAX_FILE_BYTES} bytes`);
  const chunks: Buffer[] = [];
  for await (const chunk of fileChunks(file, context.signal)) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  if (!isUtf8(bytes) || bytes.includes(0))
    throw new MusterError('INVALID_PARAM', `${shown} is not a text file in UTF-8`);
  const text = takeLines(bytes.toString('utf8'), lines);
  if (byteLength(text) > readBytes) {
    const message = `the lines of ${shown} have more than ${readBytes} bytes (output.read_bytes); read fewer lines at once`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  }
  const hash = createHash('sha256').update(bytes).digest('hex');
  context.files.remember(file.real, hash);
  return { text, facts: { read: [{ path: file.real, hash }] } };
}

/** The maximum size of a file. Other files are read by commands. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Returns lines of a text with their line ends. */
export function takeLines(text: string, { offset = 1, limit = Infinity }: VerbatimLines): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return lines.slice(offset - 1, offset - 1 + limit).join('');
}
