import { isId } from '../../base/ids.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isAttachmentList } from '../../protocol/attachment.ts';
import type { EventType, TaskEvent } from '../../protocol/events/event.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { isQuotedItemList } from '../../protocol/quoted-item.ts';
import { isBlobMark } from './large-strings.ts';
import {
  hasRequiredFields,
  hasValidTerms,
  isStringArray,
  isAgentDefinition,
  isPermissionRule,
  isArrayOf,
} from './validate-terms.ts';

/** All event types. The type of this table makes a new event type fail to compile until it is listed here. */
const EVENT_TYPES: Readonly<Record<EventType, true>> = {
  'task.created': true,
  'task.claimed': true,
  'task.held': true,
  'task.started': true,
  'task.resumed': true,
  'task.reused': true,
  'reuse.missed': true,
  'task.rewound': true,
  'files.restored': true,
  'terms.changed': true,
  'input.queued': true,
  'input.withdrawn': true,
  'turn.started': true,
  'turn.held': true,
  'turn.accepted': true,
  'turn.quiet': true,
  'turn.flowing': true,
  'turn.interrupted': true,
  'turn.retried': true,
  'turn.ended': true,
  'turn.failed': true,
  'context.cleared': true,
  'summary.started': true,
  'context.summarised': true,
  'summary.refused': true,
  'context.dropped': true,
  'context.handed': true,
  'call.started': true,
  'call.ended': true,
  'call.refused': true,
  'question.asked': true,
  'question.answered': true,
  'rights.granted': true,
  'mode.granted': true,
  'task.parked': true,
  'child.created': true,
  'child.resumed': true,
  'child.detached': true,
  'items.reopened': true,
  'child.ended': true,
  'shell.started': true,
  'shell.ended': true,
  notified: true,
  'todos.set': true,
  'limit.reached': true,
  warning: true,
  'task.ended': true,
};

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENT_TYPES, text);
}

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

function isSpec(spec: unknown, task: string): boolean {
  return (
    isJsonObject(spec) &&
    spec['id'] === task &&
    typeof spec['root'] === 'string' &&
    isCount(spec['depth']) &&
    typeof spec['description'] === 'string' &&
    typeof spec['prompt'] === 'string' &&
    typeof spec['cwd'] === 'string' &&
    isStringArray(spec['tools']) &&
    isStringArray(spec['handed']) &&
    typeof spec['prefix'] === 'string' &&
    typeof spec['source'] === 'string' &&
    isAgentDefinition(spec['agent']) &&
    hasValidTerms(spec) &&
    (spec['fanOut'] === undefined || isFanOut(spec['fanOut'])) &&
    (spec['inherited'] === undefined || isForkedConversation(spec['inherited'])) &&
    (spec['summarised'] === undefined || isSummarizedConversation(spec['summarised'])) &&
    (spec['enclosed'] === undefined || isQuotedItemList(spec['enclosed'])) &&
    (spec['given'] === undefined || isInitialContext(spec['given']))
  );
}

/** Checks a fan-out closely, because the task continues it as it is logged. */
function isFanOut(value: unknown): boolean {
  if (!isJsonObject(value) || !isJsonObject(value['source'])) return false;
  const { template, path, body, items, digests } = value;
  const isItem = (each: unknown): boolean => typeof each === 'string' || isJsonObject(each);
  return (
    [template, path, body].every((text) => typeof text === 'string') &&
    isArrayOf(items, isItem) &&
    Array.isArray(digests)
  );
}

const QUESTION_NUMBER = /^q\d{1,9}$/;
const QUESTION_TEXTS = ['callId', 'tool'];
const PERMISSION_LISTS = ['commands', 'paths', 'hosts', 'edits', 'scopes'];

/** Checks a question closely, because people see its id and type it. */
function isQuestion(value: unknown, task: string): boolean {
  if (!isJsonObject(value)) return false;
  const { id, kind, chain } = value;
  if (typeof id !== 'string' || !id.startsWith(task) || value['task'] !== task) return false;
  if (!QUESTION_NUMBER.test(id.slice(task.length)) || !Array.isArray(chain)) return false;
  if (!QUESTION_TEXTS.every((name) => typeof value[name] === 'string')) return false;
  if (kind === 'input') return typeof value['text'] === 'string' && Array.isArray(value['options']);
  if (kind === 'plan') return typeof value['text'] === 'string';
  return kind === 'permission' && PERMISSION_LISTS.every((name) => Array.isArray(value[name]));
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

/** Checks every number that is added up: a missing one would turn the sum into NaN. */
function hasValidUsage({ usage, model, costUsd, estimated }: JsonObject): boolean {
  if (!isUsage(usage) || !isCost(costUsd)) return false;
  if (model !== undefined && typeof model !== 'string') return false;
  if (estimated === undefined) return true;
  return isJsonObject(estimated) && isUsage(estimated['usage']) && isCost(estimated['costUsd']);
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
function isRewound({ seq, to, undoes, stint, turns, end, dropped, files }: JsonObject): boolean {
  return (
    isCount(to) &&
    isCount(seq) &&
    to < seq &&
    (undoes === null || isCount(undoes)) &&
    isCount(stint) &&
    isCount(turns) &&
    (end === null || typeof end === 'string') &&
    isStringArray(dropped) &&
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
  const isCall = (each: unknown): boolean =>
    isJsonObject(each) && typeof each['callId'] === 'string' && typeof each['text'] === 'string';
  if (!isJsonObject(size)) return false;
  if (type === 'context.cleared') return isArrayOf(calls, isCall);
  if (type === 'context.summarised') return typeof summary === 'string';
  return isCount(upTo) && isStringArray(head);
}

function isRestored({ rewind, left }: JsonObject): boolean {
  const isUnrestored = (each: unknown): boolean =>
    isJsonObject(each) && typeof each['path'] === 'string' && typeof each['because'] === 'string';
  return isCount(rewind) && isArrayOf(left, isUnrestored);
}

/**
 * Checks whether a parsed line is an event in the log of `task`. Checks the stamp and the fields that readers rely on; all other
 * fields are accepted as they are.
 */
export function isTaskEvent(value: unknown, task: string): value is TaskEvent {
  if (!isJsonObject(value) || !hasValidStamp(value, task)) return false;
  const { type } = value;
  if (typeof type !== 'string' || !isEventType(type) || !hasRequiredFields(value, type)) {
    return false;
  }
  return CHECKS[type]?.(value, task) ?? true;
}

/** Checks beyond `hasRequiredFields`. */
const CHECKS: Partial<Readonly<Record<EventType, (event: JsonObject, task: string) => boolean>>> = {
  'task.created': ({ spec }, task) => isSpec(spec, task),
  'task.reused': isReuse,
  'task.rewound': isRewound,
  'files.restored': isRestored,
  'terms.changed': hasValidTerms,
  'turn.held': isHold,
  'turn.retried': hasValidUsage,
  'turn.ended': hasValidUsage,
  'turn.failed': hasValidUsage,
  'context.cleared': isCompaction,
  'summary.started': isCompaction,
  'context.summarised': (event) => hasValidUsage(event) && isCompaction(event),
  'summary.refused': hasValidUsage,
  'context.dropped': isCompaction,
  'call.ended': ({ attachments }) => attachments === undefined || isAttachmentList(attachments),
  'call.refused': ({ decision }) => isDecision(decision),
  'question.asked': ({ question }, task) => isQuestion(question, task),
  'rights.granted': ({ rule }) => isPermissionRule(rule),
  'mode.granted': ({ grant }) => isModeGrant(grant),
  'items.reopened': ({ items }) => isArrayOf(items, isCount),
  'child.ended': isChildEnd,
};

/**
 * Checks a forked conversation closely, because its messages are sent to a model. Messages that were moved to a blob are
 * not decoded yet.
 */
function isForkedConversation(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['agent'] !== 'string') return false;
  const { messages, known, said, counted } = value;
  return (
    isArrayOf(known, isReadFile) &&
    (counted === undefined || isTokenCount(counted)) &&
    (said === undefined || isArrayOf(said, isForkedReply)) &&
    areMessages(messages)
  );
}

/** Checks a conversation that is to be summarized as closely, and the prefix of its requests. */
function isSummarizedConversation(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['agent'] !== 'string') return false;
  const { task, turn, messages, prefix, model } = value;
  return (
    typeof task === 'string' &&
    typeof turn === 'number' &&
    isJsonObject(model) &&
    typeof model['provider'] === 'string' &&
    typeof model['id'] === 'string' &&
    areMessages(messages) &&
    (isBlobMark(prefix) || isPrefix(prefix))
  );
}

function isInitialContext(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return typeof value['text'] === 'string' && isArrayOf(value['read'], isReadFile);
}

function areMessages(value: unknown): boolean {
  return isBlobMark(value) || isArrayOf(value, isMessage);
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
  if (!isJsonObject(value) || typeof value['at'] !== 'number') return false;
  return typeof value['from'] === 'string' && typeof value['text'] === 'string';
}

function isTokenCount(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return [value['tokens'], value['messages'], value['output']].every(Number.isFinite);
}

function isReadFile(value: unknown): boolean {
  return isJsonObject(value) && typeof value['path'] === 'string';
}
