import type { Tasks } from '../../../../api/index.ts';
import type { ContextPart } from '../../../../api/report/context.ts';
import type { TaskContext } from '../../../../api/tasks-context.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import { stderrNotice } from '../../stderr.ts';
import { printJson, printLines } from './print.ts';

interface ContextShow {
  readonly id: string;
  readonly turn: number | null;
  readonly json: boolean;
}

/** `muster tasks context`. */
export async function showContext(tasks: Tasks, { id, turn, json }: ContextShow): Promise<number> {
  for (const problem of tasks.problems(id)) stderrNotice(problem);
  const context = await tasks.context(id, turn);
  if (json) printJson(context);
  else printLines(...factLines(context), '', ...partLines(context));
  return 0;
}

function factLines(context: TaskContext): readonly string[] {
  const { task, turn, turns, model, tokens, bytes, counted, window, left } = context;
  const ofWindow =
    window === null || left === null
      ? 'not known: no provider that is configured has a model of that name'
      : `${window} tokens, ${left} left (${percent(left, window)})`;
  return [
    `task      ${exactLine(task)}`,
    `turn      ${turn} of ${turns}`,
    `model     ${exactLine(model)}`,
    `window    ${ofWindow}`,
    `counted   ${countedText(counted)}`,
    `estimate  ~${tokens} tokens, ${bytes} bytes`,
  ];
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
    exactLine(group === 'tools' ? name : `${group}: ${name}`),
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
