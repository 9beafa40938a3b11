import { truncate } from '../../base/text.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { ShellEnd } from '../../protocol/result.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { indentNoticeItem } from '../../protocol/notice-text.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Code points of a command that stand in one line. */
const SHOWN_COMMAND = 80;

export interface ShellOutcome {
  readonly how: ShellEnd;
  /** Null when a signal ended it, or nobody saw it end. */
  readonly exitCode: number | null;
}

/**
 * What tells a task of its shell's end, and the event of that end: in this order, so that a crash in the
 * middle of the batch makes both be written again.
 */
export function shellEnded(
  state: TaskState,
  id: string,
  outcome: ShellOutcome,
): readonly [EventBody, EventBody] {
  const command = briefCommand(state.shells.get(id)?.command ?? '');
  const text = indentNoticeItem(
    `- Shell ${id} (${command}): ${describeEnd(outcome)}. Its output: TaskOutput(task_id: "${id}")`,
  );
  const input = { id: shellNoticeId(id), kind: 'result', from: id, text } as const;
  return [
    { type: 'input.queued', input: { ...input, nonce: drawNonce(text) } },
    { type: 'shell.ended', shell: id, end: outcome.how, exitCode: outcome.exitCode },
  ];
}

/** A command in one line. */
export function briefCommand(command: string): string {
  const line = command.replace(/\s+/g, ' ').trim();
  const shown = truncate(line, SHOWN_COMMAND);
  return shown === line ? line : `${shown}…`;
}

/** The id of the notice of a shell's end. */
export function shellNoticeId(id: string): string {
  return `${id}-end`;
}

/** For people and models, after `the shell` or `Status:`. */
export function describeEnd({ how, exitCode }: ShellOutcome): string {
  switch (how) {
    case 'exited':
      return exitCode === null ? 'ended by a signal' : `ended with exit code ${exitCode}`;
    case 'stopped':
      return 'stopped';
    case 'killed':
      return 'killed, since it did not stop when told';
    case 'output_limit':
      return 'stopped: it wrote more than the limit output.spill_bytes';
    case 'lost':
      return 'lost: its outcome is unknown, look before you start it again';
    default:
      return how satisfies never;
  }
}
