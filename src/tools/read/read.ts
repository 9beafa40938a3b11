import { createHash } from 'node:crypto';
import { MusterError } from '../../base/errors.ts';
import { plural } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { OpenFile } from '../../sys/files/open-in-roots.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { fileChunks, withFile } from '../../sys/files/read-file.ts';
import { isNotebookPath } from '../edit/apply-edit.ts';
import {
  CELL_FIELDS,
  FILE_PATH,
  FILE_PATH_ALIASES,
  UTF_8,
  defineBuiltinTool,
} from '../shared/define-tool.ts';
import {
  MAX_EDIT_BYTES,
  statFingerprint,
  detectBinaryKind,
  SAMPLE_BYTES,
} from '../shared/file-text.ts';
import { withUnsaved } from '../shared/editor-text.ts';
import { failure } from '../shared/output.ts';
import { addPathSuggestion } from '../shared/path-suggestions.ts';
import {
  ByteCensus,
  markedEncoding,
  Transcoder,
  type TextEncoding,
} from '../shared/text-encoding.ts';
import { LinePiece, type LinePieceOptions, LineWindow } from './line-window.ts';
import { LINE_ALIASES, LINE_FIELDS, resolveLineRange, type LineRange } from './line-range.ts';
import { readVerbatim } from './verbatim.ts';

const DEFAULT_LINES = 2000;
/** The number of bytes that are reserved for notes after the lines. */
const NOTE_BYTES = 600;
const ENCODING_NOTES: Readonly<Record<TextEncoding, string | null>> = {
  'UTF-8': null,
  'UTF-16LE': '[the file is UTF-16LE, which Edit and Write keep]',
  'UTF-16BE': '[the file is UTF-16BE, which Edit and Write keep]',
  'windows-1252':
    '[the file is not UTF-8: read as windows-1252 (Latin-1), which Edit and Write keep]',
};
const UNSAVED_NOTE =
  "[this is the text in the user's editor, which is not saved: commands and searches see the file on the disk]";
const INVALID_BYTES_NOTE = '[not valid UTF-8: invalid bytes are shown as \uFFFD]';

export const readTool = defineBuiltinTool({
  name: 'Read',
  kind: 'read',
  replay: 'pure',
  description:
    'Read a text file, notebook, image or PDF: up to 2000 lines, each as number, tab, text. Read on with offset, or in a long line with column.',
  input: {
    type: 'object',
    properties: {
      file_path: FILE_PATH,
      offset: { type: 'integer', minimum: 1, description: 'first line, from 1' },
      limit: { type: 'integer', minimum: 1 },
      column: { type: 'integer', minimum: 1 },
      ...LINE_FIELDS,
      cell_id: CELL_FIELDS.cell_id,
    },
    required: ['file_path'],
    fixed: { command: ['view'], encoding: UTF_8 },
  },
  aliases: { ...FILE_PATH_ALIASES, ...LINE_ALIASES },
  describe: (input, { cwd }) => ({ ...NO_ACCESS, reads: [toAbsolutePath(input.file_path, cwd)] }),
  async run(input, context) {
    const path = toAbsolutePath(input.file_path, context.cwd);
    const { column, cell_id: cellId } = input;
    const { first, count } = resolveLineRange(input, DEFAULT_LINES);
    try {
      return await withFile(path, context, async (opened) => {
        const file = await withUnsaved(opened, context);
        if (input.verbatim === true) return await readVerbatim(file, input, context);
        if (column !== undefined) return await readPiece(file, { line: first, column }, context);
        const cells = await readCells(file, { first, count, cellId }, context);
        return cells ?? (await readLines(file, { first, count }, context));
      });
    } catch (thrown) {
      throw addPathSuggestion(thrown, path, context);
    }
  },
});

/**
 * Shows the cells of a notebook. For a file that is not a notebook, returns null, or throws INVALID_PARAM if the call
 * names a cell.
 */
async function readCells(
  file: OpenFile,
  range: LineRange & { readonly cellId: string | undefined },
  context: ToolContext,
): Promise<ToolOutput | null> {
  const maxBytes = context.caps.readBytes - NOTE_BYTES;
  const cells = isNotebookPath(file.real)
    ? await (
        await import('../notebook/read-notebook.ts')
      ).readNotebook(file, { ...range, maxBytes }, context)
    : null;
  if (cells !== null || range.cellId === undefined) return cells;
  const shown = displayPath(file.real, context.cwd);
  throw new MusterError('INVALID_PARAM', `cell_id: ${shown} is not a notebook`);
}

async function readLines(
  file: OpenFile,
  range: LineRange,
  context: ToolContext,
): Promise<ToolOutput> {
  const maxBytes = context.caps.readBytes - NOTE_BYTES;
  const { reader: window, ...scan } = await scanDecoded(
    file,
    () => new LineWindow({ ...range, maxBytes }),
    context,
  );
  if (scan.binary !== null) return scan.binary;
  if (!scan.stopped) window.end();
  return createTextOutput(file, scan, describeWindow(window, range, scan));
}

async function readPiece(
  file: OpenFile,
  position: Pick<LinePieceOptions, 'line' | 'column'>,
  context: ToolContext,
): Promise<ToolOutput> {
  const maxBytes = context.caps.resultBytes - NOTE_BYTES;
  const { reader: piece, ...scan } = await scanDecoded(
    file,
    () => new LinePiece({ ...position, maxBytes }),
    context,
  );
  return scan.binary ?? createTextOutput(file, scan, describePiece(piece, position, scan));
}

/** Receives the text of a file in chunks of UTF-8. */
interface ByteReader {
  /** Whether the reader needs no more chunks. */
  readonly isFull: boolean;
  /** Whether the text contains bytes that are not UTF-8. */
  readonly hasInvalidBytes: boolean;
  push(chunk: Buffer): void;
}

/** The result of passing a file to a reader. */
interface FileScan {
  /** The number of bytes that were read. */
  readonly size: number;
  /** Whether reading stopped before the end of the file. */
  readonly stopped: boolean;
  /** The fingerprint of the file: the hash of its content, or of its stats if it is large. */
  readonly hash: string;
  readonly encoding: TextEncoding;
  /** The output for a binary file, or null for a text file. */
  readonly binary: ToolOutput | null;
}

/**
 * Passes a file to a reader as UTF-8. A file without a byte order mark is first read as UTF-8. If the reader finds
 * invalid bytes and the file is windows-1252, the file is read again with a new reader.
 */
async function scanDecoded<T extends ByteReader>(
  file: OpenFile,
  createReader: () => T,
  context: ToolContext,
): Promise<FileScan & { readonly reader: T }> {
  const reader = createReader();
  const scan = await scanFile(file, reader, { context });
  const isDoubtful = scan.binary === null && scan.encoding === 'UTF-8' && reader.hasInvalidBytes;
  if (!isDoubtful || !(await isWindows1252(file, context))) return { ...scan, reader };
  const retry = createReader();
  const retryScan = await scanFile(file, retry, { context, encoding: 'windows-1252' });
  return { ...retryScan, reader: retry };
}

/** Returns whether a file is windows-1252. Only the first part of a large file is checked. */
async function isWindows1252(file: OpenFile, { signal }: ToolContext): Promise<boolean> {
  const census = new ByteCensus();
  let size = 0;
  for await (const chunk of fileChunks(file, signal)) {
    census.add(chunk);
    size += chunk.length;
    if (size > MAX_EDIT_BYTES) break;
  }
  return census.isWindows1252;
}

/** Passes a file to a reader. A large file is read only until the reader is full. */
async function scanFile(
  file: OpenFile,
  reader: ByteReader,
  { context, encoding: known }: { readonly context: ToolContext; readonly encoding?: TextEncoding },
): Promise<FileScan> {
  const hash = createHash('sha256');
  const mayStopEarly = file.stats.size > BigInt(MAX_EDIT_BYTES);
  let encoding: TextEncoding = known ?? 'UTF-8';
  let transcoder = new Transcoder(encoding);
  let size = 0;
  let stopped = false;
  for await (const chunk of fileChunks(file, context.signal)) {
    const kind = size === 0 ? detectBinaryKind(chunk.subarray(0, SAMPLE_BYTES)) : undefined;
    if (kind !== undefined) {
      const binary = await createBinaryOutput(file, { kind, head: chunk }, context);
      return { size, stopped: true, hash: '', encoding, binary };
    }
    const markEncoding = size === 0 ? markedEncoding(chunk) : null;
    if (markEncoding !== null) {
      encoding = markEncoding;
      transcoder = new Transcoder(markEncoding);
    }
    size += chunk.length;
    if (!mayStopEarly) hash.update(chunk);
    reader.push(transcoder.push(chunk));
    stopped = mayStopEarly && reader.isFull;
    if (stopped) break;
  }
  if (!stopped) reader.push(transcoder.end());
  const fingerprint = mayStopEarly ? statFingerprint(file) : hash.digest('hex');
  context.files.remember(file.real, fingerprint);
  return { size, stopped, hash: fingerprint, encoding, binary: null };
}

function createTextOutput(file: OpenFile, { hash, encoding }: FileScan, text: string): ToolOutput {
  const notes = [ENCODING_NOTES[encoding], file.unsaved === undefined ? null : UNSAVED_NOTE];
  return {
    text: [text, ...notes.filter((note) => note !== null)].join('\n'),
    facts: { read: [{ path: file.real, hash }] },
  };
}

async function createBinaryOutput(
  file: OpenFile,
  { kind, head }: { readonly kind: string; readonly head: Buffer },
  context: ToolContext,
): Promise<ToolOutput> {
  const { showAttachment } = await import('../attachments/show-attachment.ts');
  const output = await showAttachment(file, Buffer.from(head), context);
  if (output !== null) return output;
  const shown = displayPath(file.real, context.cwd);
  const message = `${shown} is not text: ${kind}, ${plural(Number(file.stats.size), 'byte')}. Its contents are not shown.`;
  return failure('INVALID_PARAM', message);
}

function describeWindow(
  window: LineWindow,
  range: LineRange,
  file: Pick<FileScan, 'size' | 'stopped'>,
): string {
  if (file.size === 0 || (!file.stopped && window.total === 0)) return '[the file is empty]';
  if (window.lines.length === 0 && !window.outOfBytes) {
    return `[the file has only ${plural(window.total, 'line')}: nothing at offset ${range.first}]`;
  }
  return [...window.lines, ...createWindowNotes(window, file.stopped)].join('\n');
}

function createWindowNotes(window: LineWindow, stopped: boolean): string[] {
  const notes: string[] = [];
  if (stopped || window.next <= window.total) {
    const of = stopped ? '' : ` of ${window.total}`;
    const why = window.outOfBytes ? ' (the size limit of one Read)' : '';
    notes.push(`[up to line ${window.next - 1}${of}${why}; read on with offset ${window.next}]`);
  }
  if (window.hasInvalidBytes) notes.push(INVALID_BYTES_NOTE);
  return notes;
}

function describePiece(
  piece: LinePiece,
  { line, column }: Pick<LinePieceOptions, 'line' | 'column'>,
  { stopped }: Pick<FileScan, 'stopped'>,
): string {
  const { text, first, next } = piece.piece();
  const { lineBytes } = piece;
  if (column > lineBytes) {
    return piece.isThere
      ? `[line ${line} has only ${plural(lineBytes, 'byte')}: nothing at column ${column}]`
      : `[the file has no line ${line}]`;
  }
  const of = `${stopped && !piece.isOver ? 'at least ' : ''}${lineBytes}`;
  const rest = next > lineBytes ? '' : `; read on with offset ${line}, column ${next}`;
  const notes = [`[line ${line}, bytes ${first} to ${next - 1} of ${of}${rest}]`];
  if (piece.hasInvalidBytes) notes.push(INVALID_BYTES_NOTE);
  return [`${line}\t${text}`, ...notes].join('\n');
}
