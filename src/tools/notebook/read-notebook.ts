import { MusterError } from '../../base/errors.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { OpenFile } from '../../sys/open-in-roots.ts';
import { fileChunks, sha256 } from '../../sys/read-file.ts';
import { BYTE_ORDER_MARK, decodeText, encodingOf } from '../shared/text-encoding.ts';
import { MAX_EDIT_BYTES } from '../shared/file-content.ts';
import { findCell, parseNotebook, type Notebook } from './notebook.ts';
import { showNotebook, type CellRange } from './show-notebook.ts';

/** Which cells a call asks for. */
interface WantedCells extends CellRange {
  /** The id or number of the only one; undefined: those of the range. */
  readonly cellId: string | undefined;
}

/** The cells of an open notebook; null: the file is none, and is to be shown as text. */
export async function readNotebook(
  file: OpenFile,
  wanted: WantedCells,
  context: ToolContext,
): Promise<ToolOutput | null> {
  const bytes = await wholeOf(file, context);
  const encoding = bytes === null ? null : encodingOf(bytes);
  if (bytes === null || encoding === null) return null;
  const text = decodeText(bytes, encoding);
  const notebook = parseNotebook(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  if (notebook === null) return null;
  const hash = sha256(bytes);
  context.files.remember(file.real, hash);
  return {
    text: showNotebook(notebook, rangeOf(notebook, wanted)),
    facts: { read: [{ path: file.real, hash }] },
  };
}

function rangeOf(notebook: Notebook, { cellId, ...range }: WantedCells): CellRange {
  if (cellId === undefined) return range;
  const cell = findCell(notebook, cellId);
  if (typeof cell === 'string') throw new MusterError('INVALID_PARAM', cell);
  return { ...range, first: cell.number, count: 1 };
}

async function wholeOf(file: OpenFile, { signal }: ToolContext): Promise<Buffer | null> {
  if (file.stats.size > BigInt(MAX_EDIT_BYTES)) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of fileChunks(file, signal)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
