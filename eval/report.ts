import type { RunResult, Settings } from './results.ts';
import { median, wilsonInterval } from './statistics.ts';

/** What a report is made of. */
export interface ReportInput {
  readonly settings: Settings;
  readonly results: readonly RunResult[];
  /** The number of planned runs that have no result yet. */
  readonly missing: number;
  /** The tasks that could not run here, with the programs that they lack. */
  readonly skipped: readonly { readonly task: string; readonly programs: readonly string[] }[];
  readonly isSandboxed: boolean;
}

/** Renders the report of an evaluation as Markdown. The same results always give the same text. */
export function renderReport(input: ReportInput): string {
  const { settings, results, missing, skipped, isSandboxed } = input;
  const judged = results.filter(({ outcome }) => outcome === 'judged');
  const errors = results.filter(({ outcome }) => outcome === 'error');
  const unsolved = judged.filter(({ solved }) => !solved);
  return [
    `# Evaluation of ${settings.model}`,
    `Muster ${settings.version}, tasks ${settings.tasks}, ${judged.length} runs. The hidden checks ran ${isSandboxed ? 'in' : 'without'} a sandbox.`,
    missing === 0 ? null : `**Not complete: ${missing} planned runs have no result.**`,
    errors.length === 0 ? null : `**${errors.length} runs failed before they could be judged.**`,
    '## By form of tools and delegation',
    renderGroups(judged, ['tools', 'delegation'], ({ shape, delegation }) => [
      shape,
      delegation ? 'on' : 'off',
    ]),
    '## By language',
    renderGroups(judged, ['language'], ({ language }) => [language]),
    '## By kind of work',
    renderGroups(judged, ['kind'], ({ kind }) => [kind]),
    ...listSection(
      'Not solved',
      unsolved.map(
        ({ id, status, reason }) => `\`${id}\`: ${reason} (agent: ${status ?? 'killed'})`,
      ),
    ),
    ...listSection(
      'Failed',
      errors.map(({ id, reason }) => `\`${id}\`: ${reason}`),
    ),
    ...listSection(
      'Not run',
      skipped.map(({ task, programs }) => `\`${task}\`: needs ${programs.join(', ')}`),
    ),
  ]
    .filter((part) => part !== null)
    .map((part) => `${part}\n`)
    .join('\n');
}

function listSection(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return [
    `## ${title}`,
    lines
      .toSorted()
      .map((line) => `- ${line}`)
      .join('\n'),
  ];
}

const FIGURES = [
  'runs',
  'solved',
  '95 %',
  'turns',
  'subagents',
  'input',
  'output',
  'cached',
  'cost',
  'time',
];

function renderGroups(
  results: readonly RunResult[],
  columns: readonly string[],
  keyOf: (result: RunResult) => readonly string[],
): string {
  const groups = Map.groupBy(results, (result) => keyOf(result).join('\0'));
  const rows = [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, group]) => key.split('\0').concat(figures(group)));
  const total = [...columns.map((_, index) => (index === 0 ? 'all' : '')), ...figures(results)];
  return renderTable([...columns, ...FIGURES], rows.length > 1 ? [...rows, total] : rows);
}

/** The figures of a group: tokens, turns and time are medians, cost and subagents are sums. */
function figures(results: readonly RunResult[]): readonly string[] {
  const solved = results.filter((result) => result.solved).length;
  const [low, high] = wilsonInterval(solved, results.length);
  const medianOf = (read: (result: RunResult) => number) => median(results.map(read)) ?? 0;
  return [
    String(results.length),
    `${solved} (${percent(solved / Math.max(1, results.length))})`,
    `${percent(low)}–${percent(high)}`,
    number(medianOf(({ turns }) => turns)),
    number(results.reduce((sum, { subagents }) => sum + subagents, 0)),
    number(medianOf(({ input, cacheRead, cacheWrite }) => input + cacheRead + cacheWrite)),
    number(medianOf(({ output }) => output)),
    percent(cachedShare(results)),
    cost(results),
    `${medianOf(({ seconds }) => seconds).toFixed(1)} s`,
  ];
}

function cachedShare(results: readonly RunResult[]): number {
  const cached = results.reduce((sum, { cacheRead }) => sum + cacheRead, 0);
  const all = results.reduce(
    (sum, { input, cacheRead, cacheWrite }) => sum + input + cacheRead + cacheWrite,
    0,
  );
  return all === 0 ? 0 : cached / all;
}

function cost(results: readonly RunResult[]): string {
  const known = results.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  const sum = known.reduce((total, each) => total + each, 0);
  if (known.length === results.length) return `$${sum.toFixed(3)}`;
  return known.length === 0 ? 'unknown' : `at least $${sum.toFixed(3)}`;
}

/** Renders a share as a whole percentage. */
export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function number(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** Renders a table of Markdown. */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
