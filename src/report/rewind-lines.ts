import { formatLocalMinute } from '../base/local-time.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { plural, truncate } from '../base/text.ts';
import type { RewindPlan } from '../engine/rewind/plan-rewind.ts';
import { displayPath } from '../sys/files/paths.ts';

const SHOWN_COMMANDS = 10;
const SHOWN_COMMAND = 100;

/**
 * Describes what a rewind would do, for a person. Each text from outside is one line. Paths are relative to `cwd`.
 */
export function rewindLines(plan: RewindPlan, cwd: string): readonly string[] {
  const { task, isThere, ends, refused, to } = plan;
  if (ends !== null) {
    return [
      `the rewind of task ${task} to event ${to} was cut short (event ${ends}); this ends it:`,
      ...fileLines(plan, cwd),
    ];
  }
  if (isThere) return [`task ${task} is at event ${to} already: nothing to do`];
  const lines = [...headLines(plan), ...fileLines(plan, cwd), ...commandLines(plan)];
  if (refused.length === 0) return lines;
  return [
    ...lines,
    'not done, and nothing touched, since this stands against it:',
    ...refused.map(({ path, because }) => `  ${shownPath(path, cwd)}: ${sanitizeLine(because)}`),
  ];
}

function headLines({
  task,
  agent,
  wish,
  to,
  toTime,
  undoes,
  before,
  after,
  tasks,
  dropped,
}: RewindPlan): readonly string[] {
  const asked =
    wish === 'undo' || wish.to === to ? '' : ` (the conversation is not whole at event ${wish.to})`;
  const why = undoes === null ? asked : ` (before the rewind of event ${undoes})`;
  return [
    `task ${task} (${sanitizeLine(agent)}) goes back to event ${to} of ${formatLocalMinute(toTime)}${why}`,
    `  conversation: ${plural(before.messages, 'message')} → ${after.messages}, ${plural(before.turns, 'turn')} → ${after.turns}, ${before.end ?? 'no end'} → ${after.end ?? 'no end'}`,
    ...(tasks.length === 0 ? [] : [`  tasks begun since leave it: ${tasks.join(', ')}`]),
    ...(dropped.length === 0 ? [] : [`  tasks at work then are left: ${dropped.join(', ')}`]),
  ];
}

function fileLines({ files }: RewindPlan, cwd: string): readonly string[] {
  if (files.length === 0) return ['  no file changes'];
  return files.map(({ path, from, to }) => {
    const shown = shownPath(path, cwd);
    if (to === null) return `  remove    ${shown}`;
    return from === null ? `  restore   ${shown}` : `  put back  ${shown}`;
  });
}

function commandLines({ commands, unknownCalls }: RewindPlan): readonly string[] {
  const shown = commands
    .slice(0, SHOWN_COMMANDS)
    .map((command) => `  ${truncate(sanitizeLine(command), SHOWN_COMMAND)}`);
  const more = commands.length - shown.length;
  return [
    ...(commands.length === 0
      ? []
      : [`not put back is what ${plural(commands.length, 'command')} changed that ran since:`]),
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(unknownCalls === 0
      ? []
      : [`not put back is what ${plural(unknownCalls, 'call')} did whose outcome is unknown`]),
  ];
}

function shownPath(path: string, cwd: string): string {
  return sanitizeLine(displayPath(path, cwd));
}
