import type { TaskEvent } from '../protocol/events/event.ts';
import type { JsonValue } from '../base/json.ts';
import type { HookEventName, HookOccasion, HookTask } from '../protocol/hook.ts';
import { callHookFields, endHookFields, outcomeHookFields } from '../protocol/hook-fields.ts';
import { messageText, toolCalls } from '../protocol/message.ts';

/** An occasion for hooks in a recorded task. */
export interface RecordedOccasion extends HookOccasion {
  /** The number of the event in the log at which the hooks would have run. */
  readonly seq: number;
}

/** A task in the form that hooks get, without the mode, which can change while the task runs. */
type RecordedTask = Omit<HookTask, 'mode'>;

/**
 * Lists the occasions for hooks in the log of a task, in their order. The arguments of a call are those of the model, before
 * any hook changed them. A rewind removes nothing: hooks had run before it.
 */
export function listHookOccasions(
  task: RecordedTask,
  events: readonly TaskEvent[],
): readonly RecordedOccasion[] {
  const recorder = new OccasionRecorder(task);
  for (const event of events) recorder.add(event);
  return recorder.occasions;
}

class OccasionRecorder {
  readonly occasions: RecordedOccasion[] = [];
  readonly #task: RecordedTask;
  readonly #inputs = new Map<string, JsonValue>();
  #mode: HookTask['mode'] = 'default';
  #answer = '';

  constructor(task: RecordedTask) {
    this.#task = task;
  }

  add(event: TaskEvent): void {
    const { seq } = event;
    const isRoot = this.#task.parentId === null;
    switch (event.type) {
      case 'task.created': {
        const { rights, prompt } = event.spec;
        this.#mode = rights.mode;
        if (isRoot) this.#push(seq, 'SessionStart', 'startup', { source: 'startup' });
        else this.#push(seq, 'SubagentStart', this.#task.agentType, {});
        if (isRoot) this.#push(seq, 'UserPromptSubmit', null, { prompt });
        return;
      }
      case 'terms.changed':
        this.#mode = event.rights.mode;
        return;
      case 'input.queued':
        if (isRoot && (event.input.kind === 'prompt' || event.input.kind === 'message'))
          this.#push(seq, 'UserPromptSubmit', null, { prompt: event.input.text });
        return;
      case 'turn.ended':
        this.#answer = messageText(event.message);
        for (const { id, input } of toolCalls(event.message)) this.#inputs.set(id, input);
        return;
      case 'call.started':
        this.#push(seq, 'PreToolUse', event.tool, this.#callFields(event));
        return;
      case 'call.refused': {
        const fields = this.#callFields(event);
        this.#push(seq, 'PreToolUse', event.tool, fields);
        if (event.decision !== null)
          this.#push(seq, 'PermissionDenied', event.tool, { ...fields, reason: event.text });
        return;
      }
      case 'question.asked':
        if (event.question.kind === 'permission')
          this.#push(
            seq,
            'PermissionRequest',
            event.question.tool,
            this.#callFields(event.question),
          );
        return;
      case 'call.ended': {
        const name = event.error === null ? 'PostToolUse' : 'PostToolUseFailure';
        this.#push(seq, name, event.tool, {
          ...this.#callFields(event),
          ...outcomeHookFields(event.text, event.error),
        });
        return;
      }
      case 'task.ended': {
        const fields = endHookFields(this.#answer, { isRepeated: false });
        const { status, error, because } = event.end;
        const failure = { error: error?.code ?? 'INTERNAL_ERROR', error_details: because };
        if (isRoot && status === 'failed') this.#push(seq, 'StopFailure', failure.error, failure);
        else if (isRoot) this.#push(seq, 'Stop', null, fields);
        else this.#push(seq, 'SubagentStop', this.#task.agentType, fields);
        return;
      }
      default:
    }
  }

  #callFields({ callId, tool }: { readonly callId: string; readonly tool: string }) {
    return callHookFields({ id: callId, tool, input: this.#inputs.get(callId) ?? {} });
  }

  #push(
    seq: number,
    event: HookEventName,
    matched: string | null,
    fields: HookOccasion['fields'],
  ): void {
    const task = { ...this.#task, mode: this.#mode };
    this.occasions.push({ seq, event, task, matched, fields });
  }
}
