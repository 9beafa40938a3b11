import type { Message } from '../../protocol/message.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';
import type { Clock } from '../../base/clock.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import type { Cap } from '../limits/budget.ts';
import { formatLocalDay } from '../../base/local-time.ts';
import { createNotice } from '../../protocol/notice-text.ts';
import { roundAmount } from '../limits/limit-message.ts';

const DATE_NOTICE = /^<notice>It is (\d{4}-\d{2}-\d{2}) now\.<\/notice>$/;

/**
 * Adds the present date to a conversation that continues on a later day than the last one it was given. The
 * system prompt, which names the first day, must keep its bytes for the provider's cache.
 */
export function queueNewDate(
  { clock, today = () => formatLocalDay(clock.now()) }: Pick<EngineDeps, 'clock' | 'today'>,
  { journal, spec, state }: Pick<TaskRun, 'journal' | 'spec' | 'state'>,
): void {
  const date = today();
  const first = spec.date ?? formatLocalDay(state.createdAt);
  // A clock that was set back makes no new day.
  if (date === null || date <= first) return;
  const { messages, queued } = state.conversation;
  const known = findLatestDate([...messages, ...queued]);
  if (known !== undefined && date <= known) return;
  const input = createNotice(`date-${date}-turn-${state.turns + 1}`, `It is ${date} now.`);
  journal.record({ type: 'input.queued', input });
}

/**
 * Returns the newest date that a conversation was given after its start, or undefined if there is none or a
 * summary replaced it.
 */
function findLatestDate(
  items: readonly (Message | { readonly text: string })[],
): string | undefined {
  for (const item of items.toReversed()) {
    const texts = 'text' in item ? [item.text] : textsOf(item);
    const [date] = texts.flatMap((text) => DATE_NOTICE.exec(text)?.[1] ?? []).toReversed();
    if (date !== undefined) return date;
  }
  return undefined;
}

function textsOf({ role, content }: Message): readonly string[] {
  return role === 'user' ? content.map(({ text }) => text) : [];
}

/**
 * Returns the limits that a task is notified of, with the amount used: its own, and for the root those of the
 * tree.
 */
export function capsInUse(run: TaskRun, clock: Clock): readonly LimitHit[] {
  const { tree, state, spec, budget } = run;
  const { maxTurns } = spec.limits;
  const turns = state.turns - state.activation.turnsBefore;
  const seconds = Math.floor(workedMs(run, clock) / 1000);
  return [
    ...(maxTurns === null ? [] : [{ limit: 'max_turns', value: maxTurns, used: turns }]),
    ...budget.capUses,
    ...(tree.id === spec.id ? tree.budget.capUses : []),
    ...wallCaps(run).map(({ limit, value }) => ({ limit, value: value / 1000, used: seconds })),
  ];
}

/** Returns the limits on a task's working time in milliseconds: its own, and for the root that of the tree. */
export function wallCaps({ spec, tree }: TaskRun): readonly Cap[] {
  const { wallMs } = spec.limits;
  const ofTree = tree.id === spec.id ? tree.wallMs : null;
  return [
    ...(wallMs === null ? [] : [{ limit: 'task_wall_seconds', value: wallMs }]),
    ...(ofTree === null ? [] : [{ limit: 'tree_wall_seconds', value: ofTree }]),
  ];
}

/** Returns the milliseconds that a task has worked in its activation, including those under earlier processes. */
function workedMs({ state, workingSince }: TaskRun, clock: Clock): number {
  const here = workingSince === null ? 0 : clock.monotonic() - workingSince;
  return state.activation.workedMs + here;
}

/** The shares of a cap, in percent, at which a task is notified. */
const MARKS = [50, 80] as const;

interface BudgetNotice {
  /** Identifies the mark, the cap and the activation, so that each notice is sent once. */
  readonly id: string;
  readonly text: string;
}

/**
 * Returns the notices that are due: for each cap the highest mark that is passed, unless a notice about that
 * mark or a higher one was sent before.
 *
 * @param activation the number of the task's activation
 * @param sentIds the ids of all notices that the task ever received
 */
export function findDueNotices(
  uses: readonly LimitHit[],
  { activation, sentIds }: { readonly activation: number; readonly sentIds: ReadonlySet<string> },
): readonly BudgetNotice[] {
  return uses.flatMap(({ limit, value, used }) => {
    const mark = MARKS.findLast((each) => used * 100 >= value * each);
    if (mark === undefined) return [];
    const id = (percent: number): string => `budget-${activation}-${limit}-${percent}`;
    if (MARKS.some((each) => each >= mark && sentIds.has(id(each)))) return [];
    const advice = mark === 50 ? '' : ' Bring the task to its end.';
    return [
      {
        id: id(mark),
        text: `${mark} % of ${limit} = ${value} is used (${roundAmount(used)}).${advice}`,
      },
    ];
  });
}
