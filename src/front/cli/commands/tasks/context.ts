import type { Tasks } from '../../../../api/index.ts';
import { contextLines } from '../../../../api/tasks/context-lines.ts';
import { printJson, printLines } from './print.ts';

interface ContextShow {
  readonly id: string;
  readonly turn: number | null;
  readonly json: boolean;
}

/** `muster tasks context`. */
export async function showContext(tasks: Tasks, { id, turn, json }: ContextShow): Promise<number> {
  const context = await tasks.context(id, turn);
  if (json) printJson(context);
  else printLines(...contextLines(context));
  return 0;
}
