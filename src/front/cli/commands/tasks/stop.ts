import type { Tasks } from '../../../../api/index.ts';
import { printJson, printLines } from './print.ts';

interface TaskStop {
  readonly id: string;
  readonly because: string | null;
  readonly json: boolean;
}

/** `muster tasks stop`: ends when the task has. One that had ended before is no error. */
export async function stopTask(tasks: Tasks, { id, because, json }: TaskStop): Promise<number> {
  const outcome = await tasks.stop(id, because ?? 'the user stopped it');
  const { status, end } = outcome.state;
  if (json) {
    printJson({
      task_id: outcome.id,
      had_ended: outcome.hadEnded,
      status,
      ended_by: end?.by ?? null,
      because: end?.because ?? null,
    });
    return 0;
  }
  const had = outcome.hadEnded ? ' had ended before' : '';
  printLines(`task ${outcome.id}${had}: ${status}: ${end?.because ?? ''}`);
  return 0;
}

/** `muster tasks background`. */
export async function sendToBackground(
  tasks: Tasks,
  { id, json }: { readonly id: string; readonly json: boolean },
): Promise<number> {
  const told = await tasks.detach(id);
  if (json) printJson({ task_id: told.id, pid: told.pid, text: told.text });
  else printLines(told.text);
  return 0;
}
