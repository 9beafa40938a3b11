import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { byteLength, plural } from '../../base/text.ts';
import { plainText } from '../../sys/plain-text.ts';
import { cutAt } from '../shared/output.ts';
import { textOf, type Cell, type Notebook } from './notebook.ts';

/** Of one output so many characters are shown. */
const SHOWN_OUTPUT = 2000;
/** Of one cell so many outputs. */
const MOST_OUTPUTS = 20;

export interface CellRange {
  /** Number of the first cell, from 1. */
  readonly first: number;
  readonly count: number;
  /** For all that is shown. */
  readonly maxBytes: number;
}

/** Cells as text, each with its number, type and id above its source; outputs are shortened. */
export function showNotebook(notebook: Notebook, { first, count, maxBytes }: CellRange): string {
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
  '[Edit replaces text in a cell. With cell_id and without old_string it replaces the whole cell, with edit_mode "insert" it makes one behind that cell (cell_type: code, markdown, raw), with "delete" it removes the cell.]';

function cutCell({ number }: Cell, text: string, maxBytes: number): string {
  return `${cutAt(text, maxBytes)}\n[cell ${number} is cut: it has ${byteLength(text)} bytes; see the rest with Bash]`;
}

function showCell(cell: Cell): string {
  const { number, id, type, source, value } = cell;
  const runs = value['execution_count'];
  const facts = [
    `cell ${number}: ${type}`,
    ...(id === null ? [] : [`id ${id}`]),
    ...(typeof runs === 'number' ? [`run ${runs}`] : []),
  ];
  const outputs = Array.isArray(value['outputs']) ? value['outputs'] : [];
  const shown = outputs.slice(0, MOST_OUTPUTS).flatMap(showOutput);
  const left = outputs.length - MOST_OUTPUTS;
  const more = left > 0 ? [`[${plural(left, 'more output')} left out]`] : [];
  return [`[${facts.join(', ')}]`, source.replace(/\n$/, ''), ...shown, ...more].join('\n');
}

function showOutput(output: JsonValue): readonly string[] {
  if (!isJsonObject(output)) return [];
  switch (output['output_type']) {
    case 'stream':
      return labelled('output', textOf(output['text']) ?? '');
    case 'error':
      return labelled(
        `error: ${String(output['ename'])}: ${String(output['evalue'])}`,
        textOf(withEnds(output['traceback'])) ?? '',
      );
    default:
      return showData(output['data']);
  }
}

/** The lines of a traceback have no ends. */
function withEnds(lines: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(lines) ? lines.map((line: JsonValue) => `${String(line)}\n`) : lines;
}

/** What a cell displays, as text where there is some; images and the like are only named. */
function showData(data: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(data)) return [];
  const text = textOf(data['text/plain']) ?? textOf(data['text/markdown']);
  const others = Object.keys(data).filter(
    (type) => type !== 'text/plain' && type !== 'text/markdown',
  );
  return [
    ...(text === null ? [] : labelled('output', text)),
    ...others.map((type) => `[output: ${type}, ${sizeOf(data, type)}, left out]`),
  ];
}

function sizeOf(data: JsonObject, type: string): string {
  const text = textOf(data[type]);
  if (text === null) return plural(byteLength(JSON.stringify(data[type] ?? null)), 'byte');
  const isBinary = /^(?:image\/(?!svg)|audio|video|application\/pdf)/.test(type);
  return plural(isBinary ? Buffer.from(text, 'base64').length : byteLength(text), 'byte');
}

function labelled(label: string, text: string): readonly string[] {
  const plain = plainText(text).trimEnd();
  if (plain === '' && label === 'output') return [];
  const left = plain.length - SHOWN_OUTPUT;
  const half = SHOWN_OUTPUT / 2;
  const shown =
    left <= 0
      ? plain
      : `${plain.slice(0, half)}\n[… ${plural(left, 'character')} of output left out …]\n${plain.slice(-half)}`;
  return [
    `[${plainText(label).replaceAll('\n', ' ').slice(0, SHOWN_OUTPUT)}]`,
    ...(shown === '' ? [] : [shown]),
  ];
}
