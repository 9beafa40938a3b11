import { sanitizeLine } from '../../base/terminal-text.ts';
import type { TaskContext } from './task-context.ts';
import type { ContextPart } from '../../report/request-context.ts';

/**
 * Describes the content of a request of a task, for a person. Each text from outside is one line.
 */
export function contextLines(context: TaskContext): readonly string[] {
  return [...factLines(context), '', ...partLines(context)];
}

function factLines(context: TaskContext): readonly string[] {
  const { task, turn, turns, model, tokens, bytes, counted } = context;
  return [
    `task      ${sanitizeLine(task)}`,
    `turn      ${turn} of ${turns}`,
    `model     ${sanitizeLine(model)}`,
    `window    ${windowText(context)}`,
    `counted   ${countedText(counted)}`,
    `estimate  ~${tokens} tokens, ${bytes} bytes`,
  ];
}

function windowText({ model, window, left }: TaskContext): string {
  if (window !== null && left !== null) {
    return `${window} tokens, ${left} left (${percent(left, window)})`;
  }
  return model.startsWith('offline/')
    ? 'none: the offline engine reads all that it is given'
    : 'not known: no provider that is configured has a model of that name';
}

function countedText(counted: TaskContext['counted']): string {
  if (counted === null) return 'nothing by the provider';
  const { total, input, cacheRead, cacheWrite } = counted;
  return `${total} tokens: ${input} new, ${cacheRead} from cache (${percent(cacheRead, total)}), ${cacheWrite} into it`;
}

const HEADER = ['part', 'texts', 'bytes', '~tokens', 'share', 'cached'] as const;

function partLines({ parts, tokens }: TaskContext): readonly string[] {
  const rows = [HEADER, ...parts.map((part) => cells(part, tokens))];
  const widths = HEADER.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map(([name, ...figures]) => {
    const aligned = figures.map((cell, at) => cell.padStart(widths[at + 1] ?? 0));
    return [(name ?? '').padEnd(widths[0] ?? 0), ...aligned].join('  ').trimEnd();
  });
}

function cells({ group, name, count, bytes, tokens, cached }: ContextPart, all: number) {
  return [
    sanitizeLine(group === 'tools' ? name : `${group}: ${name}`),
    String(count),
    String(bytes),
    String(tokens),
    percent(tokens, all),
    cached === null ? '' : percent(cached, tokens),
  ];
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '0 %' : `${Math.round((100 * part) / whole)} %`;
}
