import type { ErrorInfo } from '../../base/errors.ts';
import { formatDuration, plural, truncate } from '../../base/text.ts';
import { knownCost, sumLedger } from '../../protocol/state/ledger.ts';
import { paidTokens, type Usage } from '../../protocol/model.ts';
import type {
  EnvelopeStatus,
  EnvelopeUsage,
  ResultEnvelope,
  TaskStatus,
} from '../../protocol/result.ts';
import { openQuestions } from '../../protocol/state/questions.ts';
import type { Question } from '../../protocol/question.ts';
import { formatFlags } from '../../receipts/answer-flags.ts';
import { formatReceiptParts, buildReceipt } from '../../receipts/receipt.ts';
import { questionJson } from '../questions/question-json.ts';
import { outputSchemaOf } from '../task/output-schema.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import { reusedText } from '../../protocol/state/task-texts.ts';
import { formatWorkspace } from './workspace-text.ts';
import { parseLocations } from '../../base/code-search/format-ranking.ts';
import { prefixLengthWithin, estimateTokensUnrounded } from '../../base/token-estimate.ts';

/** The files of a task that its result names. */
interface ResultPaths {
  readonly transcript: string | null;
  readonly outputFile: string | null;
}

/** The maximum number of the user's denials that the result names, and the maximum number of code points of each. */
const MAX_DENIALS = 5;
const MAX_DENIAL_LENGTH = 200;

/** Returns the error of a task whose log has no end and on which no process works any more. */
export function interruptionError({ activation }: TaskState): ErrorInfo {
  const hasWorked =
    activation.workingSince !== null || activation.workedMs > 0 || activation.number === 0;
  const message = hasWorked
    ? 'the process that worked on it ended before it did'
    : 'it was put back to an earlier event, or resumed, and has not worked since';
  return { code: 'INTERNAL_ERROR', message, retryable: true };
}

/**
 * Builds the result of a task for programs, from its log alone. The status of a log without an end is `running`: the
 * caller knows whether a process still works on the task, and passes a state with the status `interrupted` if none
 * does.
 *
 * @param questions the questions that wait for an answer. Default: the open questions of the task itself.
 */
export function buildResultEnvelope(
  state: TaskState,
  paths: ResultPaths,
  questions: readonly Question[] = openQuestions(state),
): ResultEnvelope {
  const { spec } = state;
  const model = state.models.at(-1) ?? `${spec.model.provider}/${spec.model.id}`;
  const result = fullResult(state);
  return {
    status: toEnvelopeStatus(state.status),
    data: {
      status: state.status,
      task_id: spec.id,
      result,
      structured: state.structured?.value ?? null,
      ...(spec.model.provider === 'offline' ? { places: parseLocations(result) } : {}),
      tool_summary: [...state.toolCounts].map(([tool, count]) => ({ tool, count })),
      files_modified: [...state.filesChanged.keys()],
      model_used: model,
      subagent_type: spec.agent.name,
      turns: state.turns,
      usage: toEnvelopeUsage(state.usage),
      cost_usd: state.costUsd,
      ...estimatedField(state),
      ...reusedField(state),
      receipt: buildReceipt(state),
      ...workspaceField(state),
      transcript: paths.transcript,
      output_file: paths.outputFile,
      ...(questions.length === 0 ? {} : { questions: questions.map(questionJson) }),
    },
    text: buildParentText(state, 0),
    stats: { time_ms: elapsedMs(state), tool_calls: countToolCalls(state), model },
    context: { cwd: spec.cwd, params_input: spec.params },
    error: state.end?.error ?? findUnendedError(state),
  };
}

/**
 * Returns the text for the parent's model: the answer from `offset` (UTF-16 units) on, at most `resultMaxTokens` of
 * the task, the error if there is one, the flags of the answer, and the line with the receipt.
 */
export function buildParentText(state: TaskState, offset: number): string {
  const { spec, end } = state;
  const fullText = fullResult(state);
  const { text, next } = cutPage(fullText, offset, spec.limits.resultMaxTokens);
  const parts = [text];
  if (next !== null) {
    parts.push(
      `[Cut at ${next} of ${fullText.length} characters. The rest: TaskOutput(task_id: "${spec.id}", offset: ${next})]`,
    );
  }
  const error = end?.error ?? null;
  if (error !== null) {
    const found = fullText === '' ? 'It had found nothing yet.' : 'What it had found so far:';
    parts.unshift(`The task ended as ${state.status}: ${error.code}: ${error.message}. ${found}`);
  } else if (fullText === '') {
    parts.unshift('The task ended without a text.');
  }
  if (state.denials.length > 0) parts.push(denialsLine(state.denials));
  if (state.status === 'partial' && state.structured === null && outputSchemaOf(spec) !== null) {
    parts.push('[Note: the answer is not JSON that is valid against output_schema]');
  }
  for (const warning of state.warnings) parts.push(`[Note: ${warning}]`);
  const flags = formatFlags(state.activation.claims);
  parts.push(formatWorkspace(state));
  parts.push(flags === '' ? '' : `[${flags}]`, summaryLine(state));
  return parts.filter((part) => part !== '').join('\n\n');
}

function toEnvelopeUsage({ input, output, cacheRead, cacheWrite }: Usage): EnvelopeUsage {
  return { input, output, cache_read: cacheRead, cache_write: cacheWrite };
}

function estimatedField({ ledger }: TaskState): Pick<ResultEnvelope['data'], 'estimated'> {
  const use = sumLedger(ledger, { isEstimated: true });
  if (use.answers === 0) return {};
  const { answers, usage } = use;
  return { estimated: { answers, usage: toEnvelopeUsage(usage), cost_usd: knownCost(use) } };
}

function workspaceField({
  spec,
  workspace: { start, left },
}: TaskState): Pick<ResultEnvelope['data'], 'workspace'> {
  if (spec.workspace === undefined) return {};
  const { kind, source, tree, branch } = spec.workspace;
  const base = start?.base ?? null;
  return { workspace: { kind, source, tree, branch: branch ?? null, base, left } };
}

function reusedField({ reused }: TaskState): Pick<ResultEnvelope['data'], 'reused'> {
  if (reused === null) return {};
  return { reused: { task_id: reused.of, at: new Date(reused.at).toISOString() } };
}

/** Returns the error that explains why a task without an end has no result; null while the task is at work. */
function findUnendedError(state: TaskState): ErrorInfo | null {
  const { status, parkedOn, questions } = state;
  if (status === 'interrupted') return interruptionError(state);
  if (status !== 'parked') return null;
  const count = Math.max(parkedOn.length, questions.size);
  const message = `it waits for ${plural(count, 'answer')} of the user: \`muster tasks answer\` lists the questions`;
  return { code: 'PERMISSION_DENIED', message, retryable: true };
}

function toEnvelopeStatus(status: TaskStatus): EnvelopeStatus {
  if (status === 'completed') return 'success';
  return status === 'partial' ? 'partial' : 'error';
}

/** Returns the final answer of a task, or its last text if it has no final answer. */
export function fullResult(state: TaskState): string {
  return state.result === '' ? state.lastText : state.result;
}

/** Formats the note that tells the parent which calls the user refused. */
function denialsLine(denials: readonly string[]): string {
  const shown = denials.slice(-MAX_DENIALS).map((each) => truncate(each, MAX_DENIAL_LENGTH));
  const more = denials.length - shown.length;
  return `[The user said no to: ${shown.join('; ')}${more > 0 ? `; and ${more} before` : ''}]`;
}

/** Returns the last line of a result: the task, what it used, and its receipt. */
function summaryLine(state: TaskState): string {
  const { spec } = state;
  const model = state.models.at(-1) ?? `${spec.model.provider}/${spec.model.id}`;
  const [calls = '', ...receipt] = formatReceiptParts(state, 'full');
  const parts = [
    `task ${spec.id}`,
    spec.agent.name,
    model,
    ...(state.reused === null ? [] : [`reused: ${reusedText(state.reused)}`]),
    plural(state.turns, 'turn'),
    calls,
    tokensText(state),
    formatDuration(elapsedMs(state)),
    ...receipt,
  ];
  return `[${parts.join(' · ')}]`;
}

/** Returns the tokens of a task, with a `~` if a part was estimated because the server did not count it. */
function tokensText({ usage, ledger }: TaskState): string {
  const estimated = sumLedger(ledger, { isEstimated: true });
  const tokens = paidTokens(usage) + paidTokens(estimated.usage);
  return `${estimated.answers > 0 ? '~' : ''}${plural(tokens, 'token')}`;
}

function countToolCalls(state: TaskState): number {
  let count = 0;
  for (const calls of state.toolCounts.values()) count += calls;
  return count;
}

/** Returns the milliseconds from the start of a task to its end, or to its newest event. */
export function elapsedMs(state: TaskState): number {
  const { elapsedMs: untilNow, startedMs, endedMs } = state.lifetime;
  return (endedMs ?? untilNow) - (startedMs ?? 0);
}

/**
 * Returns the id of the notice of a task's end. The id differs each time that the task ends. An interrupted task may
 * continue and end within the same activation, so its id also contains the number of its last event.
 */
export function endNoticeId({ spec, activation, status, lastSeq }: TaskState): string {
  const id = `${spec.id}-${activation.number}`;
  return status === 'interrupted' ? `${id}-lost-${lastSeq}` : id;
}

/** A page of a text. */
interface TextPage {
  readonly text: string;
  /** The offset of the remaining text; null if nothing remains. */
  readonly next: number | null;
}

/** The maximum number of characters of a token in any language. It bounds how much of a text must be read. */
const MAX_CHARACTERS_PER_TOKEN = 20;

/** The boundaries at which a text may be cut, in order of preference: paragraph, line, sentence, word, value. */
const BOUNDARIES = ['\n\n', '\n\r\n', '\n', '. ', '\u3002', ' ', ','];

/**
 * Returns the part of a text from `offset` that fits into `maxTokens` (estimated). The page ends at a paragraph if
 * possible, or else at a line, a sentence or a word. It holds at least one code point, so that paging always ends. An
 * offset within a code point is moved to the start of the code point.
 */
export function cutPage(fullText: string, offset: number, maxTokens: number): TextPage {
  const start = splitsSurrogatePair(fullText, offset) ? offset - 1 : offset;
  const remaining = fullText.length - start;
  const window = fullText.slice(start, start + maxTokens * MAX_CHARACTERS_PER_TOKEN);
  if (window.length === remaining && estimateTokensUnrounded(window) <= maxTokens) {
    return { text: window, next: null };
  }
  const length = findBoundary(window, findFittingLength(window, maxTokens));
  return { text: window.slice(0, length).trimEnd(), next: start + length };
}

/** Returns the length of the longest beginning that fits, at least 1. */
function findFittingLength(text: string, maxTokens: number): number {
  let length = prefixLengthWithin(text, maxTokens);
  // The measured beginning can have more tokens than its share of the text suggests.
  while (length > 1) {
    const tokens = estimateTokensUnrounded(text.slice(0, length));
    if (tokens <= maxTokens) return length;
    length = Math.floor((length * maxTokens) / tokens);
  }
  return 1;
}

/** Returns the position of the best boundary at or before `limit`. */
function findBoundary(text: string, limit: number): number {
  for (const boundary of BOUNDARIES) {
    const index = text.lastIndexOf(boundary, limit - boundary.length);
    // A boundary in the first half would waste too much of the space.
    if (index > limit / 2) return index + boundary.length;
  }
  if (!splitsSurrogatePair(text, limit)) return limit;
  return limit === 1 ? 2 : limit - 1;
}

/** Returns true if `at` lies between the two UTF-16 units of one code point. */
function splitsSurrogatePair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
