import type { RewindOutcome, RewindPlan, RewindRequest, Tasks } from '../../../../api/index.ts';
import { rewindLines } from '../../../../report/rewind-lines.ts';
import { UsageError } from '../../../../base/errors.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';
import { displayPath } from '../../../../sys/paths.ts';
import { terminalConfirm } from '../../confirm.ts';
import { printJson, printLines } from './print.ts';

interface RewindCommand {
  readonly id: string;
  readonly wish: RewindRequest;
  readonly yes: boolean;
  readonly json: boolean;
}

/**
 * `muster tasks rewind`: shows what it would do, asks, and does it. 1: something stands against it, the
 * person said no, or a file was left since somebody changed it meanwhile.
 */
export async function rewindTask(tasks: Tasks, command: RewindCommand): Promise<number> {
  const { id, wish, yes, json } = command;
  const plan = await tasks.planRewind(id, wish);
  const { refused, isThere } = plan;
  if (!json) printLines(...rewindLines(plan, process.cwd()));
  if (refused.length > 0 || isThere) {
    if (json) printJson(asJson(plan, null));
    return refused.length > 0 ? 1 : 0;
  }
  if (!yes) {
    if (json) printJson(asJson(plan, null));
    if (json || !(await isAgreed())) return notDone({ json });
  }
  const outcome = await tasks.rewind(plan);
  // What was cut short is done; now what was asked for.
  if (plan.ends !== null) return rewindTask(tasks, command);
  if (json) printJson(asJson(plan, outcome));
  else printLines(...outcomeLines(outcome));
  return outcome.left.length === 0 ? 0 : 1;
}

async function isAgreed(): Promise<boolean> {
  const confirm = terminalConfirm();
  if (confirm === null) {
    throw new UsageError('there is no terminal to ask on; to do what is shown, add --yes');
  }
  return confirm('Do this? [y/N] ');
}

function notDone({ json }: { readonly json: boolean }): number {
  if (json) throw new UsageError('nothing was done: to do what is shown, add --yes');
  printLines('Nothing was changed.');
  return 1;
}

function asJson(plan: RewindPlan, outcome: RewindOutcome | null) {
  const { roots: _, logs: _logs, wish: _wish, toTime: _time, isThere, ...shown } = plan;
  return { ...shown, isThere, isDone: outcome !== null, left: outcome?.left ?? [] };
}

function outcomeLines({ plan, left }: RewindOutcome): readonly string[] {
  const { task, to, undoes, files } = plan;
  const back = undoes === null ? `; back again: muster tasks rewind ${task} --undo` : '';
  return [
    `task ${task} is at event ${to}: ${plural(files.length - left.length, 'file')} put back`,
    ...left.map(({ path, because }) => `  not ${shownPath(path)}: ${exactLine(because)}`),
    `  on from there: muster tasks resume ${task}${back}`,
  ];
}

function shownPath(path: string): string {
  return exactLine(displayPath(path, process.cwd()));
}
