import * as endings from '../task/endings.ts';
import { type JsonObject, visitJsonValues, isDeeperThan, type JsonValue } from '../../base/json.ts';
import { findSizeProblem, outputSchemaOf } from '../task/output-schema.ts';
import type { SchemaCheckResult } from './compile-schema.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskEnding } from '../task/endings.ts';
import { errorMessage } from '../../base/errors.ts';
import { collapseWhitespace, truncate } from '../../base/text.ts';

/** Checks whether an answer is JSON that is valid against a schema. */
export type AnswerCheck = (answer: string) => SchemaCheckResult;

/**
 * Loads the validator and creates the check of answers against a schema. Returns a description of the problem if the
 * schema can't be used. The check itself is synchronous.
 */
export async function createAnswerCheck(schema: JsonObject): Promise<AnswerCheck | string> {
  const tooBig = findSizeProblem(schema);
  if (tooBig !== null) return tooBig;
  const { compileSchema } = await import('./compile-schema.ts');
  const check = compileSchema(schema);
  if (typeof check === 'string') return check;
  return (answer) => {
    const json = parseAnswerJson(answer);
    return json.ok ? check(json.value) : { kind: 'invalid', findings: [json.reason] };
  };
}

/** Returns the reason why a schema can't be used, or null. */
export async function findSchemaProblem(schema: JsonObject): Promise<string | null> {
  const check = await createAnswerCheck(schema);
  return typeof check === 'string' ? check : null;
}

/**
 * The maximum number of answers that are checked in one activation: the first answer, and two more after the model
 * has received the findings.
 */
const MAX_ANSWERS = 3;
/** The maximum number of findings in the error of a task. The log of the task holds all of them. */
const MAX_FINDINGS_IN_ERROR = 3;

/** The step after the check of a final answer. */
type SchemaCheckStep =
  | { readonly kind: 'tell'; readonly id: string; readonly text: string }
  | { readonly kind: 'end'; readonly ending: TaskEnding };

/**
 * Decides the next step after the check of a final answer. The answers are counted in the log, so that a crash
 * between two answers does not allow an additional one.
 */
export function decideAfterCheck(
  state: TaskState,
  answer: string,
  verdict: SchemaCheckResult,
): SchemaCheckStep {
  switch (verdict.kind) {
    case 'valid': {
      const ending = { ...endings.endCompleted(answer), structured: verdict.value };
      return { kind: 'end', ending };
    }
    case 'unchecked': {
      const ending = endings.endFailedBySchema(state, uncheckedAnswerError(verdict.reason));
      return { kind: 'end', ending };
    }
    case 'invalid': {
      const { findings } = verdict;
      const asked = countRepairRequests(state);
      if (asked + 1 >= MAX_ANSWERS) {
        const ending = endings.endFailedBySchema(state, invalidAnswersError(findings));
        return { kind: 'end', ending };
      }
      return {
        kind: 'tell',
        id: createRepairId(state, asked + 1),
        text: repairText(asked + 1, findings),
      };
    }
    default:
      return verdict satisfies never;
  }
}

function countRepairRequests(state: TaskState): number {
  let count = 0;
  while (state.conversation.inputIds.has(createRepairId(state, count + 1))) count += 1;
  return count;
}

function createRepairId({ activation }: TaskState, number: number): string {
  return `schema-${activation.number}-${number}`;
}

function repairText(answer: number, findings: readonly string[]): string {
  const list = findings.map((finding) => `- ${finding}`).join('\n');
  return `Your answer is not valid against the JSON Schema that this task has (answer ${answer} of at most ${MAX_ANSWERS}):\n${list}\nGive the whole answer again: one JSON value that is valid, and no other text.`;
}

function invalidAnswersError(findings: readonly string[]) {
  const shown = findings.slice(0, MAX_FINDINGS_IN_ERROR);
  const rest = findings.length > shown.length ? '; …' : '';
  const message = `none of ${MAX_ANSWERS} answers was valid against it; the last: ${shown.map(removeFullStop).join('; ')}${rest}`;
  return { code: 'PROVIDER_ERROR', message } as const;
}

/** Removes the full stop, because the error message continues after the finding. */
function removeFullStop(finding: string): string {
  return finding.replace(/\.$/, '');
}

function uncheckedAnswerError(why: string) {
  const message = `the answer could not be checked: ${why}`;
  return { code: 'LIMIT_EXCEEDED', message } as const;
}

/**
 * Returns true if a task with a schema has a result that was not checked as a final answer, because a limit ended the
 * task or an earlier result was reused.
 */
export function needsSchemaCheck(spec: TaskSpec, { end, structured }: TaskEnding): boolean {
  const hasResult = end.status === 'partial' || end.status === 'completed';
  return hasResult && structured === undefined && outputSchemaOf(spec) !== null;
}

/**
 * Adds the result as JSON to an ending for which `needsSchemaCheck` is true, if the result is valid. An invalid
 * result stays as it is, because no model can correct it any more.
 */
export async function addStructuredResult(
  { onFault }: Pick<EngineDeps, 'onFault'>,
  spec: TaskSpec,
  ending: TaskEnding,
): Promise<TaskEnding> {
  try {
    const schema = outputSchemaOf(spec);
    const check = schema === null ? null : await createAnswerCheck(schema);
    if (check === null || typeof check === 'string') return ending;
    const verdict = check(ending.result);
    return verdict.kind === 'valid' ? { ...ending, structured: verdict.value } : ending;
  } catch (thrown) {
    // An internal error in the check must not discard the answer.
    onFault(spec.id, thrown);
    return ending;
  }
}

/** The maximum nesting of objects and lists. */
const MAX_LEVELS = 200;
/** The maximum number of code points of the parser's message in a finding. */
const MAX_REASON_LENGTH = 200;

type AnswerJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses the JSON in an answer: the full answer, or else its only block that is fenced as `json`, or else its only
 * fenced block. JSON anywhere else is ignored, because JSON that an answer quotes in passing is not its result.
 */
export function parseAnswerJson(answer: string): AnswerJson {
  const fullAnswer = parseJson(answer);
  if (fullAnswer.ok) return fullAnswer;
  const blocks = findFencedBlocks(answer);
  const named = blocks.filter(({ language }) => language === 'json');
  const candidates = named.length > 0 ? named : blocks.filter(({ language }) => language === '');
  const [block] = candidates;
  if (block === undefined) return fullAnswer;
  if (candidates.length > 1) {
    return {
      ok: false,
      reason: `it holds ${candidates.length} blocks of JSON; one value is wanted`,
    };
  }
  return parseJson(block.text);
}

function parseJson(text: string): AnswerJson {
  let value: JsonValue;
  try {
    value = JSON.parse(text.trim());
  } catch (thrown) {
    const message = truncate(collapseWhitespace(errorMessage(thrown)), MAX_REASON_LENGTH);
    return { ok: false, reason: `it is not JSON: ${message}` };
  }
  if (isDeeperThan(value, MAX_LEVELS)) {
    return { ok: false, reason: `it is nested more than ${MAX_LEVELS} levels deep` };
  }
  for (const { value: each } of visitJsonValues(value)) {
    if (typeof each === 'number' && !Number.isFinite(each)) {
      return { ok: false, reason: 'it holds a number that is too large' };
    }
  }
  return { ok: true, value };
}

interface FencedBlock {
  /** The language after the opening fence, in lower case; empty if there is none. */
  readonly language: string;
  readonly text: string;
}

/** Finds the fenced blocks. A line of JSON is never a fence, so a block ends at the first closing fence. */
function findFencedBlocks(text: string): readonly FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { readonly language: string; readonly lines: string[] } | null = null;
  for (const line of text.split('\n')) {
    const fence = line.trim();
    if (open === null) {
      if (fence.startsWith('```')) {
        open = { language: fence.slice(3).trim().toLowerCase(), lines: [] };
      }
    } else if (fence === '```') {
      blocks.push({ language: open.language, text: open.lines.join('\n') });
      open = null;
    } else {
      open.lines.push(line);
    }
  }
  return blocks;
}
