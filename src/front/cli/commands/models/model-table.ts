import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { truncate } from '../../../../base/text.ts';
import type { ListedModel } from '../../../../protocol/listed-model.ts';
import { EFFORTS } from '../../../../protocol/model.ts';

/** The width of the table. Only an id can make a line longer, since it is meant to be copied. */
const WIDTH = 100;
const GAP = '  ';
const UNKNOWN = '-';

interface Column {
  readonly title: string;
  readonly isNumber?: true;
  readonly cell: (model: ListedModel) => string;
}

const LOADED: Column = { title: 'LOADED', cell: ({ loaded }) => flagText(loaded) };
const COLUMNS: readonly Column[] = [
  { title: 'CONTEXT', isNumber: true, cell: ({ contextWindow }) => tokensText(contextWindow) },
  { title: 'OUTPUT', isNumber: true, cell: ({ outputLimit }) => tokensText(outputLimit) },
  { title: '$ IN/OUT', isNumber: true, cell: priceText },
  { title: 'TOOLS', cell: ({ tools }) => flagText(tools) },
  { title: 'IMAGES', cell: ({ images }) => flagText(images) },
  { title: 'PDF', cell: ({ pdf }) => flagText(pdf) },
  { title: 'REASONING', cell: reasoningText },
];

/**
 * Lays out models as a table that is at most 100 columns wide. A fact that is not known is a dash. An id that is too
 * long for its column has a line of its own.
 */
export function modelTable(models: readonly ListedModel[]): string {
  if (models.length === 0) return '';
  const isLocal = models.some(({ loaded }) => loaded !== null);
  const shown = isLocal ? [LOADED, ...COLUMNS] : COLUMNS;
  const rows = models.map((model) => shown.map(({ cell }) => cell(model)));
  const widths = shown.map(({ title }, index) =>
    Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const others = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const ids = models.map(({ id }) => sanitizeLine(id));
  const fitting = ids.filter((id) => id.length <= WIDTH - others);
  const idWidth = Math.max('MODEL'.length, ...fitting.map((id) => id.length));
  const line = (id: string, cells: readonly string[]): string => {
    const padded = cells.map((cell, index) =>
      shown[index]?.isNumber === true
        ? cell.padStart(widths[index] ?? 0)
        : cell.padEnd(widths[index] ?? 0),
    );
    const start = id.length > idWidth ? `${id}\n${' '.repeat(idWidth)}` : id.padEnd(idWidth);
    return `${[start, ...padded].join(GAP).trimEnd()}\n`;
  };
  const titles = shown.map(({ title }) => title);
  return [line('MODEL', titles), ...rows.map((row, index) => line(ids[index] ?? '', row))].join('');
}

function flagText(flag: boolean | null): string {
  if (flag === null) return UNKNOWN;
  return flag ? 'yes' : 'no';
}

/** Returns a number of tokens as `512`, `4.1k`, `131k` or `1M`. */
function tokensText(tokens: number | null): string {
  if (tokens === null) return UNKNOWN;
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${shorten(tokens / 1000)}k`;
  return `${shorten(tokens / 1_000_000)}M`;
}

/** Returns a number with one decimal if it is below ten, and with none otherwise. */
function shorten(value: number): string {
  return value < 9.95 ? value.toFixed(1).replace('.0', '') : value.toFixed(0);
}

/** Returns the prices of a million tokens of input and output. */
function priceText({ price }: ListedModel): string {
  if (price === null) return UNKNOWN;
  const { input, output } = price;
  return input === 0 && output === 0 ? 'free' : `${rateText(input)}/${rateText(output)}`;
}

function rateText(rate: number): string {
  if (rate > 0 && rate < 0.001) return '<0.001';
  return String(Number(rate.toPrecision(3)));
}

const MAX_REASONING_LENGTH = 20;

/** Returns the efforts of the reasoning of a model, or whether it can reason. */
function reasoningText({ reasoning, efforts }: ListedModel): string {
  if (efforts === null || reasoning === false) return flagText(reasoning);
  const text = sanitizeLine(effortsText(efforts));
  return text.length > MAX_REASONING_LENGTH ? `${truncate(text, MAX_REASONING_LENGTH - 1)}…` : text;
}

/** Lists efforts from the least one. Three or more that follow each other are a range, such as `low-high`. */
function effortsText(efforts: readonly string[]): string {
  const known = EFFORTS.flatMap((effort, index) => (efforts.includes(effort) ? [index] : []));
  const parts: string[] = [];
  for (let at = 0; at < known.length;) {
    const first = known[at] ?? 0;
    let end = at;
    while (known[end + 1] === (known[end] ?? 0) + 1) end += 1;
    const run = EFFORTS.slice(first, (known[end] ?? first) + 1);
    parts.push(...(run.length >= 3 ? [`${run[0]}-${run.at(-1)}`] : run));
    at = end + 1;
  }
  const others = efforts.filter((effort) => !EFFORTS.some((one) => one === effort));
  return [...others, ...parts].join(',');
}
