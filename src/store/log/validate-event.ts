import { EFFORTS } from '../../protocol/model.ts';
import { isId } from '../../base/ids.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isAttachmentList } from '../../protocol/attachment.ts';
import type { EventType, TaskEvent } from '../../protocol/events/event.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { isQuotedItemList } from '../../protocol/quoted-item.ts';
import { isBlobReference } from './large-strings.ts';
import {
  hasRequiredFields,
  isWorkspacePlace,
  hasTexts,
  hasValidTerms,
  isEventType,
  isStringArray,
  isAgentDefinition,
  isPermissionRule,
  isArrayOf,
} from './validate-terms.ts';

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function hasValidStamp(value: JsonObject, task: string): boolean {
  return (
    isCount(value['v']) &&
    isCount(value['seq']) &&
    typeof value['ts'] === 'number' &&
    (value['clockShift'] === undefined || Number.isSafeInteger(value['clockShift'])) &&
    value['task'] === task &&
    isCount(value['epoch'])
  );
}

const SPEC_TEXTS = ['root', 'description', 'prompt', 'cwd', 'prefix', 'source'];

/** The fields that a specification may lack, each with the check of its value. */
const OPTIONAL_SPEC_FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  fanOut: isFanOut,
  inherited: isForkedConversation,
  summarised: isSummarizedConversation,
  enclosed: isQuotedItemList,
  given: isInitialContext,
  isolation: (value) => value === 'process',
  traceparent: (value) => typeof value === 'string',
  workspace: (value) => isWorkspacePlace(value) && hasTexts(value, ['kind']),
};

function isSpec(spec: unknown, task: string): boolean {
  return (
    isJsonObject(spec) &&
    spec['id'] === task &&
    isCount(spec['depth']) &&
    hasTexts(spec, SPEC_TEXTS) &&
    isStringArray(spec['tools']) &&
    isStringArray(spec['handed']) &&
    isAgentDefinition(spec['agent']) &&
    hasValidTerms(spec) &&
    Object.entries(OPTIONAL_SPEC_FIELDS).every(
      ([name, isValid]) => spec[name] === undefined || isValid(spec[name]),
    )
  );
}

/** Checks a fan-out closely, because a resumed task runs the items from its log. */
function isFanOut(value: unknown): boolean {
  if (!isJsonObject(value) || !isJsonObject(value['source'])) return false;
  const { items, digests } = value;
  const isItem = (each: unknown): boolean => typeof each === 'string' || isJsonObject(each);
  return (
    hasTexts(value, ['template', 'path', 'body']) &&
    isArrayOf(items, isItem) &&
    Array.isArray(digests)
  );
}

const QUESTION_NUMBER = /^q\d{1,9}$/;
const PERMISSION_LISTS = ['commands', 'paths', 'hosts', 'edits', 'scopes'];

/** Checks a question closely, because its id is displayed and people type it. */
function isQuestion(value: unknown, task: string): boolean {
  if (!isJsonObject(value)) return false;
  const { id, kind, chain } = value;
  if (typeof id !== 'string' || !id.startsWith(task) || value['task'] !== task) return false;
  if (!QUESTION_NUMBER.test(id.slice(task.length)) || !Array.isArray(chain)) return false;
  if (!hasTexts(value, ['callId', 'tool'])) return false;
  if (kind === 'input') return typeof value['text'] === 'string' && Array.isArray(value['options']);
  if (kind === 'plan') return typeof value['text'] === 'string';
  if (kind === 'server') return isServerQuestion(value);
  return kind === 'permission' && PERMISSION_LISTS.every((name) => Array.isArray(value[name]));
}

function isServerQuestion(value: JsonObject): boolean {
  const { url, fields } = value;
  const isField = (field: unknown): boolean =>
    hasTexts(field, ['name', 'title', 'description', 'type']) && Array.isArray(field['options']);
  return (
    hasTexts(value, ['server', 'text']) &&
    (url === null || typeof url === 'string') &&
    isArrayOf(fields, isField)
  );
}

function isModeGrant(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { agent, mode, definition, source } = value;
  return (
    typeof agent === 'string' &&
    PERMISSION_MODES.some((each) => each === mode) &&
    isJsonObject(source) &&
    (definition === null || (isJsonObject(definition) && typeof definition['path'] === 'string'))
  );
}

/** A decision is null if no rule decided. */
function isDecision(value: unknown): boolean {
  return value === null || (isJsonObject(value) && typeof value['reason'] === 'string');
}

const USAGE_FIELDS = ['input', 'output', 'cacheRead', 'cacheWrite', 'reasoning'];

function isUsage(value: unknown): boolean {
  return isJsonObject(value) && USAGE_FIELDS.every((name) => Number.isFinite(value[name]));
}

function isCost(value: unknown): boolean {
  return value === undefined || value === null || Number.isFinite(value);
}

/** Checks every number that is added up, because a missing number would turn the sum into NaN. */
function hasValidUsage({ usage, model, costUsd, estimated }: JsonObject): boolean {
  if (!isUsage(usage) || !isCost(costUsd)) return false;
  if (model !== undefined && typeof model !== 'string') return false;
  if (estimated === undefined) return true;
  return isJsonObject(estimated) && isUsage(estimated['usage']) && isCost(estimated['costUsd']);
}

function isRequestEnd(event: JsonObject): boolean {
  const { failure } = event;
  return hasValidUsage(event) && (failure === null || hasTexts(failure, ['kind', 'message']));
}

function isChildEnd({ changed, spent, below, work, delegations }: JsonObject): boolean {
  return (
    Array.isArray(changed) &&
    Array.isArray(below) &&
    isJsonObject(spent) &&
    [work, delegations].every((each) => each === undefined || isJsonObject(each))
  );
}

function isHold({ because, untilMs }: JsonObject): boolean {
  return typeof because === 'string' && (untilMs === null || typeof untilMs === 'number');
}

/** Checks whether a value is a number of milliseconds that a `Date` can represent. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
}

/** Checks a reuse closely, because its text becomes the result of the task and its id is displayed. */
function isReuse({ of, at, read, text }: JsonObject): boolean {
  return (
    typeof of === 'string' &&
    isId(of) &&
    isTime(at) &&
    Array.isArray(read) &&
    typeof text === 'string'
  );
}

/** Checks a rewind closely, because it changes files. */
function isRewound(event: JsonObject): boolean {
  const { seq, to, undoes, stint, turns, end, dropped, files, only } = event;
  return (
    isCount(to) &&
    isCount(seq) &&
    to < seq &&
    (undoes === null || isCount(undoes)) &&
    isCount(stint) &&
    isCount(turns) &&
    (end === null || typeof end === 'string') &&
    isStringArray(dropped) &&
    (only === undefined || only === 'files') &&
    isArrayOf(files, isRewoundFile)
  );
}

function isRewoundFile(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['path'] !== 'string') return false;
  return isFileVersion(value['from']) && isFileVersion(value['to']);
}

/** A version of a file; null if the file did not exist. */
function isFileVersion(value: unknown): boolean {
  if (value === null) return true;
  if (!isJsonObject(value) || typeof value['hash'] !== 'string') return false;
  return isCount(value['mode']) && value['mode'] <= 0o777;
}

/** Checks the parts of a compaction that requests contain. */
function isCompaction({ type, calls, size, upTo, head, summary }: JsonObject): boolean {
  const isCall = (each: unknown): boolean => hasTexts(each, ['callId', 'text']);
  if (!isJsonObject(size)) return false;
  if (type === 'context.cleared') return isArrayOf(calls, isCall);
  if (type === 'context.summarised') return typeof summary === 'string';
  return isCount(upTo) && isStringArray(head);
}

function isRestored({ rewind, left: unrestored }: JsonObject): boolean {
  const isUnrestored = (each: unknown): boolean => hasTexts(each, ['path', 'because']);
  return isCount(rewind) && isArrayOf(unrestored, isUnrestored);
}

/**
 * Checks whether a parsed line is an event in the log of `task`. Checks the stamp and the fields that readers rely on,
 * and accepts all other fields unchecked.
 */
export function isTaskEvent(value: unknown, task: string): value is TaskEvent {
  if (!isJsonObject(value) || !hasValidStamp(value, task)) return false;
  const { type } = value;
  if (typeof type !== 'string' || !isEventType(type) || !hasRequiredFields(value, type)) {
    return false;
  }
  return CHECKS[type]?.(value, task) ?? true;
}

function isEffortChange({ effort }: JsonObject): boolean {
  return effort === undefined || effort === null || EFFORTS.some((each) => each === effort);
}

/** The checks of single event types that `hasRequiredFields` does not cover. */
const CHECKS: Partial<Readonly<Record<EventType, (event: JsonObject, task: string) => boolean>>> = {
  'task.created': ({ spec }, task) => isSpec(spec, task),
  'task.reused': isReuse,
  'task.rewound': isRewound,
  'files.restored': isRestored,
  'terms.changed': (event) => hasValidTerms(event) && isEffortChange(event),
  'turn.held': isHold,
  'turn.retried': hasValidUsage,
  'turn.ended': hasValidUsage,
  'turn.failed': hasValidUsage,
  'context.cleared': isCompaction,
  'summary.started': isCompaction,
  'context.summarised': (event) => hasValidUsage(event) && isCompaction(event),
  'summary.refused': hasValidUsage,
  'context.dropped': isCompaction,
  'request.ended': isRequestEnd,
  'call.ended': ({ attachments }) => attachments === undefined || isAttachmentList(attachments),
  'call.refused': ({ decision }) => isDecision(decision),
  'question.asked': ({ question }, task) => isQuestion(question, task),
  'rights.granted': ({ rule }) => isPermissionRule(rule),
  'rights.restricted': ({ list, rule }) =>
    (list === 'ask' || list === 'deny') && isPermissionRule(rule),
  'rule.removed': ({ list, rule }) =>
    (list === 'allow' || list === 'ask' || list === 'deny') && isPermissionRule(rule),
  'mode.granted': ({ grant }) => isModeGrant(grant),
  'items.reopened': ({ items }) => isArrayOf(items, isCount),
  'child.ended': isChildEnd,
};

/**
 * Checks a forked conversation closely, because its messages are sent to a model. If the
 * messages were moved to a blob, the value is still a blob reference.
 */
function isForkedConversation(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['agent'] !== 'string') return false;
  const { messages, known, said, counted, foundTools } = value;
  return (
    isArrayOf(known, isReadFile) &&
    (counted === undefined || isTokenCount(counted)) &&
    (said === undefined || isArrayOf(said, isForkedReply)) &&
    (foundTools === undefined || isStringArray(foundTools)) &&
    areMessages(messages)
  );
}

/** Checks a conversation to summarize as closely as a forked conversation, and also the prefix of its requests. */
function isSummarizedConversation(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['agent'] !== 'string') return false;
  const { task, turn, messages, prefix, model } = value;
  return (
    typeof task === 'string' &&
    typeof turn === 'number' &&
    hasTexts(model, ['provider', 'id']) &&
    areMessages(messages) &&
    (isBlobReference(prefix) || isPrefix(prefix))
  );
}

function isInitialContext(value: unknown): boolean {
  return hasTexts(value, ['text']) && isArrayOf(value['read'], isReadFile);
}

function areMessages(value: unknown): boolean {
  return isBlobReference(value) || isArrayOf(value, isMessage);
}

function isPrefix(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return isStringArray(value['system']) && isArrayOf(value['tools'], isJsonObject);
}

function isMessage(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { role, content } = value;
  const isKnown = role === 'user' || role === 'assistant' || role === 'tool';
  return isKnown && isArrayOf(content, isPart);
}

function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return value['attachments'] === undefined || isAttachmentList(value['attachments']);
}

function isForkedReply(value: unknown): boolean {
  return hasTexts(value, ['from', 'text']) && typeof value['at'] === 'number';
}

function isTokenCount(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return [value['tokens'], value['messages'], value['output']].every(Number.isFinite);
}

function isReadFile(value: unknown): boolean {
  return hasTexts(value, ['path']);
}
