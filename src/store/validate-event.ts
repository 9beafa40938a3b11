import { isId } from '../base/ids.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { isAttachmentList } from '../protocol/attachment.ts';
import { isQuotedItemList } from '../protocol/quoted-item.ts';
import type { EventType, TaskEvent } from '../protocol/events/event.ts';
import { PERMISSION_MODES } from '../protocol/permission.ts';
import { isGiven, isInherited, isSummarised } from './validate-context.ts';
import { hasShape } from './event-shapes.ts';
import { areTerms, areTexts, isAgent, isRule } from './terms-guard.ts';

/** Complete by type: a new event type does not compile until it stands here. */
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

function isStamped(value: JsonObject, task: string): boolean {
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
    areTexts(spec['tools']) &&
    areTexts(spec['handed']) &&
    typeof spec['prefix'] === 'string' &&
    typeof spec['source'] === 'string' &&
    isAgent(spec['agent']) &&
    areTerms(spec) &&
    (spec['fanOut'] === undefined || isFanOut(spec['fanOut'])) &&
    (spec['inherited'] === undefined || isInherited(spec['inherited'])) &&
    (spec['summarised'] === undefined || isSummarised(spec['summarised'])) &&
    (spec['enclosed'] === undefined || isQuotedItemList(spec['enclosed'])) &&
    (spec['given'] === undefined || isGiven(spec['given']))
  );
}

/** It is gone on with as it stands, so it is looked at closely. */
function isFanOut(value: unknown): boolean {
  if (!isJsonObject(value) || !isJsonObject(value['source'])) return false;
  const { template, path, body, items, digests } = value;
  const isItem = (each: unknown): boolean => typeof each === 'string' || isJsonObject(each);
  return (
    [template, path, body].every((text) => typeof text === 'string') &&
    Array.isArray(items) &&
    items.every(isItem) &&
    Array.isArray(digests)
  );
}

const QUESTION_NUMBER = /^q\d{1,9}$/;
const QUESTION_TEXTS = ['callId', 'tool'];
const PERMISSION_LISTS = ['commands', 'paths', 'hosts', 'edits', 'scopes'];

/** Its id is shown to be typed by a person, so it is looked at closely. */
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

/** Null: nobody decided. */
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

/** Checks every number that is added up: one that is missing would make the whole sum NaN. */
function isUsed({ usage, model, costUsd, estimated }: JsonObject): boolean {
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

/** Milliseconds that a date can be made of. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && !Number.isNaN(new Date(value).getTime());
}

/** Its text is answered with, and the id is shown. */
function isReuse({ of, at, read, text }: JsonObject): boolean {
  return (
    typeof of === 'string' &&
    isId(of) &&
    isTime(at) &&
    Array.isArray(read) &&
    typeof text === 'string'
  );
}

/** Files are changed by it, so it is looked at closely. */
function isRewound({ seq, to, undoes, stint, turns, end, dropped, files }: JsonObject): boolean {
  return (
    isCount(to) &&
    isCount(seq) &&
    to < seq &&
    (undoes === null || isCount(undoes)) &&
    isCount(stint) &&
    isCount(turns) &&
    (end === null || typeof end === 'string') &&
    Array.isArray(dropped) &&
    dropped.every((id) => typeof id === 'string') &&
    Array.isArray(files) &&
    files.every(isRewoundFile)
  );
}

function isRewoundFile(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value['path'] !== 'string') return false;
  return isForm(value['from']) && isForm(value['to']);
}

function isForm(value: unknown): boolean {
  if (value === null) return true;
  if (!isJsonObject(value) || typeof value['hash'] !== 'string') return false;
  return isCount(value['mode']) && value['mode'] <= 0o777;
}

/** Its texts stand in requests. */
function isCompaction({ type, calls, size, upTo, head, summary }: JsonObject): boolean {
  const isCall = (each: unknown): boolean =>
    isJsonObject(each) && typeof each['callId'] === 'string' && typeof each['text'] === 'string';
  if (!isJsonObject(size)) return false;
  if (type === 'context.cleared') return Array.isArray(calls) && calls.every(isCall);
  if (type === 'context.summarised') return typeof summary === 'string';
  return isCount(upTo) && areTexts(head);
}

function isRestored({ rewind, left }: JsonObject): boolean {
  const isLeft = (each: unknown): boolean =>
    isJsonObject(each) && typeof each['path'] === 'string' && typeof each['because'] === 'string';
  return isCount(rewind) && Array.isArray(left) && left.every(isLeft);
}

/** They are read and sent, so they are looked at closely. */
function mayBeAttached(value: unknown): boolean {
  return value === undefined || isAttachmentList(value);
}

function isItemList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isCount);
}

/**
 * Whether a parsed line is an event of this task's log. Its stamp, and what its readers go by, are looked at;
 * the rest is taken as it was written.
 */
export function isTaskEvent(value: unknown, task: string): value is TaskEvent {
  if (!isJsonObject(value) || !isStamped(value, task)) return false;
  const { type } = value;
  if (typeof type !== 'string' || !isEventType(type) || !hasShape(value, type)) return false;
  if (type === 'task.created') return isSpec(value['spec'], task);
  if (type === 'terms.changed') return areTerms(value);
  if (type === 'call.refused') return isDecision(value['decision']);
  if (type === 'call.ended') return mayBeAttached(value['attachments']);
  if (type === 'turn.ended') return isUsed(value);
  if (type === 'turn.retried' || type === 'turn.failed') return isUsed(value);
  if (type === 'summary.refused') return isUsed(value) && isJsonObject(value['message']);
  if (type === 'context.summarised') return isUsed(value) && isCompaction(value);
  if (type === 'summary.started') return isCompaction(value) && typeof value['ask'] === 'string';
  if (type === 'context.handed') return typeof value['text'] === 'string';
  if (type === 'context.cleared' || type === 'context.dropped') return isCompaction(value);
  if (type === 'child.ended') return isChildEnd(value);
  if (type === 'turn.held') return isHold(value);
  if (type === 'task.held') return typeof value['because'] === 'string';
  if (type === 'question.asked') return isQuestion(value['question'], task);
  if (type === 'task.rewound') return isRewound(value);
  if (type === 'files.restored') return isRestored(value);
  if (type === 'items.reopened') return isItemList(value['items']);
  if (type === 'task.reused') return isReuse(value);
  if (type === 'reuse.missed') return typeof value['key'] === 'string';
  if (type === 'rights.granted') return isRule(value['rule']);
  if (type === 'mode.granted') return isModeGrant(value['grant']);
  return true;
}
