import { byteLength } from '../../base/text.ts';
import type { TaskEvent } from '../../protocol/event.ts';
import type { ToolOutput } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';

/** `ID#41`: an event of the task that names it; null: that is no such name. */
export function ownEventNamed(word: string, task: string): number | null {
  const [, id, seq] = /^([a-z0-9]*)#(\d{1,12})$/.exec(word) ?? [];
  if (id === undefined || seq === undefined || !task.startsWith(id)) return null;
  return Number(seq);
}

/** What a call came to, from `offset` on (UTF-16 units), at most so many bytes. */
export function readOwnResult(
  store: Pick<TaskStore, 'scan'>,
  task: string,
  { seq, offset, most }: { readonly seq: number; readonly offset: number; readonly most: number },
): ToolOutput {
  let found: TaskEvent | undefined;
  store.scan(task, (event) => {
    if (event.seq === seq) found = event;
  });
  const name = `${task}#${seq}`;
  if (found?.type !== 'call.ended' && found?.type !== 'call.refused') {
    const text = `TaskOutput: task_id: ${name} is no result of a call of yours`;
    return { text, error: 'NOT_FOUND' };
  }
  const { text: whole, tool } = found;
  if (offset > whole.length) {
    const text = `TaskOutput: offset: ${offset} is beyond the end; the result has ${whole.length} characters`;
    return { text, error: 'INVALID_PARAM' };
  }
  const text = pageOf(whole.slice(offset), most);
  const next = offset + text.length;
  const head = `Result of ${tool}, as it was then:`;
  if (next >= whole.length) return { text: `${head}\n${text}` };
  const rest = `[Cut at ${next} of ${whole.length} characters. The rest: TaskOutput(task_id: "${name}", offset: ${next})]`;
  return { text: `${head}\n${text}\n${rest}` };
}

/** The beginning of a text within so many bytes: whole lines where that leaves half of it. */
function pageOf(text: string, most: number): string {
  if (text.length <= most && byteLength(text) <= most) return text;
  let length = Math.min(text.length, most);
  const bytes = byteLength(text.slice(0, length));
  if (bytes > most) length = Math.max(2, Math.floor((length * most) / bytes / 2));
  const line = text.lastIndexOf('\n', length - 1) + 1;
  if (line > length / 2) return text.slice(0, line);
  const splitsPair = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, splitsPair ? length + 1 : length);
}
