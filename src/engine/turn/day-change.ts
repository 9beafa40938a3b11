import { formatLocalDay } from '../../base/local-time.ts';
import type { Message } from '../../protocol/message.ts';
import type { EngineDeps } from '../task/deps.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import type { TaskRun } from '../task/task-run.ts';

const NOTICE = /^<notice>It is (\d{4}-\d{2}-\d{2}) now\.<\/notice>$/;

/**
 * Adds the date to the end of a conversation that goes on after the day it knows of: its system prompt, which
 * names the day of its beginning, must stay the same bytes for the provider's cache.
 */
export function queueNewDate(
  { clock, today = () => formatLocalDay(clock.now()) }: Pick<EngineDeps, 'clock' | 'today'>,
  { journal, spec, state }: Pick<TaskRun, 'journal' | 'spec' | 'state'>,
): void {
  const date = today();
  const first = spec.date ?? formatLocalDay(state.createdAt);
  // A clock that is set back makes no new day.
  if (date === null || date <= first) return;
  const { messages, queued } = state.conversation;
  const known = latestDate([...messages, ...queued]);
  if (known !== undefined && date <= known) return;
  const input = createNotice(`date-${date}-turn-${state.turns + 1}`, `It is ${date} now.`);
  journal.record({ type: 'input.queued', input });
}

/** The newest date that a conversation was given after its beginning; undefined: none, or it was summarized away. */
function latestDate(items: readonly (Message | { readonly text: string })[]): string | undefined {
  for (const item of items.toReversed()) {
    const texts = 'text' in item ? [item.text] : textsOf(item);
    const [date] = texts.flatMap((text) => NOTICE.exec(text)?.[1] ?? []).toReversed();
    if (date !== undefined) return date;
  }
  return undefined;
}

function textsOf({ role, content }: Message): readonly string[] {
  return role === 'user' ? content.map(({ text }) => text) : [];
}
