import type { Clock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import type { MusterError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { AttachmentRules } from '../../protocol/attachment.ts';
import type { EventBody, TaskEvent } from '../../protocol/events/event.ts';
import type { TaskSignal } from '../../protocol/signal.ts';
import type { ModelDetails, ModelPort, ResolvedModel } from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { ClaimFlag } from '../../protocol/result.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { TemplateDefinition } from '../../protocol/template.ts';
import type { AnyTool, ByteFilter } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import type { CompactionStep } from './compaction-step.ts';
import type { Inbox } from './inbox.ts';
import type { MemorySource } from '../memory/memory-source.ts';
import type { EngineSettings } from '../limits/engine-settings.ts';
import type { ContextSource } from '../../protocol/project-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/** Chooses models; a wish that can't be met is an error value or a warning, never a silent change. */
export interface ModelChooser {
  /**
   * `call` is what the Task call named, `definition` what the agent file says, the first that can be
   * had; `parent` serves `inherit`. Fails only for a wish of the call, also where the definition's model is binding.
   */
  forTask(wish: {
    readonly call: string | undefined;
    readonly definition: readonly string[];
    readonly agent: AgentDefinition;
    readonly prompt: string;
    readonly parent: ResolvedModel;
  }): ResolvedModel | MusterError;
  /** Loads what it takes to understand these wishes, once. Absent: nothing. */
  prepare?(definition: readonly string[]): Promise<void>;
  /** `servedBy`: the id under which it has answered, where that may be another model with a price of its own. */
  facts(model: ResolvedModel, servedBy?: string): Promise<ModelDetails>;
  /**
   * Tokens that each request asks the model for at most, the same as `facts` says; null: none is asked
   * for. Loads nothing: it is needed before the first request goes out.
   */
  outputLimit(model: ResolvedModel): number | null;
  /** What the model takes of images and documents; null: nothing is known of it. Absent: nothing, of any. */
  attachments?(model: ResolvedModel): Promise<AttachmentRules | null>;
  /** What goes on in its turn where the model of a task of this agent fails. Absent: nothing. */
  fallbacks?(model: ResolvedModel, agent: AgentDefinition): readonly ResolvedModel[];
}

export interface AgentSource {
  /** Looks whether files have changed, now and then; called before agents are chosen by name. Never rejects. */
  refresh(): Promise<void>;
  /** All that may be chosen by name, shadowed ones left out. Called at each use: files may change. */
  agents(): readonly AgentDefinition[];
}

export interface SkillSource {
  /** As that of agents; called before skills are chosen by name. Never rejects. */
  refresh(): Promise<void>;
  /** All that can be used, shadowed ones left out. Called at each use: files may change. */
  skills(): readonly SkillDefinition[];
}

/** What was decided about a call. */
export interface Decided {
  readonly allowed: boolean;
  readonly decision: Decision;
  /** What the model reads when it is not allowed. */
  readonly refusal: string;
}

/** What came of the look for an earlier result, as the log tells it. */
export type ReuseOutcome = Extract<EventBody, { type: 'task.reused' | 'reuse.missed' }>;

/** Everything the engine needs from outside. */
export interface EngineDeps {
  readonly store: TaskStore;
  /** For output that goes beside the logs. Absent: it is kept as it comes. */
  readonly redactBytes?: () => ByteFilter;
  /** What the store does to all that is logged. Absent: nothing. */
  readonly redact?: (text: string) => string;
  readonly model: ModelPort;
  readonly models: ModelChooser;
  /** What RunTemplate may run. Absent or empty: it is not offered. */
  readonly templates?: readonly TemplateDefinition[];
  readonly tools: readonly AnyTool[];
  /** Decides about calls in the place of rules and people, with files and all: for reruns. Absent: they do. */
  readonly decided?: (callId: string) => Promise<Decided>;
  /** Says what came of the look for an earlier result, in the place of one: for reruns. Absent: one looks. */
  readonly reuse?: () => ReuseOutcome | null;
  /** Says what is done before the next request to keep it within its window: for reruns. Absent: that is decided. */
  readonly compaction?: () => CompactionStep;
  /** Says by how much the next request's output cap is lowered: for reruns. Absent: the budget decides. */
  readonly outputCap?: () => OutputCap | null;
  /** Returns the flags of the answer that the log has next, for reruns. Default: the answer is checked. */
  readonly flags?: () => readonly ClaimFlag[];
  /** The day that requests are told of, `YYYY-MM-DD`; null, for reruns: their logs say it. Absent: by the clock. */
  readonly today?: () => string | null;
  readonly agents: AgentSource;
  readonly skills: SkillSource;
  /** Where notes lie. Absent: none are kept. */
  readonly memory?: MemorySource;
  /** What tasks are told of their directory. Absent: its path alone. */
  readonly context?: ContextSource;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly settings: EngineSettings;
  readonly platform: string;
  /** Absolute, real. */
  readonly home: string;
  /** Muster's own configuration and data directories: no task writes there. */
  readonly stateDirectories: readonly string[];
  /** Whether the operating system holds commands to what they may touch; tried out at the first call. */
  sandboxed(): Promise<boolean>;
  /**
   * Whether the user says that the machine itself is the sandbox: autonomous mode runs commands then, but nothing
   * makes one read-only. Default false.
   */
  readonly machineIsSandbox?: boolean;
  /** Whether this seems to be a container, where the user may say so. Default: it does not. */
  readonly inContainer?: () => boolean;
  /** Holds the commands of tasks. */
  readonly sandbox: Sandbox;
  /** Bytes that this process can still get; 0: not known. Default: as the system says. */
  readonly availableMemory?: () => number;
  /** What tasks ask people. */
  readonly inbox: Inbox;
  /** Each event once it is written; `tree`: the id of the task at the top here, `state`: the fold with it. */
  onEvent(event: TaskEvent, of: { readonly tree: string; readonly state: TaskState }): void;
  /** Something that could not be written where it belongs; for the log file and stderr. */
  onFault(taskId: string, thrown: unknown): void;
  onSignal(signal: TaskSignal): void;
}
