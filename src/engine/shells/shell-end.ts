import { truncate } from '../../base/text.ts';
import type { EventBody } from '../../protocol/events/event.ts';
import type { ShellEnd } from '../../protocol/result.ts';
import type { CommandChanges, LeftProcesses } from '../../protocol/tool.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import { indentNoticeItem } from '../../protocol/notice-text.ts';
import { describeRemoteEnd, describeShellEnd } from '../../protocol/state/task-texts.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The maximum number of code points of a command that is shown on one line. */
const MAX_COMMAND_LENGTH = 80;

/** The way in which a shell ended. */
export interface ShellOutcome {
  readonly how: ShellEnd;
  /** The exit code, or null if a signal ended the shell or its end was not observed. */
  readonly exitCode: number | null;
  /** The changes by the command, and the processes that it left running. Absent if they are not known. */
  readonly changes?: CommandChanges;
  readonly left?: LeftProcesses;
}

/**
 * Returns two events: the notice of a shell's end for its task, and the end itself. The notice comes first: after a
 * crash between the two, the end is missing and both are written again.
 */
export function shellEndEvents(
  state: TaskState,
  id: string,
  outcome: ShellOutcome,
): readonly [EventBody, EventBody] {
  const shell = state.shells.get(id);
  const isRemote = shell !== undefined && shell.remote !== null;
  const what = `${isRemote ? 'Call' : 'Shell'} ${id} (${shortenCommand(shell?.command ?? '')})`;
  const end = isRemote ? describeRemoteEnd(outcome) : describeShellEnd(outcome);
  const text = indentNoticeItem(`- ${what}: ${end}. Its output: TaskOutput(task_id: "${id}")`);
  const input = { id: shellNoticeId(id), kind: 'result', from: id, text } as const;
  return [
    { type: 'input.queued', input: { ...input, nonce: drawNonce(text) } },
    shellEndedEvent(id, outcome),
  ];
}

function shellEndedEvent(shell: string, { how, exitCode, changes, left }: ShellOutcome): EventBody {
  return {
    type: 'shell.ended',
    shell,
    end: how,
    exitCode,
    ...(changes === undefined ? {} : { changed: changes.changed }),
    ...(changes === undefined || changes.unlisted.length === 0
      ? {}
      : { unlisted: changes.unlisted }),
    ...(left === undefined ? {} : { left }),
  };
}

/** Shortens a command to one line. */
export function shortenCommand(command: string): string {
  const line = command.replace(/\s+/g, ' ').trim();
  const start = truncate(line, MAX_COMMAND_LENGTH);
  return start === line ? line : `${start}…`;
}

/** Returns the id of the notice of a shell's end. */
export function shellNoticeId(id: string): string {
  return `${id}-end`;
}
