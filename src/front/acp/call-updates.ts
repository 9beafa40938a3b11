import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk/unstable';
import type { TaskEvent } from '../../protocol/events/event.ts';
import { toolCalls } from '../../protocol/message.ts';
import { questionSubject } from '../../protocol/question.ts';
import type { FileChange } from '../../protocol/tool.ts';
import { describeShellEnd } from '../../api/index.ts';
import { toClientCallId, type ShownTask, type ShownTasks } from './shown-tasks.ts';
import {
  describeCall,
  toDiff,
  toLocation,
  toResultContent,
  toTextContent,
  type ChangedTexts,
} from './tool-call.ts';

/** A `session/update` for the client. */
export interface ClientUpdate {
  readonly sessionId: string;
  readonly update: SessionUpdate;
}

/** Returns the texts of a file that a call has changed; null if they are not text or are not known any more. */
export type ReadChange = (change: FileChange) => ChangedTexts | null;

type Event<Type extends TaskEvent['type']> = Extract<TaskEvent, { readonly type: Type }>;

/** Announces the calls of an answer, which wait for their turn. */
export function announceCalls(
  tasks: ShownTasks,
  { spec, calls }: ShownTask,
  { message }: Pick<Event<'turn.ended'>, 'message'>,
): readonly ClientUpdate[] {
  const sessionId = tasks.sessionOf(spec.id);
  const updates: ClientUpdate[] = [];
  for (const { id, name, input } of toolCalls(message)) {
    const toolCallId = toClientCallId(spec.id, id);
    if (calls.has(toolCallId)) continue;
    calls.set(toolCallId, name);
    const shown = describeCall(name, input, spec.cwd);
    const origin = tasks.describeCallOrigin(spec, name);
    const update = { sessionUpdate: 'tool_call', toolCallId, status: 'pending' } as const;
    updates.push({ sessionId, update: { ...update, ...shown, ...origin } });
  }
  return updates;
}

/** Reports that a call runs. The call that waits for its task shows it as the progress of that task. */
export function startCall(
  tasks: ShownTasks,
  { spec, calls }: ShownTask,
  { callId, tool, input }: Event<'call.started'>,
): readonly ClientUpdate[] {
  const toolCallId = toClientCallId(spec.id, callId);
  const shown = describeCall(tool, input, spec.cwd);
  const fields = { toolCallId, ...shown, ...tasks.describeCallOrigin(spec, tool) };
  // A call that a hook makes was not announced.
  const update: SessionUpdate = calls.has(toolCallId)
    ? { sessionUpdate: 'tool_call_update', status: 'in_progress', ...fields }
    : { sessionUpdate: 'tool_call', status: 'in_progress', ...fields };
  calls.set(toolCallId, tool);
  const progress =
    spec.parent === null || tasks.hasChildSessions
      ? []
      : updateDelegation(tasks, spec.id, { content: [toTextContent(shown.title)] });
  return [{ sessionId: tasks.sessionOf(spec.id), update }, ...progress];
}

/** Reports that a call was refused. */
export function refuseCall(
  tasks: ShownTasks,
  task: ShownTask,
  event: Event<'call.refused'>,
): readonly ClientUpdate[] {
  return updateCall(tasks, task, event, {
    status: 'failed',
    content: toResultContent(event.text),
  });
}

/** Reports the end of a call with its result: the texts that it has changed, or what it returned. */
export function finishCall(
  tasks: ShownTasks,
  task: ShownTask,
  event: Event<'call.ended'>,
  readChange: ReadChange,
): readonly ClientUpdate[] {
  const { callId, error, facts, text } = event;
  // The task that the call has started goes on in the background, and so does the call in the client.
  if (error === null && tasks.isDelegating({ task: task.spec.id, callId }))
    return updateCall(tasks, task, event, { content: toResultContent(text) });
  const changes = (facts.changed ?? []).flatMap((change) => readChange(change) ?? []);
  const hasText = changes.length === 0 || error !== null;
  const locations = changes.map(toLocation);
  return updateCall(tasks, task, event, {
    status: error === null ? 'completed' : 'failed',
    content: [...changes.map(toDiff), ...(hasText ? toResultContent(text) : [])],
    ...(locations.length === 0 ? {} : { locations }),
  });
}

/** Reports the progress of a call. */
export function reportProgress(
  tasks: ShownTasks,
  { spec, calls }: ShownTask,
  { callId, lines }: { readonly callId: string; readonly lines: readonly string[] },
): readonly ClientUpdate[] {
  const toolCallId = toClientCallId(spec.id, callId);
  if (!calls.has(toolCallId)) return [];
  const content = toResultContent(lines.join('\n'));
  const update = { sessionUpdate: 'tool_call_update', toolCallId, content } as const;
  return [{ sessionId: tasks.sessionOf(spec.id), update }];
}

/**
 * Shows the question of a subagent in the call that has started it. The client is asked while it waits for a prompt, which may be
 * later.
 */
export function reportQuestion(
  tasks: ShownTasks,
  { task, question }: Event<'question.asked'>,
): readonly ClientUpdate[] {
  const text = `Waits for an answer: ${question.tool} ${questionSubject(question)}`;
  return updateDelegation(tasks, task, { content: toResultContent(text) });
}

/** Ends the call that has started a task, with the task's answer. */
export function endDelegation(
  tasks: ShownTasks,
  { child, status }: Event<'child.ended'>,
): readonly ClientUpdate[] {
  const answer = tasks.get(child)?.answer ?? '';
  const updates = updateDelegation(tasks, child, {
    status: status === 'completed' || status === 'partial' ? 'completed' : 'failed',
    content: toResultContent(answer === '' ? `The task ended: ${status}.` : answer),
  });
  tasks.endDelegation(child);
  return updates;
}

/** Ends the call that has started a command in the background. */
export function endShell(
  tasks: ShownTasks,
  { shell, end, exitCode }: Event<'shell.ended'>,
): readonly ClientUpdate[] {
  const text = `The command ${describeShellEnd({ how: end, exitCode })}.`;
  const updates = updateDelegation(tasks, shell, {
    status: exitCode === 0 ? 'completed' : 'failed',
    content: toResultContent(text),
  });
  tasks.endDelegation(shell);
  return updates;
}

/** Updates the call that has started a task or a command in the background. */
export function updateDelegation(
  tasks: ShownTasks,
  child: string,
  fields: Pick<ToolCallUpdate, 'status' | 'content' | 'title'>,
): readonly ClientUpdate[] {
  const delegation = tasks.delegationOf(child);
  const sender = delegation === undefined ? undefined : tasks.get(delegation.task);
  if (delegation === undefined || sender === undefined) return [];
  return updateCall(tasks, sender, { callId: delegation.callId }, fields);
}

function updateCall(
  tasks: ShownTasks,
  { spec, calls }: ShownTask,
  { callId }: { readonly callId: string },
  fields: Pick<ToolCallUpdate, 'status' | 'content' | 'locations' | 'title'>,
): readonly ClientUpdate[] {
  const toolCallId = toClientCallId(spec.id, callId);
  const tool = calls.get(toolCallId);
  if (tool === undefined) return [];
  const origin = tasks.describeCallOrigin(spec, tool);
  const update = { sessionUpdate: 'tool_call_update', toolCallId, ...fields, ...origin } as const;
  return [{ sessionId: tasks.sessionOf(spec.id), update }];
}
