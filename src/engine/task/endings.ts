import { errorMessage, MusterError, type ErrorCode } from '../../base/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { resultText } from '../../protocol/state/earlier-report.ts';
import type { EndReason, StoppedBy } from '../../protocol/end-reason.ts';
import type { CallForm } from '../../protocol/text-calls/forms.ts';
import { modelName, type ModelFailure } from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';
import { describeDenials } from '../../policy/decide-question.ts';
import { limitMessage } from '../limits/limits.ts';
import { outputSchemaOf } from './output-schema.ts';
import type { StopOrder } from './stop.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** How a task ends, and its answer or what there is of one. */
export interface Ending {
  readonly end: EndReason;
  readonly result: string;
  /** It as JSON that is valid against the task's output schema. Absent: it is not, or there is none. */
  readonly structured?: JsonValue;
}

/** Ends with exactly this answer. */
export function completed(answer: string): Ending {
  return {
    end: { status: 'completed', error: null, because: 'the model ended its answer', by: null },
    result: answer,
  };
}

/** Ends with this answer, and with the report before it if the answer only points to that. */
export function completedWithReport(state: TaskState, answer: string): Ending {
  return completed(withReport(state, answer));
}

function withReport({ activation, spec }: TaskState, last: string): string {
  // A result that must be valid against a schema is one JSON value.
  if (outputSchemaOf(spec) !== null) return last;
  return resultText(last, activation.texts, spec.prompt);
}

/** `of`: the task whose result it is. */
export function reused(of: string, text: string): Ending {
  const because = `the result of task ${of} was reused`;
  return { end: { status: 'completed', error: null, because, by: null }, result: text };
}

export function endedByLimit(state: TaskState, hit: LimitHit): Ending {
  const { answer } = state;
  const cut = answer?.reason === 'length' ? answer.outputCap : undefined;
  const note = cut === undefined ? '' : `; the last answer was cut off after ${cut.tokens} tokens`;
  return partial(withReport(state, state.lastText), `${limitMessage(hit)}${note}`, 'limit');
}

/** Ends a task of which several answers in a row were cut off where a budget had lowered the output cap. */
export function cutByBudget(state: TaskState, { limit, value, used }: OutputCap): Ending {
  return endedByLimit(state, { limit, value, used });
}

/** The model's own output limit came in the middle of the answer, and of each that went on from it. */
export function cutOff(text: string, answers: number): Ending {
  const message = `the model reached its output limit in the middle of its answer, ${answers} times in a row (limit cut_answers = ${answers})`;
  return partial(text, message, null);
}

/** `forced`: something had to be killed for it. */
export function stopped(
  state: TaskState,
  order: StopOrder,
  { forced }: { readonly forced: boolean },
): Ending {
  if (order.code === 'LIMIT_EXCEEDED') return partial(state.lastText, order.because, order.by);
  const error = { code: order.code, message: order.because, retryable: false };
  return {
    end: { status: forced ? 'killed' : 'stopped', error, because: order.because, by: order.by },
    result: state.lastText,
  };
}

export function failedByModel(state: TaskState, failure: ModelFailure): Ending {
  // What it has stands, as after any other limit.
  if (failure.kind === 'too_large') return partial(state.lastText, failure.message, 'limit');
  const code: ErrorCode = failure.kind === 'timeout' ? 'TIMEOUT' : 'PROVIDER_ERROR';
  return failed(state, { code, message: failure.message, retryable: failure.retryable });
}

export function gaveNothing(state: TaskState, answers: number): Ending {
  const message = `the model gave ${answers} empty answers in a row (limit empty_answers = ${answers})`;
  return failedWithReport(state, { code: 'PROVIDER_ERROR', message, retryable: true });
}

/**
 * The model wrote its calls as text, so that none of them ran: its server lacks the parser for them.
 *
 * @param form the form of the last one
 */
export function wroteCallsAsText(
  state: TaskState,
  answers: number,
  form: Pick<CallForm, 'name' | 'parser'> | null,
): Ending {
  const model = state.models.at(-1) ?? modelName(state.spec.model);
  const written = form === null ? '' : ` (form: ${form.name})`;
  const parser = form?.parser ?? 'NAME';
  const message = `${model} wrote its tool calls as text${written} in ${answers} answers in a row (limit calls_as_text = ${answers}), so no tool ran. Its server does not parse the tool calls of this model: start it with the parser for them (vLLM: --enable-auto-tool-choice --tool-call-parser ${parser}; SGLang: --tool-call-parser; llama-server: --jinja), or choose another model`;
  return failedWithReport(state, { code: 'PROVIDER_ERROR', message, retryable: false });
}

export function filtered(state: TaskState): Ending {
  const message = "the provider's content filter ended the answer";
  return failed(state, { code: 'PROVIDER_ERROR', message, retryable: false });
}

/** Its answers, or the schema that they must be valid against, keep it from having a result. */
export function failedBySchema(
  state: TaskState,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
): Ending {
  return failed(state, { code, message: `output_schema: ${message}`, retryable: false });
}

export function haltedByUser(state: TaskState): Ending {
  const message = describeDenials(state);
  return failed(state, { code: 'PERMISSION_DENIED', message, retryable: false });
}

/** An error of Muster's own: its log can't be written, or a bug. */
export function broken(state: TaskState, thrown: unknown): Ending {
  const code = thrown instanceof MusterError ? thrown.code : 'INTERNAL_ERROR';
  return failed(state, { code, message: errorMessage(thrown), retryable: false });
}

function partial(result: string, message: string, by: StoppedBy | null): Ending {
  const error = { code: 'LIMIT_EXCEEDED', message, retryable: false } as const;
  return { end: { status: 'partial', error, because: message, by }, result };
}

function failed(state: TaskState, error: NonNullable<EndReason['error']>): Ending {
  const end = { status: 'failed', error, because: error.message, by: null } as const;
  return { end, result: state.lastText };
}

/** Fails with the report that came before its last answers, which hold none. */
function failedWithReport(state: TaskState, error: NonNullable<EndReason['error']>): Ending {
  const ending = failed(state, error);
  const report = withReport(state, '');
  return report === '' ? ending : { ...ending, result: report };
}
