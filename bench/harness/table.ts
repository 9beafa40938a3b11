import { unreachable } from '../../src/base/errors.ts';
import {
  checkBound,
  compareWithBaseline,
  type Bound,
  type Measurement,
  type Unit,
} from './measurement.ts';
import { median, summarize, type RatioEstimate } from './statistics.ts';

interface Column {
  readonly heading: string;
  text(measurement: Measurement): string;
}

const COLUMNS: readonly Column[] = [
  { heading: 'measurement', text: ({ title }) => title },
  { heading: 'median (min–max, n)', text: ({ samples, unit }) => summaryText(samples, unit) },
  { heading: 'reference', text: referenceText },
  { heading: 'result', text: resultText },
  {
    heading: 'bound',
    text: ({ bound, unit }) => (bound === undefined ? 'none' : boundText(bound, unit)),
  },
  { heading: '', text: checkText },
];

const BASELINE_COLUMNS: readonly Column[] = [
  {
    heading: 'baseline build',
    text: ({ baseline = [], unit }) => (baseline.length === 0 ? '–' : summaryText(baseline, unit)),
  },
  {
    heading: 'new / baseline (95 % interval)',
    text(measurement) {
      const comparison = compareWithBaseline(measurement);
      return comparison === null ? '–' : comparisonText(comparison);
    },
  },
];

/** Renders a line for each measurement, with its notes below. */
export function renderTable(measurements: readonly Measurement[]): string {
  const hasBaseline = measurements.some(({ baseline = [] }) => baseline.length > 0);
  const columns = hasBaseline
    ? [...COLUMNS.slice(0, 2), ...BASELINE_COLUMNS, ...COLUMNS.slice(2)]
    : COLUMNS;
  const lines = [
    columns.map(({ heading }) => heading),
    ...measurements.map((measurement) => columns.map((column) => column.text(measurement))),
  ];
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => line[index]?.length ?? 0)),
  );
  const [head = '', ...rest] = lines.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const body = rest.flatMap((line, index) =>
    [line].concat((measurements[index]?.notes ?? []).map((note) => `    ${note}`)),
  );
  return [head, '-'.repeat(head.length), ...body, ''].join('\n');
}

function summaryText(samples: readonly number[], unit: Unit): string {
  const { median: middle, min, max, count } = summarize(samples);
  const text = amountText(middle, unit);
  return count === 1 ? text : `${text} (${numberText(min)}–${numberText(max)}, ${count})`;
}

function referenceText({ reference, unit }: Measurement): string {
  return reference === undefined
    ? '–'
    : `${summaryText(reference.samples, unit)} ${reference.title}`;
}

/** The value that the bound limits; without a bound, the ratio to the reference. */
function resultText(measurement: Measurement): string {
  const { samples, reference, bound, unit } = measurement;
  const check = checkBound(measurement);
  if (check !== null && bound !== undefined) return boundedText(check.value, bound, unit);
  if (reference === undefined) return '–';
  return ratioText(median(samples) / median(reference.samples));
}

function checkText(measurement: Measurement): string {
  const check = checkBound(measurement);
  if (check === null) return '';
  return check.isMet ? 'met' : 'MISSED';
}

/** All quantities that builds are compared by are costs: a ratio above 1 is worse. */
function comparisonText({ ratio, interval }: RatioEstimate): string {
  if (interval === null) return `${ratioText(ratio)} (too few rounds for an interval)`;
  const [low, high] = interval;
  const meaning = low > 1 ? 'worse' : high < 1 ? 'better' : 'no clear difference';
  return `${ratioText(ratio)} (${low.toFixed(2)}–${high.toFixed(2)}) ${meaning}`;
}

function ratioText(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
}

function boundedText(value: number, bound: Bound, unit: Unit): string {
  switch (bound.kind) {
    case 'ratio':
      return ratioText(value);
    case 'difference':
      return `${value < 0 ? '−' : '+'} ${amountText(Math.abs(value), unit)}`;
    case 'max':
    case 'min':
      return amountText(value, unit);
    default:
      return unreachable(bound);
  }
}

function boundText(bound: Bound, unit: Unit): string {
  switch (bound.kind) {
    case 'ratio':
      return `≤ ${bound.max} ×${goalText(bound, (value) => `${value} ×`)}`;
    case 'difference':
      return `≤ reference + ${amountText(bound.max, unit)}${goalText(bound, (value) => amountText(value, unit))}`;
    case 'max':
      return `≤ ${amountText(bound.max, unit)}${goalText(bound, (value) => amountText(value, unit))}`;
    case 'min':
      return `≥ ${amountText(bound.min, unit)}`;
    default:
      return unreachable(bound);
  }
}

function goalText(
  { max, goal }: { readonly max: number; readonly goal: number },
  show: (value: number) => string,
): string {
  return goal === max ? '' : `, goal ${show(goal)}`;
}

function amountText(value: number, unit: Unit): string {
  return `${numberText(value)} ${unit}`;
}

/** Three significant digits; whole numbers from 100 on. */
function numberText(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 100) {
    return Math.round(value).toLocaleString('en');
  }
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}
