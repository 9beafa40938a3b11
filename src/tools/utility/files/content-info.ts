import { createHash } from 'node:crypto';
import { plural } from '../../../base/text.ts';
import type { OpenFile } from '../../../sys/files/open-in-roots.ts';
import { fileChunks } from '../../../sys/files/read-file.ts';
import { detectBinaryKind, SAMPLE_BYTES } from '../../shared/file-text.ts';
import { MAX_EDIT_BYTES } from '../../shared/file-content.ts';
import { markedEncoding, Transcoder } from '../../shared/text-encoding.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Describes the content of a file without showing it: a line about its text, and one with its hash. */
export async function describeContent(
  file: OpenFile,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isHashed = file.stats.size <= BigInt(MAX_EDIT_BYTES);
  const hash = createHash('sha256');
  let text = new TextCount();
  let wide = new Transcoder('UTF-8');
  let kind: string | undefined;
  let size = 0;
  for await (const chunk of fileChunks(file, signal)) {
    const marked = size === 0 ? markedEncoding(chunk) : null;
    if (size === 0) kind = detectBinaryKind(chunk.subarray(0, SAMPLE_BYTES));
    if (marked !== null) {
      text = new TextCount(marked);
      wide = new Transcoder(marked);
    }
    size += chunk.length;
    if (!isHashed) break;
    hash.update(chunk);
    text.add(text.encoding === null ? chunk : wide.push(chunk));
  }
  if (size === 0) return ['empty'];
  if (!isHashed) {
    const limit = `larger than the limit of ${MAX_EDIT_BYTES} bytes, so its lines were not counted and it has no sha256`;
    return [`${kind ?? 'text'}; ${limit}`];
  }
  return [kind ?? text.describe(), `sha256 ${hash.digest('hex')}`];
}

/** Counts the lines and line ends of a file that comes in chunks, and detects its encoding. */
class TextCount {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private isUtf8 = true;
  private hasMark = false;
  private size = 0;
  private newlines = 0;
  private returns = 0;
  private last = 0;
  /** The encoding of a UTF-16 file, whose chunks were converted to UTF-8; null when chunks are the file's own bytes. */
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
