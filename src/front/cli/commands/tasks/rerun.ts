import type { Tasks } from '../../../../api/index.ts';
import { plural } from '../../../../base/text.ts';
import { printJson, printLines } from './print.ts';

interface RerunQuery {
  readonly id: string;
  readonly json: boolean;
}

/** `muster tasks rerun`. 1: it would go another way somewhere, or some log can't be read. */
export async function rerunTask(tasks: Tasks, { id, json }: RerunQuery): Promise<number> {
  const { tasks: reruns, lost } = await tasks.rerun(id);
  const isSame = lost.length === 0 && reruns.every(({ difference }) => difference === null);
  if (json) {
    printJson({ identical: isSame, tasks: reruns, lost });
    return isSame ? 0 : 1;
  }
  for (const { task, agent, events, difference } of reruns) {
    if (difference === null) {
      printLines(`${task}  ${agent}: ${plural(events, 'event')}, identical`);
      continue;
    }
    const { seq, type, lines } = difference;
    printLines(`${task}  ${agent}: differs at event ${seq} of ${events} (${type ?? 'none'})`);
    printLines(...lines.map((line) => `    ${line}`));
  }
  for (const { task, because } of lost) printLines(`${task}  not rerun: ${because}`);
  return isSame ? 0 : 1;
}
