import type { RewindOutcome, RewindPlan, RewindWish, Tasks } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { exactLine } from '../../../../base/terminal-text.ts';
import { plural, truncate } from '../../../../base/text.ts';
import { displayPath } from '../../../../sys/paths.ts';
import { terminalConfirm } from '../../confirm.ts';
import { stderrNotice } from '../../stderr.ts';
import { printJson, printLines } from './print.ts';
import { localMinute } from './time.ts';

interface RewindCommand {
  readonly id: string;
  readonly wish: RewindWish;
  readonly yes: boolean;
  readonly json: boolean;
}

/**
 * `muster tasks rewind`: shows what it would do, asks, and does it. 1: something stands against it, the
 * person said no, or a file was left since somebody changed it meanwhile.
 */
export async function rewindTask(tasks: Tasks, command: RewindCommand): Promise<number> {
  const { id, wish, yes, json } = command;
  for (const problem of tasks.problems(id)) stderrNotice(problem);
  const plan = await tasks.planRewind(id, wish);
  const { refused, isThere } = plan;
  if (!json) printLines(...planLines(plan));
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

const SHOWN_COMMANDS = 10;
const SHOWN_COMMAND = 100;

/** What a plan would do, for a person. Everything from outside is one line. */
function planLines(plan: RewindPlan): readonly string[] {
  const { task, isThere, ends, refused, to } = plan;
  if (ends !== null) {
    return [
      `the rewind of task ${task} to event ${to} was cut short (event ${ends}); this ends it:`,
      ...fileLines(plan),
    ];
  }
  if (isThere) return [`task ${task} is at event ${to} already: nothing to do`];
  const lines = [...headLines(plan), ...fileLines(plan), ...commandLines(plan)];
  if (refused.length === 0) return lines;
  return [
    ...lines,
    'not done, and nothing touched, since this stands against it:',
    ...refused.map(({ path, because }) => `  ${shownPath(path)}: ${exactLine(because)}`),
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
    `task ${task} (${exactLine(agent)}) goes back to event ${to} of ${localMinute(toTime)}${why}`,
    `  conversation: ${plural(before.messages, 'message')} → ${after.messages}, ${plural(before.turns, 'turn')} → ${after.turns}, ${before.end ?? 'no end'} → ${after.end ?? 'no end'}`,
    ...(tasks.length === 0 ? [] : [`  tasks begun since leave it: ${tasks.join(', ')}`]),
    ...(dropped.length === 0 ? [] : [`  tasks at work then are left: ${dropped.join(', ')}`]),
  ];
}

function fileLines({ files }: RewindPlan): readonly string[] {
  if (files.length === 0) return ['  no file changes'];
  return files.map(({ path, from, to }) => {
    const shown = shownPath(path);
    if (to === null) return `  remove    ${shown}`;
    return from === null ? `  restore   ${shown}` : `  put back  ${shown}`;
  });
}

function commandLines({ commands, unknownCalls }: RewindPlan): readonly string[] {
  const shown = commands
    .slice(0, SHOWN_COMMANDS)
    .map((command) => `  ${truncate(exactLine(command), SHOWN_COMMAND)}`);
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
