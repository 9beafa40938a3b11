import { unescapeTags } from '../../base/control-tags.ts';
import { errorMessage, MusterError, type ErrorCode } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { resultText } from '../../protocol/state/earlier-report.ts';
import type { EndReason, StoppedBy } from '../../protocol/end-reason.ts';
import type { CallForm } from '../../protocol/text-calls/forms.ts';
import { modelName, type ModelFailure } from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { limitMessage } from '../limits/limit-message.ts';
import { describeDenials } from '../../policy/decide-question.ts';
import { describeRefusal } from '../../policy/explain-refusal.ts';
import { outputSchemaOf } from './output-schema.ts';
import type { StopOrder } from './stop-order.ts';
import type { UnsentMessage } from '../../protocol/state/quoted-calls.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** The end of a task, with its result, which may be partial or empty. */
export interface TaskEnding {
  readonly end: EndReason;
  readonly result: string;
  /** The result as JSON that is valid against the output schema of the task, if the task has one. */
  readonly structured?: JsonValue;
}

/** Completes a task with exactly this answer. */
export function endCompleted(answer: string): TaskEnding {
  return {
    end: { status: 'completed', error: null, because: 'the model ended its answer', by: null },
    result: answer,
  };
}

/**
 * Completes a task with this answer. If the answer only refers to an earlier report of the task, the report comes
 * first.
 */
export function endCompletedWithReport(state: TaskState, answer: string): TaskEnding {
  return endCompleted(addReport(state, answer));
}

/** Adds the earlier report of a task before its last text, if that text only refers to the report. */
function addReport({ activation, spec }: TaskState, last: string): string {
  // A result that must be valid against a schema is one JSON value.
  if (outputSchemaOf(spec) !== null) return last;
  return resultText(last, activation.texts, spec.prompt);
}

/** Completes a task with the result of the earlier task `source`. */
export function endReused(source: string, text: string): TaskEnding {
  const because = `the result of task ${source} was reused`;
  return { end: { status: 'completed', error: null, because, by: null }, result: text };
}

/** Ends a task as partial because it reached a limit. */
export function endByLimit(state: TaskState, hit: LimitHit): TaskEnding {
  const { answer } = state;
  const cut = answer?.reason === 'length' ? answer.outputCap : undefined;
  const note = cut === undefined ? '' : `; the last answer was cut off after ${cut.tokens} tokens`;
  return endPartial(addReport(state, state.lastText), `${limitMessage(hit)}${note}`, 'limit');
}

/** Ends a task whose answers were cut off several times in a row because a budget had lowered the output cap. */
export function endByOutputCap(state: TaskState, { limit, value, used }: OutputCap): TaskEnding {
  return endByLimit(state, { limit, value, used });
}

/** Ends a task as partial because the model's output limit cut off an answer and each continuation of it. */
export function endCutOff(text: string, answers: number): TaskEnding {
  const message = `the model reached its output limit in the middle of its answer, ${answers} times in a row (limit cut_answers = ${answers})`;
  return endPartial(text, message, null);
}

/**
 * Ends a task that was stopped by this order.
 *
 * @param options `forced`: true if a process had to be killed
 */
export function endStopped(
  state: TaskState,
  order: StopOrder,
  options: { readonly forced: boolean },
): TaskEnding {
  if (order.code === 'LIMIT_EXCEEDED') return endPartial(state.lastText, order.reason, order.by);
  const error = { code: order.code, message: order.reason, retryable: false };
  return {
    end: {
      status: options.forced ? 'killed' : 'stopped',
      error,
      because: order.reason,
      by: order.by,
    },
    result: state.lastText,
  };
}

/** Ends a task whose model failed. */
export function endFailedByModel(state: TaskState, failure: ModelFailure): TaskEnding {
  // The context window is a limit, so the task ends as partial with its result so far.
  if (failure.kind === 'too_large') return endPartial(state.lastText, failure.message, 'limit');
  const code: ErrorCode = failure.kind === 'timeout' ? 'TIMEOUT' : 'PROVIDER_ERROR';
  return endFailed(state, { code, message: failure.message, retryable: failure.retryable });
}

/** Fails a task whose model gave only empty answers. */
export function endWithoutAnswer(state: TaskState, answers: number): TaskEnding {
  const message = `the model gave ${answers} empty answers in a row (limit empty_answers = ${answers})`;
  return endFailedWithReport(state, { code: 'PROVIDER_ERROR', message, retryable: true });
}

/**
 * Fails a task whose model wrote its tool calls as text, because its server lacks the parser for them.
 *
 * @param form the syntax of the last such call, when it was recognized
 */
export function endWithCallsAsText(
  state: TaskState,
  answers: number,
  form: Pick<CallForm, 'name' | 'parser'> | null,
): TaskEnding {
  const model = state.models.at(-1) ?? modelName(state.spec.model);
  const written = form === null ? '' : ` (form: ${form.name})`;
  const parser = form?.parser ?? 'NAME';
  const message = `${model} wrote its tool calls as text${written} in ${answers} answers in a row (limit calls_as_text = ${answers}), so no tool ran. Its server does not parse the tool calls of this model: start it with the parser for them (vLLM: --enable-auto-tool-choice --tool-call-parser ${parser}; SGLang: --tool-call-parser; llama-server: --jinja), or choose another model`;
  return endFailedWithReport(state, { code: 'PROVIDER_ERROR', message, retryable: false });
}

/** Fails a task whose answer the provider's content filter ended. */
export function endFiltered(state: TaskState): TaskEnding {
  const message = "the provider's content filter ended the answer";
  return endFailed(state, { code: 'PROVIDER_ERROR', message, retryable: false });
}

/** Fails a task without a valid result, because of its answers or because of the output schema itself. */
export function endFailedBySchema(
  state: TaskState,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
): TaskEnding {
  return endFailed(state, { code, message: `output_schema: ${message}`, retryable: false });
}

/** Fails a task whose work was not accepted in any of its checks. */
export function endNotAccepted(state: TaskState, message: string): TaskEnding {
  return endFailed(state, {
    code: 'PROVIDER_ERROR',
    message: `accept: ${message}`,
    retryable: false,
  });
}

/** Fails a child whose calls the user denied several times in a row. */
export function endHaltedByUser(state: TaskState): TaskEnding {
  const message = describeDenials(state);
  return endFailed(state, { code: 'PERMISSION_DENIED', message, retryable: false });
}

/** Fails a task whose message is not sent, because a shell part of its slash command was refused. */
export function endUnsent(
  state: TaskState,
  { command, part, text, decision }: UnsentMessage,
): TaskEnding {
  const reason = decision === null ? unescapeTags(text) : describeRefusal(decision);
  const message = `${command} is not sent. Its shell part ${JSON.stringify(part)} did not run: ${reason}`;
  return endFailed(state, { code: 'PERMISSION_DENIED', message, retryable: false });
}

/** Fails a task because of an internal error: a bug, or a log that can't be written. */
export function endBroken(state: TaskState, thrown: unknown): TaskEnding {
  const code = thrown instanceof MusterError ? thrown.code : 'INTERNAL_ERROR';
  return endFailed(state, { code, message: errorMessage(thrown), retryable: false });
}

function endPartial(result: string, message: string, by: StoppedBy | null): TaskEnding {
  const error = { code: 'LIMIT_EXCEEDED', message, retryable: false } as const;
  return { end: { status: 'partial', error, because: message, by }, result };
}

function endFailed(state: TaskState, error: NonNullable<EndReason['error']>): TaskEnding {
  const end = { status: 'failed', error, because: error.message, by: null } as const;
  return { end, result: state.lastText };
}

/** Fails a task whose last answers contain no result. Its earlier report, if there is one, becomes the result. */
function endFailedWithReport(state: TaskState, error: NonNullable<EndReason['error']>): TaskEnding {
  const ending = endFailed(state, error);
  const report = addReport(state, '');
  return report === '' ? ending : { ...ending, result: report };
}
