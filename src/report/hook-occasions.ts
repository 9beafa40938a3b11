import { dropMissing } from '../base/drop-missing.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { JsonValue } from '../base/json.ts';
import type { HookEventName, HookOccasion, HookTask } from '../protocol/hook.ts';
import {
  answerHookFields,
  batchHookFields,
  callHookFields,
  elicitationHookFields,
  endHookFields,
  expansionHookFields,
  outcomeHookFields,
} from '../protocol/hook-fields.ts';
import type { QuotedItem } from '../protocol/quoted-item.ts';
import { modelName } from '../protocol/model.ts';
import type { ServerQuestion } from '../protocol/question.ts';
import type { TaskInput } from '../protocol/input.ts';
import { messageText, toolCalls, type ToolCallPart } from '../protocol/message.ts';

/** An occasion for hooks in a recorded task. */
export interface RecordedOccasion extends HookOccasion {
  /** The number of the event in the log at which the hooks would have run. */
  readonly seq: number;
  /** The names of the skills that the task had, whose hooks would have run as well. */
  readonly skills: readonly string[];
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
  #skills: readonly string[] = [];
  /** The model of the newest request, as `provider/id`. Empty before the first one. */
  #model = '';
  /** True if the newest change of the model replaced a failed one. */
  #isFallback = false;
  /** The questions of MCP servers, by their ids. */
  readonly #questions = new Map<string, ServerQuestion>();
  #answer = '';
  /** The calls of the newest answer, and the results of those that have ended. */
  #calls: readonly ToolCallPart[] = [];
  readonly #results = new Map<string, { readonly tool: string; readonly text: string }>();
  #trigger: 'auto' | 'manual' = 'auto';

  constructor(task: RecordedTask) {
    this.#task = task;
  }

  add(event: TaskEvent): void {
    const { seq } = event;
    const isRoot = this.#task.parentId === null;
    switch (event.type) {
      case 'task.created': {
        const { rights, prompt, skills = [], enclosed } = event.spec;
        this.#mode = rights.mode;
        this.#addSkills([...skills, ...listQuotedSkills(enclosed)]);
        if (isRoot) this.#push(seq, 'SessionStart', 'startup', { source: 'startup' });
        else this.#push(seq, 'SubagentStart', this.#task.agentType, {});
        if (isRoot) this.#pushPrompt(seq, { text: prompt, ...dropMissing({ enclosed }) });
        return;
      }
      case 'terms.changed':
        this.#mode = event.rights.mode;
        if (modelName(event.model) !== this.#model) this.#isFallback = event.fallback !== undefined;
        return;
      case 'turn.started':
        this.#pushModelChange(seq, event.model);
        return;
      case 'input.queued':
        this.#addSkills(listQuotedSkills(event.input.enclosed));
        if (isRoot && (event.input.kind === 'prompt' || event.input.kind === 'message'))
          this.#pushPrompt(seq, event.input);
        return;
      case 'turn.ended':
        this.#answer = messageText(event.message);
        this.#calls = toolCalls(event.message);
        this.#results.clear();
        for (const { id, input } of this.#calls) this.#inputs.set(id, input);
        return;
      case 'task.resumed':
        this.#isFallback = false;
        this.#trigger = event.compacts === undefined ? 'auto' : 'manual';
        return;
      case 'summary.started': {
        const fields = { trigger: this.#trigger, custom_instructions: '' };
        this.#push(seq, 'PreCompact', this.#trigger, fields);
        return;
      }
      case 'context.summarised': {
        const trigger = this.#trigger;
        this.#push(seq, 'PostCompact', trigger, { trigger, compact_summary: event.summary });
        if (isRoot) this.#push(seq, 'SessionStart', 'compact', { source: 'compact' });
        return;
      }
      case 'call.started':
        this.#push(seq, 'PreToolUse', event.tool, this.#callFields(event));
        return;
      case 'call.refused': {
        const { decision, tool, text } = event;
        // Hooks are not told of a call that could not be decided about: its arguments are wrong, or its tool is missing.
        if (decision !== null && decision.step !== 'tool_set') {
          const fields = this.#callFields(event);
          this.#push(seq, 'PreToolUse', tool, fields);
          this.#push(seq, 'PermissionDenied', tool, { ...fields, reason: text });
        }
        this.#endCall(event);
        return;
      }
      case 'question.asked': {
        const { question } = event;
        if (question.kind === 'permission')
          this.#push(seq, 'PermissionRequest', question.tool, this.#callFields(question));
        if (question.kind !== 'server') return;
        this.#questions.set(question.id, question);
        this.#push(seq, 'Elicitation', question.server, elicitationHookFields(question));
        return;
      }
      case 'question.answered': {
        const question = this.#questions.get(event.question);
        if (question === undefined) return;
        const { answer } = event;
        const values = answer.kind === 'filled' ? answer.values : undefined;
        const other = answer.kind === 'declined' ? 'decline' : 'cancel';
        const fields = answerHookFields(question, values === undefined ? other : 'accept', values);
        this.#push(seq, 'ElicitationResult', question.server, fields);
        return;
      }
      case 'call.ended': {
        const name = event.error === null ? 'PostToolUse' : 'PostToolUseFailure';
        this.#push(seq, name, event.tool, {
          ...this.#callFields(event),
          ...outcomeHookFields(event.text, event.error),
        });
        if (event.facts.skill !== undefined) this.#addSkills([event.facts.skill]);
        this.#endCall(event);
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

  /** Notes the end of a call. When all calls of an answer have ended, this is an occasion as well. */
  #endCall({
    seq,
    callId,
    tool,
    text,
  }: Extract<TaskEvent, { type: 'call.ended' | 'call.refused' }>): void {
    this.#results.set(callId, { tool, text });
    if (this.#calls.some(({ id }) => !this.#results.has(id))) return;
    const calls = this.#calls.map(({ id, name, input }) => {
      const result = this.#results.get(id);
      return batchHookFields({ id, tool: result?.tool ?? name, input }, result?.text ?? '');
    });
    this.#push(seq, 'PostToolBatch', null, { tool_calls: calls });
  }

  #pushPrompt(seq: number, input: Pick<TaskInput, 'text' | 'enclosed'>): void {
    const expansion = expansionHookFields(input);
    if (expansion !== null)
      this.#push(seq, 'UserPromptExpansion', expansion.command_name, expansion);
    this.#push(seq, 'UserPromptSubmit', null, { prompt: input.text });
  }

  #pushModelChange(seq: number, model: string): void {
    const from = this.#model;
    this.#model = model;
    if (from === '' || from === model) return;
    const fields = { from_model: from, to_model: model };
    const matched = model.slice(model.indexOf('/') + 1);
    if (!this.#isFallback) this.#push(seq, 'PreModelSwitch', matched, fields);
    this.#push(seq, 'PostModelSwitch', matched, fields);
  }

  #addSkills(names: readonly string[]): void {
    if (names.length > 0) this.#skills = [...new Set([...this.#skills, ...names])];
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
    this.occasions.push({ seq, event, task, matched, fields, skills: this.#skills });
  }
}

function listQuotedSkills(items: readonly QuotedItem[] = []): readonly string[] {
  return items.flatMap(({ skill }) => (skill === undefined ? [] : [skill]));
}
