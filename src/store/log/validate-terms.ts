import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { LIMITS, OPTIONAL_TASK_LIMITS } from '../../protocol/limits.ts';
import type { EventType } from '../../protocol/events/event.ts';
import { PERMISSION_MODES } from '../../protocol/permission.ts';
import { isQuotedItemList } from '../../protocol/quoted-item.ts';

/**
 * Checks the rights, limits and model of a task, which both a specification and a change of terms contain. Damaged
 * terms must not be used: without one of its rules or limits, a task could do more than the user has decided.
 */
export function hasValidTerms({ rights, limits, model }: JsonObject): boolean {
  return areRights(rights) && areLimits(limits) && isModel(model);
}

export function isArrayOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

export function isStringArray(value: unknown): boolean {
  return isArrayOf(value, (item) => typeof item === 'string');
}

/** Checks whether a value is an object in which all fields with these names are strings. */
export function hasTexts(value: unknown, names: readonly string[]): value is JsonObject {
  return isJsonObject(value) && names.every((name) => typeof value[name] === 'string');
}

export function isPermissionRule(value: unknown): boolean {
  return hasTexts(value, ['text', 'tool']) && isJsonObject(value['source']);
}

/** Checks the fields of an agent definition that every log version has. */
export function isAgentDefinition(value: unknown): boolean {
  if (!hasTexts(value, ['name', 'description', 'prompt'])) return false;
  const { aliases, tools, disallowedTools, limits, origin } = value;
  return (
    isStringArray(aliases) &&
    isStringArray(disallowedTools) &&
    isJsonObject(limits) &&
    isJsonObject(origin) &&
    hasTexts(tools, ['mode']) &&
    isStringArray(tools['names'])
  );
}

function areRules(value: unknown): boolean {
  return isArrayOf(value, isPermissionRule);
}

function areRights(value: unknown): boolean {
  if (!isJsonObject(value) || !isJsonObject(value['rules'])) return false;
  const { mode, rules, roots, disallowedTools, callLimits, network, depth, maxDepth, workspace } =
    value;
  return (
    PERMISSION_MODES.some((each) => each === mode) &&
    [rules['allow'], rules['ask'], rules['deny']].every(areRules) &&
    isStringArray(roots) &&
    isStringArray(disallowedTools) &&
    typeof network === 'boolean' &&
    Number.isFinite(depth) &&
    Number.isFinite(maxDepth) &&
    (callLimits === undefined || isArrayOf(callLimits, isCallLimit)) &&
    (workspace === undefined || isWorkspacePlace(workspace))
  );
}

/** Checks the fields of a workspace that every use of it relies on. */
export function isWorkspacePlace(value: unknown): boolean {
  return hasTexts(value, ['source', 'tree']);
}

/** Checks what a task left in its workspace. */
function isWorkspaceResult(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { files, conflicts, fileCount, addedLines, deletedLines } = value;
  return (
    [fileCount, addedLines, deletedLines].every(Number.isFinite) &&
    isArrayOf(files, (file) => hasTexts(file, ['path', 'status'])) &&
    isArrayOf(conflicts, isExpectedConflict)
  );
}

function isExpectedConflict(value: unknown): boolean {
  if (!isJsonObject(value) || !hasTexts(value, ['path'])) return false;
  return value['with'] === 'parent' || hasTexts(value['with'], ['task']);
}

function isCallLimit(value: unknown): boolean {
  return isJsonObject(value) && isStringArray(value['tools']) && areRules(value['rules']);
}

function areLimits(value: unknown): boolean {
  if (!isJsonObject(value) || !Number.isFinite(value['resultMaxTokens'])) return false;
  const { maxTurns, maxTokens, wallMs } = value;
  return (
    [maxTurns, maxTokens, wallMs].every((each) => each === null || Number.isFinite(each)) &&
    OPTIONAL_TASK_LIMITS.map((name) => value[LIMITS[name].field]).every(
      (each) => each === undefined || Number.isFinite(each),
    )
  );
}

function isModel(value: unknown): boolean {
  return hasTexts(value, ['provider', 'id']) && isStringArray(value['chain']);
}

type FieldType = 'text' | 'texts' | 'number' | 'object' | 'list';

const CALL = { callId: 'text', tool: 'text' } as const;

/**
 * All event types, with the fields that readers rely on in every version of logs. The type of this table makes a new
 * event type fail to compile until it is listed here.
 */
const REQUIRED_FIELDS: Readonly<Record<EventType, Readonly<Record<string, FieldType>>>> = {
  'task.created': {},
  'task.claimed': {},
  'task.held': { because: 'text' },
  'task.started': {},
  'task.resumed': { by: 'text' },
  'task.reused': {},
  'reuse.missed': { key: 'text' },
  'task.rewound': {},
  'files.restored': {},
  'terms.changed': {},
  'input.queued': { input: 'object' },
  'input.withdrawn': { ids: 'texts' },
  'turn.started': { turn: 'number', inputs: 'texts', model: 'text' },
  'turn.held': {},
  'turn.accepted': {},
  'turn.quiet': {},
  'turn.flowing': {},
  'turn.interrupted': { input: 'text', because: 'text' },
  'turn.retried': { failure: 'object' },
  'turn.ended': { turn: 'number', message: 'object', model: 'text' },
  'turn.failed': { failure: 'object' },
  'context.cleared': {},
  'summary.started': { ask: 'text' },
  'context.summarised': {},
  'summary.refused': { message: 'object' },
  'context.dropped': {},
  'context.handed': { text: 'text' },
  'request.ended': { callId: 'text', purpose: 'text', ms: 'number' },
  'call.started': CALL,
  'call.ended': { ...CALL, text: 'text', facts: 'object' },
  'call.refused': { ...CALL, text: 'text' },
  'question.asked': {},
  'question.answered': { question: 'text', callId: 'text', answer: 'object' },
  'rights.granted': {},
  'call.granted': { ...CALL, hook: 'object' },
  'rights.restricted': {},
  'rule.removed': {},
  'mode.granted': {},
  'task.parked': { questions: 'texts' },
  'child.created': { child: 'text', callId: 'text' },
  'child.resumed': { child: 'text', callId: 'text' },
  'child.detached': { child: 'text' },
  'items.reopened': {},
  'child.ended': { child: 'text', status: 'text' },
  'shell.started': { shell: 'text', command: 'text' },
  'shell.ended': { shell: 'text', end: 'text' },
  notified: { message: 'text' },
  'server.logged': { callId: 'text', server: 'text', level: 'text', text: 'text' },
  'hook.ran': { event: 'text', outcome: 'object' },
  'todos.set': { items: 'list' },
  'finding.posted': {
    finding: 'text',
    number: 'number',
    title: 'text',
    text: 'text',
    callId: 'text',
  },
  'acceptance.prepared': { baseline: 'text' },
  'acceptance.started': { turn: 'number' },
  'acceptance.checked': { outcome: 'object' },
  'workspace.opened': { base: 'text', notes: 'texts' },
  'workspace.closed': { left: 'object' },
  'limit.reached': { limit: 'text', value: 'number', used: 'number' },
  warning: { message: 'text' },
  'task.ended': { end: 'object', result: 'text' },
};

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(REQUIRED_FIELDS, text);
}

/**
 * Checks whether an event has the fields that readers rely on without further checks. A log may come from an untrusted
 * source.
 */
export function hasRequiredFields(event: JsonObject, type: EventType): boolean {
  const fields = Object.entries(REQUIRED_FIELDS[type]);
  if (!fields.every(([name, fieldType]) => hasType(event[name], fieldType))) return false;
  if (type === 'input.queued') return isInput(event['input']);
  if (type === 'workspace.closed') return isWorkspaceResult(event['left']);
  if (type === 'finding.posted') return isOptionalAuthor(event['author']);
  return type !== 'turn.ended' || isMessage(event['message']);
}

function hasType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'object':
      return isJsonObject(value);
    case 'list':
      return Array.isArray(value);
    case 'texts':
      return isStringArray(value);
    default:
      return type satisfies never;
  }
}

function isInput(value: unknown): boolean {
  return (
    hasTexts(value, ['id', 'kind', 'from', 'text']) &&
    (value['enclosed'] === undefined || isQuotedItemList(value['enclosed']))
  );
}

/** Checks the author of a finding, which only a copied finding names. */
function isOptionalAuthor(value: unknown): boolean {
  if (value === undefined) return true;
  return hasTexts(value, ['task', 'agent']) && typeof value['at'] === 'number';
}

function isMessage(value: unknown): boolean {
  return isJsonObject(value) && isArrayOf(value['content'], isPart);
}

function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  if (value['type'] === 'text') return typeof value['text'] === 'string';
  if (value['type'] !== 'tool_call') return typeof value['type'] === 'string';
  const { id, name, input } = value;
  return typeof id === 'string' && typeof name === 'string' && input !== undefined;
}
