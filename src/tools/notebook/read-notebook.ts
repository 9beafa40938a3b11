import { MusterError } from '../../base/errors.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { OpenFile } from '../../sys/files/open-in-roots.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import { BYTE_ORDER_MARK, decodeText, detectEncoding } from '../shared/text-encoding.ts';
import { MAX_EDIT_BYTES, readOpenFile } from '../shared/file-text.ts';
import { findCell, parseNotebook, type Notebook, joinLines, type Cell } from './notebook.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { byteLength, plural } from '../../base/text.ts';
import { plainText } from '../../sys/plain-text.ts';
import { cutToBytes } from '../shared/output.ts';

/** The cells that a call asks for. */
interface RequestedCells extends CellRange {
  /** The id or number of a single cell, or undefined for the cells of the range. */
  readonly cellId: string | undefined;
}

/** Shows the cells of an open notebook. Returns null for a file that is not a notebook and should be shown as text. */
export async function readNotebook(
  file: OpenFile,
  requested: RequestedCells,
  context: ToolContext,
): Promise<ToolOutput | null> {
  const bytes = await readOpenFile(file, MAX_EDIT_BYTES, context.signal);
  const encoding = bytes === null ? null : detectEncoding(bytes);
  if (bytes === null || encoding === null) return null;
  const text = decodeText(bytes, encoding);
  const notebook = parseNotebook(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text);
  if (notebook === null) return null;
  const hash = hashContent(bytes);
  context.files.remember(file.real, hash);
  return {
    text: showNotebook(notebook, resolveRange(notebook, requested)),
    facts: { read: [{ path: file.real, hash }] },
  };
}

function resolveRange(notebook: Notebook, { cellId, ...range }: RequestedCells): CellRange {
  if (cellId === undefined) return range;
  const cell = findCell(notebook, cellId);
  if (typeof cell === 'string') throw new MusterError('INVALID_PARAM', cell);
  return { ...range, first: cell.number, count: 1 };
}

/** The maximum number of characters of an output that are shown. */
const MAX_OUTPUT_CHARACTERS = 2000;
/** The maximum number of outputs of a cell that are shown. */
const MAX_OUTPUTS = 20;

/** The cells to show. */
interface CellRange {
  /** The number of the first cell, from 1. */
  readonly first: number;
  readonly count: number;
  /** The size limit of the result. */
  readonly maxBytes: number;
}

/** Formats cells as text, each with its number, type and id above its source. Long outputs are shortened. */
function showNotebook(notebook: Notebook, { first, count, maxBytes }: CellRange): string {
  const { cells, language } = notebook;
  const head = `[notebook with ${plural(cells.length, 'cell')}${language === null ? '' : `, ${language}`}]`;
  if (first > cells.length && cells.length > 0) {
    return `[the notebook has only ${plural(cells.length, 'cell')}: nothing at offset ${first}]`;
  }
  const shown: string[] = [head];
  let used = byteLength(head);
  let next = first;
  for (const cell of cells.slice(first - 1, first - 1 + count)) {
    const text = showCell(cell);
    used += byteLength(text) + 1;
    if (used > maxBytes && next > first) break;
    next += 1;
    shown.push(used > maxBytes ? cutCell(cell, text, maxBytes) : text);
    if (used > maxBytes) break;
  }
  if (next <= cells.length) {
    shown.push(`[up to cell ${next - 1} of ${cells.length}; read on with offset ${next}]`);
  }
  return [...shown, HOW_TO_EDIT].join('\n');
}

const HOW_TO_EDIT =
  '[Edit replaces text in a cell. With cell_id and without old_string it replaces the full cell, with edit_mode "insert" it makes one after that cell (cell_type: code, markdown, raw), with "delete" it removes the cell.]';

function cutCell({ number }: Cell, text: string, maxBytes: number): string {
  return `${cutToBytes(text, maxBytes)}\n[cell ${number} is cut: it has ${byteLength(text)} bytes; see the rest with Bash]`;
}

function showCell(cell: Cell): string {
  const { number, id, type, source, value } = cell;
  const runCount = value['execution_count'];
  const details = [
    `cell ${number}: ${type}`,
    ...(id === null ? [] : [`id ${id}`]),
    ...(typeof runCount === 'number' ? [`run ${runCount}`] : []),
  ];
  const outputs = Array.isArray(value['outputs']) ? value['outputs'] : [];
  const shown = outputs.slice(0, MAX_OUTPUTS).flatMap(showOutput);
  const hidden = outputs.length - MAX_OUTPUTS;
  const more = hidden > 0 ? [`[${plural(hidden, 'more output')} left out]`] : [];
  return [`[${details.join(', ')}]`, source.replace(/\n$/, ''), ...shown, ...more].join('\n');
}

function showOutput(output: JsonValue): readonly string[] {
  if (!isJsonObject(output)) return [];
  switch (output['output_type']) {
    case 'stream':
      return labelText('output', joinLines(output['text']) ?? '');
    case 'error':
      return labelText(
        `error: ${String(output['ename'])}: ${String(output['evalue'])}`,
        joinLines(addLineEnds(output['traceback'])) ?? '',
      );
    default:
      return showData(output['data']);
  }
}

/** Adds line ends to the lines of a traceback, which are stored without them. */
function addLineEnds(lines: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(lines) ? lines.map((line: JsonValue) => `${String(line)}\n`) : lines;
}

/** Shows the text that a cell displays. For images and other data, shows only the type and size. */
function showData(data: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(data)) return [];
  const text = joinLines(data['text/plain']) ?? joinLines(data['text/markdown']);
  const others = Object.keys(data).filter(
    (type) => type !== 'text/plain' && type !== 'text/markdown',
  );
  return [
    ...(text === null ? [] : labelText('output', text)),
    ...others.map((type) => `[output: ${type}, ${describeSize(data, type)}, left out]`),
  ];
}

function describeSize(data: JsonObject, type: string): string {
  const text = joinLines(data[type]);
  if (text === null) return plural(byteLength(JSON.stringify(data[type] ?? null)), 'byte');
  const isBinary = /^(?:image\/(?!svg)|audio|video|application\/pdf)/.test(type);
  return plural(isBinary ? Buffer.from(text, 'base64').length : byteLength(text), 'byte');
}

function labelText(label: string, text: string): readonly string[] {
  const plain = plainText(text).trimEnd();
  if (plain === '' && label === 'output') return [];
  const hidden = plain.length - MAX_OUTPUT_CHARACTERS;
  const half = MAX_OUTPUT_CHARACTERS / 2;
  const shown =
    hidden <= 0
      ? plain
      : `${plain.slice(0, half)}\n[… ${plural(hidden, 'character')} of output left out …]\n${plain.slice(-half)}`;
  return [
    `[${plainText(label).replaceAll('\n', ' ').slice(0, MAX_OUTPUT_CHARACTERS)}]`,
    ...(shown === '' ? [] : [shown]),
  ];
}
