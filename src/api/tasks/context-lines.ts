import { sanitizeLine } from '../../base/terminal-text.ts';
import type { TaskContext } from './task-context.ts';
import type { ContextPart } from '../../report/request-context.ts';

/**
 * Describes the content of a request of a task, for a person. Texts from outside Muster are reduced to one line each.
 */
export function contextLines(context: TaskContext): readonly string[] {
  return [...formatSummary(context), '', ...formatParts(context)];
}

function formatSummary(context: TaskContext): readonly string[] {
  const { task, turn, turns, model, tokens, bytes, counted } = context;
  return [
    `task      ${sanitizeLine(task)}`,
    `turn      ${turn} of ${turns}`,
    `model     ${sanitizeLine(model)}`,
    `window    ${formatWindow(context)}`,
    `counted   ${formatCount(counted)}`,
    `estimate  ~${tokens} tokens, ${bytes} bytes`,
  ];
}

function formatWindow({ model, window, left }: TaskContext): string {
  if (window !== null && left !== null) {
    return `${window} tokens, ${left} left (${formatPercent(left, window)})`;
  }
  return model.startsWith('offline/')
    ? 'none: the offline engine has no limit'
    : 'unknown: no configured provider has a model of that name';
}

function formatCount(counted: TaskContext['counted']): string {
  if (counted === null) return 'nothing by the provider';
  const { total, input, cacheRead, cacheWrite } = counted;
  return `${total} tokens: ${input} new, ${cacheRead} from cache (${formatPercent(cacheRead, total)}), ${cacheWrite} into it`;
}

const HEADER = ['part', 'texts', 'bytes', '~tokens', 'share', 'cached'] as const;

function formatParts({ parts, tokens }: TaskContext): readonly string[] {
  const rows = [HEADER, ...parts.map((part) => formatCells(part, tokens))];
  const widths = HEADER.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map(([name, ...figures]) => {
    const aligned = figures.map((cell, at) => cell.padStart(widths[at + 1] ?? 0));
    return [(name ?? '').padEnd(widths[0] ?? 0), ...aligned].join('  ').trimEnd();
  });
}

function formatCells({ group, name, count, bytes, tokens, cached }: ContextPart, all: number) {
  return [
    sanitizeLine(group === 'tools' ? name : `${group}: ${name}`),
    String(count),
    String(bytes),
    String(tokens),
    formatPercent(tokens, all),
    cached === null ? '' : formatPercent(cached, tokens),
  ];
}

function formatPercent(part: number, total: number): string {
  return total === 0 ? '0 %' : `${Math.round((100 * part) / total)} %`;
}
