import type { TaskSummary } from '../../../../api/index.ts';
import { shortTime } from '../../view/numbers.ts';
import { statusSign } from '../../view/status-sign.ts';
import type { Page } from './pages.ts';

/** Conversations that the page lists. */
const MOST = 20;

/** `tasks`: all that there are, the newest first. */
export function conversationsPage(
  tasks: readonly TaskSummary[],
  {
    cwd,
    current,
    now,
  }: { readonly cwd: string; readonly current: string | null; readonly now: number },
): Page {
  const all = tasks.filter(
    (task) => task.parent === null && task.cwd === cwd && task.source !== 'template',
  );
  if (all.length === 0) return { title: 'Conversations here', lines: ['none yet'] };
  const more = all.length - MOST;
  return {
    title: `Conversations here: ${all.length}`,
    lines: [
      ...all.slice(0, MOST).map((task) => line(task, { current, now })),
      ...(more > 0 ? [`and ${more} older: muster tasks list --all --here`] : []),
      '/resume ID goes on with one',
    ],
  };
}

function line(
  { id, status, description, created, ended }: TaskSummary,
  { current, now }: { readonly current: string | null; readonly now: number },
): string {
  const { sign } = statusSign({ status, asks: 0, activity: { kind: 'idle' } });
  const when = `${shortTime(Math.max(0, now - (ended ?? created)))} ago`;
  const isThis = id === current ? ' (this one)' : '';
  return `${sign} ${id.slice(0, 8)} ${when.padStart(10)}  ${status.padEnd(11)} ${description}${isThis}`;
}
