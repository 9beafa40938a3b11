import { createHash } from 'node:crypto';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { MusterError } from '../../base/errors.ts';
import { plural } from '../../base/text.ts';
import type { OpenFile } from '../../sys/open-in-roots.ts';
import { absolutePath, displayPath } from '../../sys/paths.ts';
import { fileChunks, withFile } from '../../sys/read-file.ts';
import { defineTool } from '../shared/define-tool.ts';
import { CELL, FILE_PATH, FILE_PATH_ALIASES, UTF_8 } from '../shared/common-arguments.ts';
import { binaryKind, SAMPLE_BYTES } from '../shared/file-text.ts';
import { MAX_EDIT_BYTES, statFingerprint } from '../shared/file-content.ts';
import { LinePiece, type LinePieceOptions } from './line-piece.ts';
import { LineWindow } from './line-window.ts';
import { isNotebookPath } from '../notebook/notebook-path.ts';
import { failure } from '../shared/output.ts';
import { withSuggestion } from '../shared/path-suggestions.ts';
import {
  ByteCensus,
  markedEncoding,
  Transcoder,
  type TextEncoding,
} from '../shared/text-encoding.ts';
import { LINE_ALIASES, LINES, wantedLines, type LineRange } from './line-range.ts';

const DEFAULT_LINES = 2000;
/** For the notes after the lines. */
const NOTE_BYTES = 600;
const ENCODING_NOTES: Readonly<Record<TextEncoding, string | null>> = {
  'UTF-8': null,
  'UTF-16LE': '[the file is UTF-16LE, which Edit and Write keep]',
  'UTF-16BE': '[the file is UTF-16BE, which Edit and Write keep]',
  'windows-1252':
    '[the file is not UTF-8: read as windows-1252 (Latin-1), which Edit and Write keep]',
};
const LOSSY = '[not valid UTF-8: odd bytes are shown as \uFFFD]';

export const readTool = defineTool({
  name: 'Read',
  kind: 'read',
  replay: 'pure',
  description:
    'Read a text file, notebook, image or PDF. Lines come as number, tab, text; max 2000 of 2000 characters. Read on with offset, in a line with column.',
  input: {
    type: 'object',
    properties: {
      file_path: FILE_PATH,
      offset: { type: 'integer', minimum: 1, description: 'first line, from 1' },
      limit: { type: 'integer', minimum: 1 },
      column: { type: 'integer', minimum: 1 },
      ...LINES,
      cell_id: CELL.cell_id,
    },
    required: ['file_path'],
    fixed: { command: ['view'], encoding: UTF_8 },
  },
  aliases: { ...FILE_PATH_ALIASES, ...LINE_ALIASES },
  describe: (input, { cwd }) => ({
    reads: [absolutePath(input.file_path, cwd)],
    writes: [],
    commands: [],
    hosts: [],
  }),
  async run(input, context) {
    const path = absolutePath(input.file_path, context.cwd);
    const { column, cell_id: cellId } = input;
    const { first, count } = wantedLines(input, DEFAULT_LINES);
    try {
      return await withFile(path, context, async (file) => {
        if (column !== undefined) return await readPiece(file, { line: first, column }, context);
        const cells = await readCells(file, { first, count, cellId }, context);
        return cells ?? (await readLines(file, { first, count }, context));
      });
    } catch (thrown) {
      throw withSuggestion(thrown, path, context);
    }
  },
});

/** The cells of a notebook; null: the file is none. Throws INVALID_PARAM where a cell of it was asked for. */
async function readCells(
  file: OpenFile,
  wanted: LineRange & { readonly cellId: string | undefined },
  context: ToolContext,
): Promise<ToolOutput | null> {
  const maxBytes = context.caps.readBytes - NOTE_BYTES;
  const cells = isNotebookPath(file.real)
    ? await (
        await import('../notebook/read-notebook.ts')
      ).readNotebook(file, { ...wanted, maxBytes }, context)
    : null;
  if (cells !== null || wanted.cellId === undefined) return cells;
  const shown = displayPath(file.real, context.cwd);
  throw new MusterError('INVALID_PARAM', `cell_id: ${shown} is not a notebook`);
}

async function readLines(
  file: OpenFile,
  range: LineRange,
  context: ToolContext,
): Promise<ToolOutput> {
  const maxBytes = context.caps.readBytes - NOTE_BYTES;
  const { taker: window, ...fed } = await feedDecoded(
    file,
    () => new LineWindow({ ...range, maxBytes }),
    context,
  );
  if (fed.binary !== null) return fed.binary;
  if (!fed.stopped) window.end();
  return textOutput(file, fed, describeWindow(window, range, fed));
}

async function readPiece(
  file: OpenFile,
  wanted: Pick<LinePieceOptions, 'line' | 'column'>,
  context: ToolContext,
): Promise<ToolOutput> {
  const maxBytes = context.caps.resultBytes - NOTE_BYTES;
  const { taker: piece, ...fed } = await feedDecoded(
    file,
    () => new LinePiece({ ...wanted, maxBytes }),
    context,
  );
  return fed.binary ?? textOutput(file, fed, describePiece(piece, wanted, fed));
}

interface Taker {
  readonly isFull: boolean;
  readonly lossy: boolean;
  push(chunk: Buffer): void;
}

interface Fed {
  readonly size: number;
  /** Not all of the file was looked at. */
  readonly stopped: boolean;
  /** What the file is known by. */
  readonly hash: string;
  readonly encoding: TextEncoding;
  /** What came of a file that is no text; null: it is. */
  readonly binary: ToolOutput | null;
}

/**
 * Passes a file through to a taker, as UTF-8. Whether one without a byte order mark is UTF-8 shows only where the
 * taker meets something else: then it is looked at whole, and passed to a new taker in its own encoding.
 */
async function feedDecoded<T extends Taker>(
  file: OpenFile,
  makeTaker: () => T,
  context: ToolContext,
): Promise<Fed & { readonly taker: T }> {
  const taker = makeTaker();
  const fed = await feed(file, taker, { context });
  const mayBeOther = fed.binary === null && fed.encoding === 'UTF-8' && taker.lossy;
  if (!mayBeOther || !(await isWindows1252(file, context))) return { ...fed, taker };
  const other = makeTaker();
  return { ...(await feed(file, other, { context, encoding: 'windows-1252' })), taker: other };
}

/** Of a large file only the first part is looked at. */
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

/** Passes a file through; of a large one only as much as is wanted. */
async function feed(
  file: OpenFile,
  taker: Taker,
  { context, encoding: known }: { readonly context: ToolContext; readonly encoding?: TextEncoding },
): Promise<Fed> {
  const hash = createHash('sha256');
  const mayStopEarly = file.stats.size > BigInt(MAX_EDIT_BYTES);
  let encoding: TextEncoding = known ?? 'UTF-8';
  let transcoder = new Transcoder(encoding);
  let size = 0;
  let stopped = false;
  for await (const chunk of fileChunks(file, context.signal)) {
    const kind = size === 0 ? binaryKind(chunk.subarray(0, SAMPLE_BYTES)) : undefined;
    if (kind !== undefined) {
      const binary = await binaryFile(file, { kind, head: chunk }, context);
      return { size, stopped: true, hash: '', encoding, binary };
    }
    const marked = size === 0 ? markedEncoding(chunk) : null;
    if (marked !== null) {
      encoding = marked;
      transcoder = new Transcoder(marked);
    }
    size += chunk.length;
    if (!mayStopEarly) hash.update(chunk);
    taker.push(transcoder.push(chunk));
    stopped = mayStopEarly && taker.isFull;
    if (stopped) break;
  }
  if (!stopped) taker.push(transcoder.end());
  const fingerprint = mayStopEarly ? statFingerprint(file) : hash.digest('hex');
  context.files.remember(file.real, fingerprint);
  return { size, stopped, hash: fingerprint, encoding, binary: null };
}

function textOutput(file: OpenFile, { hash, encoding }: Fed, text: string): ToolOutput {
  const note = ENCODING_NOTES[encoding];
  return {
    text: note === null ? text : `${text}\n${note}`,
    facts: { read: [{ path: file.real, hash }] },
  };
}

async function binaryFile(
  file: OpenFile,
  { kind, head }: { readonly kind: string; readonly head: Buffer },
  context: ToolContext,
): Promise<ToolOutput> {
  const { showFile } = await import('./show-attachment.ts');
  const output = await showFile(file, Buffer.from(head), context);
  if (output !== null) return output;
  const shown = displayPath(file.real, context.cwd);
  return failure(
    'INVALID_PARAM',
    `${shown} is not text: ${kind}, ${plural(Number(file.stats.size), 'byte')}. Its contents are not shown.`,
  );
}

function describeWindow(
  window: LineWindow,
  range: LineRange,
  file: Pick<Fed, 'size' | 'stopped'>,
): string {
  const isWhole = !file.stopped && window.total === 0;
  if (file.size === 0 || isWhole) return '[the file is empty]';
  if (window.lines.length === 0 && !window.outOfBytes) {
    return `[the file has only ${plural(window.total, 'line')}: nothing at offset ${range.first}]`;
  }
  return [...window.lines, ...notes(window, file.stopped)].join('\n');
}

function notes(window: LineWindow, stopped: boolean): string[] {
  const told: string[] = [];
  if (stopped || window.next <= window.total) {
    const of = stopped ? '' : ` of ${window.total}`;
    const why = window.outOfBytes ? ' (the size limit of one Read)' : '';
    told.push(`[up to line ${window.next - 1}${of}${why}; read on with offset ${window.next}]`);
  }
  if (window.lossy) told.push(LOSSY);
  return told;
}

function describePiece(
  piece: LinePiece,
  { line, column }: Pick<LinePieceOptions, 'line' | 'column'>,
  { stopped }: Pick<Fed, 'stopped'>,
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
  if (piece.lossy) notes.push(LOSSY);
  return [`${line}\t${text}`, ...notes].join('\n');
}
