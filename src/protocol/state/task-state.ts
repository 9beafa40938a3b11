import { addFoundTools } from './found-tools.ts';
import { defineActivity, type Activity, type RunningCall } from './activity.ts';
import { initialAnswers, type AnswersState } from './answers.ts';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { initialOwnedWork, type OwnedWork } from './owned-work.ts';
import { addQuotedFiles, recordReadFiles, type CallRecord } from './call-record.ts';
import {
  applyToConversation,
  emptyConversation,
  PROMPT_INPUT,
  type Conversation,
} from './conversation.ts';
import { initialDelegations, type Delegations } from './delegations.ts';
import type { EndReason } from '../end-reason.ts';
import type { TaskEvent } from '../events/event.ts';
import type { ModelFault } from '../fault.ts';
import { emptyInbox, type InboxState } from './questions.ts';
import { initialRepetition, type Repetition } from './repetition.ts';
import { emptyTurnTerms, noteMessageRules, type TurnTerms } from './turn-terms.ts';
import type { TaskStatus } from '../result.ts';
import type { AcceptanceOutcome } from '../acceptance.ts';
import type { BoardFinding } from '../board.ts';
import type { Rewound } from '../events/rewound.ts';
import { createLifetime, steadyTime, type Lifetime } from './steady-time.ts';
import * as activations from './activation.ts';
import type { TaskSpec } from '../task.ts';
import type { TodoItem } from '../tool.ts';
import type { WorkspaceResult, WorkspaceStart } from '../workspace.ts';

/** The checks of a task's work. */
export interface AcceptanceState {
  /** The hash of the blob with the state of the directory before the work; null: it was not recorded yet. */
  baseline: string | null;
  /** The outcomes in this activation, each with the number of models that had been replaced before. */
  checks: readonly { readonly outcome: AcceptanceOutcome; readonly rung: number }[];
  /** The number of models whose work was not accepted, so that the next one took over. */
  rung: number;
}

/** The start and the end of a subagent of which hooks were told. Each start needs an end, also after a crash in between. */
export interface ToldToHooks {
  /** True if hooks were told of the start. */
  readonly isStartTold: boolean;
  /** The number of turns after which hooks were last told that the task ends; null: they were not told yet. */
  readonly endTurns: number | null;
}

/** The state before hooks were told of a subagent. */
export const NOTHING_TOLD: ToldToHooks = { isStartTold: false, endTurns: null };

/** The workspace of a task. Both are null for a task without one. */
export interface WorkspaceState {
  /** The state in which the task found the workspace; null: it was not needed yet. */
  start: WorkspaceStart | null;
  /** The changes that the task left in it; null: the task has not ended in this activation. */
  left: WorkspaceResult | null;
}

/** The state of a task, folded from its log. The engine and all front ends use it. */
export interface TaskState extends AnswersState, OwnedWork, InboxState, CallRecord, TurnTerms {
  /** The specification, with the present rights, limits and model. */
  spec: TaskSpec;
  /** The status of the task. */
  status: TaskStatus;
  /** The current activity: `doing`, or if that is null, the activity that the running calls and open questions imply. */
  readonly activity: Activity;
  /** The activity that the last event set; null: it is derived from the running calls and the open questions. */
  doing: Activity | null;
  /** The conversation of the task with its model. */
  readonly conversation: Conversation;
  /** The calls that the model repeats. */
  readonly repetition: Repetition;
  /** The delegations that count as repetitions if they are made again. */
  readonly delegations: Delegations;
  /** The present activation, or the last one of a task that has ended. */
  activation: activations.Activation;
  /** The number of calls that ran, by canonical tool name. */
  readonly toolCounts: Map<string, number>;
  /** The running calls, by call id. */
  readonly runningCalls: Map<string, RunningCall>;
  /** The tools of calls that began under an earlier owner and have no recorded outcome, by call id. */
  readonly unknownCalls: Map<string, string>;
  /** The arguments that hooks have put in place of those of a call, by call id. */
  readonly inputsFromHooks: Map<string, JsonObject>;
  /** The start and the end of the task, as a subagent, of which hooks were told in this activation. */
  toldToHooks: ToldToHooks;
  /** The refused calls, as `Tool: reason`. */
  readonly refusals: string[];
  /** The number of faults of each kind, in the order of their first occurrence. */
  readonly faults: Map<ModelFault, number>;
  /** The warnings for the user, in their order. */
  readonly warnings: string[];
  /** The ids of the tasks that are not below this task, but that it may see and address. */
  readonly handed: Set<string>;
  /** The list of todos of the task. */
  todos: readonly TodoItem[];
  /** The findings in the log of the task, in order. In a branch, they can be of other tasks. */
  readonly findings: BoardFinding[];
  /** The checks of the task's work. */
  readonly acceptance: AcceptanceState;
  /** The workspace of the task. */
  readonly workspace: WorkspaceState;
  /** True if a descendant has worked in a workspace, so that its changes can be landed. */
  hasWorkspacesBelow: boolean;
  /** The earlier task whose result is reused, and the time of its end; null: no result is reused. */
  reused: { readonly of: string; readonly at: number } | null;
  /** The rewind whose files are being restored; null: there is none, or it is complete. */
  rewinding: (Pick<Rewound, 'dropped' | 'files' | 'only'> & { readonly seq: number }) | null;
  /** The reason why the task ended; null: it has not ended. */
  end: EndReason | null;
  /** The final answer; empty while there is none. */
  result: string;
  /** The result as JSON that matches the output schema; null: there is no such result. */
  structured: { readonly value: JsonValue } | null;
  /** The time of the creation, in milliseconds since the epoch. */
  readonly createdAt: number;
  /** The time of the end, in milliseconds since the epoch; null: it has not ended. */
  endedAt: number | null;
  /** The age of the task. */
  readonly lifetime: Lifetime;
  /** The number of the newest event. */
  lastSeq: number;
  /** The number of the present ownership of the log. Each new owner begins a new epoch. */
  epoch: number;
}

/**
 * Creates the state after the first event of a log. Throws Error if this event is not `task.created`, because the log is then not a
 * task log.
 *
 * @example
 * import { initialState, type TaskEvent } from 'muster-agent/events';
 *
 * export const promptOf = (first: TaskEvent): string => initialState(first).spec.prompt;
 */
export function initialState(first: TaskEvent): TaskState {
  if (first.type !== 'task.created') {
    throw new Error(`a task log begins with task.created, not ${first.type}`);
  }
  const state: Omit<TaskState, 'activity'> = {
    spec: first.spec,
    status: 'queued',
    doing: { kind: 'idle' },
    conversation: emptyConversation(),
    repetition: initialRepetition(),
    activation: activations.startActivation(0, {
      since: steadyTime(first),
      turns: 0,
      by: first.spec.parent,
      callId: first.spec.parentCall,
    }),
    ...initialAnswers(),
    toolCounts: new Map(),
    runningCalls: new Map(),
    unknownCalls: new Map(),
    inputsFromHooks: new Map(),
    toldToHooks: NOTHING_TOLD,
    ...initialOwnedWork(),
    ...emptyInbox(),
    ...emptyTurnTerms(),
    delegations: initialDelegations(),
    filesRead: new Map(),
    filesChanged: new Map(),
    unlistedChanges: new Map(),
    knownFiles: new Map(),
    quotedFiles: new Map(),
    commands: [],
    variables: new Map(),
    refusals: [],
    faults: new Map(),
    warnings: [],
    handed: new Set(first.spec.handed),
    skills: new Set(first.spec.skills),
    foundTools: new Map(),
    todos: [],
    findings: [],
    acceptance: { baseline: null, checks: [], rung: 0 },
    workspace: { start: null, left: null },
    hasWorkspacesBelow: false,
    reused: null,
    rewinding: null,
    end: null,
    result: '',
    structured: null,
    createdAt: first.ts,
    endedAt: null,
    lifetime: createLifetime(first),
    lastSeq: first.seq,
    epoch: first.epoch,
  };
  defineActivity(state);
  for (const { path, hash } of first.spec.inherited?.known ?? []) state.knownFiles.set(path, hash);
  addFoundTools(state.foundTools, first.spec.inherited?.foundTools ?? []);
  recordReadFiles(state, first.spec.given?.read ?? []);
  addQuotedFiles(state, PROMPT_INPUT, first.spec.enclosed);
  applyToConversation(state.conversation, first);
  for (const input of state.conversation.queued) noteMessageRules(state, input, first.seq);
  return state;
}
