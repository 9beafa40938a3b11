import { formatLocalMinute } from '../base/local-time.ts';
import { sanitizeLine } from '../base/terminal-text.ts';
import { plural, truncate } from '../base/text.ts';
import type { RewindPlan } from '../engine/rewind/plan-rewind.ts';
import { displayPath } from '../sys/files/paths.ts';

const MAX_COMMANDS = 10;
const MAX_LEFT = 20;
const MAX_COMMAND_LENGTH = 100;

/**
 * Describes the effects of a rewind for a person. Line ends in quoted texts are escaped. Paths are relative to `cwd`.
 */
export function describeRewind(plan: RewindPlan, cwd: string): readonly string[] {
  const { task, isThere, ends, refused, to } = plan;
  if (ends !== null) {
    return [
      `the rewind of task ${task} to event ${to} was interrupted (event ${ends}); this completes it:`,
      ...describeFiles(plan, cwd),
    ];
  }
  if (isThere) return [`task ${task} is already at event ${to}: nothing to do`];
  const files =
    plan.only === 'conversation' ? ['  files: they stay as they are'] : describeFiles(plan, cwd);
  return [
    ...describeHead(plan),
    ...files,
    ...describeLeft(plan, cwd),
    ...describeCommands(plan),
    ...describeRefused(refused, cwd),
  ];
}

/**
 * Describes the effects of an undo or a redo of a whole conversation to the user who is in it, without the numbers of
 * events. Line ends in quoted texts are escaped. Paths are relative to `cwd`.
 */
export function describeUndo(plan: RewindPlan, cwd: string): readonly string[] {
  const { only, ends, refused, before, after, tasks, dropped } = plan;
  if (ends !== null) {
    return ['the last one was interrupted; this completes it:', ...describeFiles(plan, cwd)];
  }
  const turns = after.turns - before.turns;
  const conversation =
    only === 'files' || (turns === 0 && before.messages === after.messages)
      ? 'it stays as it is'
      : turns < 0
        ? `${plural(-turns, 'answer')} taken back`
        : `${plural(turns, 'answer')} brought back`;
  const removed = tasks.length + dropped.length;
  const files =
    only === 'conversation' ? ['  files: they stay as they are'] : describeFiles(plan, cwd);
  return [
    `  conversation: ${conversation}`,
    ...(removed === 0 ? [] : [`  ${plural(removed, 'task')} will not be part of it`]),
    ...files,
    ...describeLeft(plan, cwd),
    ...describeCommands(plan),
    ...describeRefused(refused, cwd),
  ];
}

/** Names the changes by commands that stay. */
function describeLeft({ left }: RewindPlan, cwd: string): readonly string[] {
  if (left.length === 0) return [];
  const shown = left
    .slice(0, MAX_LEFT)
    .map(({ path, because }) => `  ${formatPath(path, cwd)} ${sanitizeLine(because)}`);
  const more = left.length - shown.length;
  return ['not put back:', ...shown, ...(more > 0 ? [`  and ${more} more`] : [])];
}

function describeRefused(refused: RewindPlan['refused'], cwd: string): readonly string[] {
  if (refused.length === 0) return [];
  return [
    'not done and nothing changed, because these files prevent the rewind:',
    ...refused.map(({ path, because }) => `  ${formatPath(path, cwd)}: ${sanitizeLine(because)}`),
  ];
}

function describeHead({
  task,
  agent,
  wish,
  only,
  to,
  toTime,
  undoes,
  before,
  after,
  tasks,
  dropped,
}: RewindPlan): readonly string[] {
  if (only === 'files' && wish !== 'undo') {
    const head = `the files of task ${task} (${sanitizeLine(agent)}) go back to event ${wish.to}`;
    const isKept = before.messages === after.messages && before.turns === after.turns;
    return [head, isKept ? '  conversation: it stays as it is' : conversationLine(before, after)];
  }
  const adjustment =
    wish === 'undo' || wish.to === to ? '' : ` (the conversation is not whole at event ${wish.to})`;
  const reason = undoes === null ? adjustment : ` (before the rewind of event ${undoes})`;
  return [
    `task ${task} (${sanitizeLine(agent)}) goes back to event ${to} of ${formatLocalMinute(toTime)}${reason}`,
    conversationLine(before, after),
    ...(tasks.length === 0
      ? []
      : [`  tasks created since then are removed from it: ${tasks.join(', ')}`]),
    ...(dropped.length === 0
      ? []
      : [`  tasks that were running then are not continued: ${dropped.join(', ')}`]),
  ];
}

function conversationLine(before: RewindPlan['before'], after: RewindPlan['after']): string {
  return `  conversation: ${plural(before.messages, 'message')} → ${after.messages}, ${plural(before.turns, 'turn')} → ${after.turns}, ${before.end ?? 'no end'} → ${after.end ?? 'no end'}`;
}

function describeFiles({ files }: RewindPlan, cwd: string): readonly string[] {
  if (files.length === 0) return ['  no file changes'];
  return files.map(({ path, from, to }) => {
    const shown = formatPath(path, cwd);
    if (to === null) return `  remove    ${shown}`;
    return from === null ? `  restore   ${shown}` : `  put back  ${shown}`;
  });
}

function describeCommands({ commands, unknownCalls }: RewindPlan): readonly string[] {
  const shown = commands
    .slice(0, MAX_COMMANDS)
    .map((command) => `  ${truncate(sanitizeLine(command), MAX_COMMAND_LENGTH)}`);
  const more = commands.length - shown.length;
  return [
    ...(commands.length === 0
      ? []
      : [`not undone: the changes of ${plural(commands.length, 'command')} that ran since then:`]),
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(unknownCalls === 0
      ? []
      : [`not undone: the effects of ${plural(unknownCalls, 'call')} whose outcome is unknown`]),
  ];
}

function formatPath(path: string, cwd: string): string {
  return sanitizeLine(displayPath(path, cwd));
}
