import type { TaskEvent } from '../protocol/events/event.ts';
import { modelName, toCount, type Usage } from '../protocol/model.ts';
import { steadyTime } from '../protocol/state/steady-time.ts';
import type { TaskSpec } from '../protocol/task.ts';
import type { OpenSpan } from './open-span.ts';
import { formatInputMessages, type NewMessage } from './span-content.ts';
import type { Attributes } from './span-record.ts';
import { splitModelName, toSpanName } from './span-texts.ts';
import { findTrace, spanIdOfActivation, spanIdOfCall } from './trace-ids.ts';

export type EventOf<T extends TaskEvent['type']> = Extract<TaskEvent, { readonly type: T }>;

/** A request of a task that has not ended. */
export interface OpenRequest {
  readonly span: OpenSpan;
  readonly turn: number;
  readonly isSummary: boolean;
  /** The usage and the cost in USD of the attempts so far. */
  usage: Usage;
  costUsd: number;
  isRetried: boolean;
}

/** The part of a task's history on which its next spans depend. */
export interface TaskTrace {
  readonly id: string;
  readonly traceId: string;
  readonly isSampled: boolean;
  /** The parent of each activation for which no other parent is known. */
  readonly topParent: string | null;
  /** The attributes that all spans of the task have. */
  readonly shared: Attributes;
  readonly agent: string;
  /** True if spans contain prompts, answers, arguments and results. */
  readonly hasContent: boolean;
  /** The number of activations so far. */
  activations: number;
  activation: OpenSpan | null;
  request: OpenRequest | null;
  readonly calls: Map<string, OpenSpan>;
  /** The number of calls by id. An id may come back after a rewind. */
  readonly callUses: Map<string, number>;
  /** Texts by the id of their input, until a request contains them. Empty without content. */
  readonly inputs: Map<string, string>;
  /** The results of calls that no request has contained yet. Empty without content. */
  results: NewMessage[];
  /** The time of the newest event in milliseconds since the epoch. */
  newestMs: number;
}

export function createTaskTrace(spec: TaskSpec, hasContent: boolean): TaskTrace {
  const { traceId, isSampled, outerSpanId } = findTrace(spec);
  const agent = toSpanName(spec.agent.name);
  return {
    id: spec.id,
    traceId,
    isSampled,
    topParent: findTopParent(spec, outerSpanId),
    shared: {
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': spec.id,
      'muster.task.root': spec.root,
    },
    agent,
    hasContent,
    activations: 0,
    activation: null,
    request: null,
    calls: new Map(),
    callUses: new Map(),
    inputs: new Map(),
    results: [],
    newestMs: 0,
  };
}

/**
 * Returns the parent of the first activation. An item of a template is created by the run and not by a call of it, and a task
 * that answers a hook by no call either.
 */
function findTopParent(
  { parent, parentCall, source }: TaskSpec,
  outerSpanId: string | null,
): string | null {
  if (parent === null) return outerSpanId;
  return source === 'template' || source === 'hook'
    ? spanIdOfActivation(parent, 0)
    : spanIdOfCall(parent, parentCall ?? '');
}

/** Returns the fields of every span of a task that begins now, below the activation. */
export function beginSpan(
  task: TaskTrace,
): Pick<OpenSpan, 'traceId' | 'isSampled' | 'parentSpanId' | 'startMs' | 'events' | 'links'> {
  return {
    traceId: task.traceId,
    isSampled: task.isSampled,
    parentSpanId: task.activation?.spanId ?? task.topParent,
    startMs: task.newestMs,
    events: [],
    links: [],
  };
}

/** Begins the span of an activation. `parent`: the id of its parent; null for none. */
export function beginActivation(
  task: TaskTrace,
  event: EventOf<'task.created' | 'task.resumed'>,
  parent: string | null,
): void {
  if (task.activation !== null) return;
  const number = task.activations;
  task.newestMs = toCount(steadyTime(event));
  task.activations += 1;
  task.activation = {
    ...beginSpan(task),
    spanId: spanIdOfActivation(task.id, number),
    parentSpanId: parent,
    name: `invoke_agent ${task.agent}`,
    kind: 'internal',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      ...task.shared,
      ...(event.type === 'task.created' ? creationAttributes(event.spec, task.hasContent) : {}),
      'muster.task.activation': number + 1,
    },
    links: number === 0 ? [] : [spanIdOfActivation(task.id, number - 1)],
  };
}

function creationAttributes(spec: TaskSpec, hasContent: boolean): Attributes {
  const model = splitModelName(modelName(spec.model));
  const prompt = { role: 'user', text: spec.prompt } as const;
  return {
    'gen_ai.provider.name': model.provider,
    'gen_ai.request.model': model.id,
    'muster.task.depth': spec.depth,
    'muster.task.background': spec.background,
    ...(hasContent ? { 'gen_ai.input.messages': formatInputMessages([prompt]) } : {}),
  };
}
