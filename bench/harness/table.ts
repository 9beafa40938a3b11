import { unreachable } from '../../src/base/errors.ts';
import { judge, type Bound, type Figure, type Unit } from './figure.ts';
import { spreadOf } from './statistics.ts';

const HEADINGS = ['what', 'median (min–max, n)', 'floor beside it', 'comes to', 'bound', ''];

/** The figures as text, a line each, with their notes below. */
export function renderTable(figures: readonly Figure[]): string {
  const lines = [HEADINGS, ...figures.map(cells)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const [head = '', ...rest] = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const body = rest.flatMap((line, index) =>
    [line].concat((figures[index]?.notes ?? []).map((note) => `    ${note}`)),
  );
  return [head, '-'.repeat(head.length), ...body, ''].join('\n');
}

function cells(figure: Figure): readonly string[] {
  const { what, unit, samples, floor, bound } = figure;
  const verdict = judge(figure);
  return [
    what,
    spreadText(samples, unit),
    floor === undefined ? '–' : `${spreadText(floor.samples, unit)} ${floor.what}`,
    verdict === null || bound === undefined ? '–' : valueText(verdict.value, bound, unit),
    bound === undefined ? 'none' : boundText(bound, unit),
    verdict === null ? '' : verdict.held ? 'held' : 'MISSED',
  ];
}

function spreadText(samples: readonly number[], unit: Unit): string {
  const { median, min, max, count } = spreadOf(samples);
  const middle = amount(median, unit);
  return count === 1 ? middle : `${middle} (${number(min)}–${number(max)}, ${count})`;
}

function valueText(value: number, bound: Bound, unit: Unit): string {
  switch (bound.kind) {
    case 'ratio':
      return `${value.toFixed(2)} ×`;
    case 'above':
      return `${value < 0 ? '−' : '+'} ${amount(Math.abs(value), unit)}`;
    case 'most':
    case 'least':
      return amount(value, unit);
    default:
      return unreachable(bound);
  }
}

function boundText(bound: Bound, unit: Unit): string {
  switch (bound.kind) {
    case 'ratio':
      return `≤ ${bound.most} ×${goalText(bound, (value) => `${value} ×`)}`;
    case 'above':
      return `≤ floor + ${amount(bound.most, unit)}${goalText(bound, (value) => amount(value, unit))}`;
    case 'most':
      return `≤ ${amount(bound.most, unit)}${goalText(bound, (value) => amount(value, unit))}`;
    case 'least':
      return `≥ ${amount(bound.least, unit)}`;
    default:
      return unreachable(bound);
  }
}

function goalText(
  { most, goal }: { readonly most: number; readonly goal: number },
  show: (value: number) => string,
): string {
  return goal === most ? '' : `, in the end ${show(goal)}`;
}

function amount(value: number, unit: Unit): string {
  return `${number(value)} ${unit}`;
}

/** Three digits that count; whole numbers from 100 on. */
function number(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) {
    return Math.round(value).toLocaleString('en');
  }
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}
