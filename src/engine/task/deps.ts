import type { NamedDefinitions } from '../../agents/commands/find-command.ts';
import type { AcceptanceOutcome } from '../../protocol/acceptance.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deadlines } from '../../base/deadlines.ts';
import type { MusterError } from '../../base/errors.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { AttachmentRules } from '../../protocol/attachment.ts';
import type { EventBody, TaskEvent } from '../../protocol/events/event.ts';
import type { TaskSignal } from '../../protocol/signal.ts';
import type { HookPort } from '../../protocol/hook.ts';
import type { ModelDetails, ModelPort, ResolvedModel } from '../../protocol/model.ts';
import type { OutputCap } from '../../protocol/output-cap.ts';
import type { Decision } from '../../protocol/permission.ts';
import type { ClaimFlag } from '../../protocol/result.ts';
import type { SkillDefinition } from '../../protocol/skill.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { TemplateDefinition } from '../../protocol/template.ts';
import type { AnyTool, ByteFilter, EditorPort } from '../../protocol/tool.ts';
import type { McpPort } from '../../protocol/mcp.ts';
import type { LanguagePort } from '../../protocol/languages.ts';
import type { WebAccess } from '../../protocol/web.ts';
import type { WorkspacePort } from '../../protocol/workspace.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { WorkspaceChanges } from '../../sys/files/changes/workspace-changes.ts';
import type { Environment } from '../../sys/env.ts';
import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import type { TaskProcesses } from './call-process.ts';
import type { Inbox } from './inbox.ts';
import type { MemorySource } from '../memory/memory-source.ts';
import type { EngineSettings } from '../limits/configured-limits.ts';
import type { ContextSource } from '../../protocol/project-context.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { LimitHit } from '../../protocol/state/activation.ts';

/** Chooses models. A request that can't be met leads to an error value or a warning, never to a silent change. */
export interface ModelChooser {
  /**
   * Chooses the model of a new task. Fails only for a model that the call names.
   *
   * @param request the model that the Task call names; the models of the agent's definition, of which the first
   *   available one is taken; and the parent's model, for `inherit`
   */
  forTask(request: {
    readonly call: string | undefined;
    readonly definition: readonly string[];
    readonly agent: AgentDefinition;
    readonly prompt: string;
    readonly parent: ResolvedModel;
  }): ResolvedModel | MusterError;
  /** Loads the data that is needed to resolve these model names. */
  prepare?(definition: readonly string[]): Promise<void>;
  /**
   * Returns the details of a model.
   *
   * @param servedBy the id under which the provider answered, which may be another model with its own price
   */
  details(model: ResolvedModel, servedBy?: string): Promise<ModelDetails>;
  /**
   * Returns the model's output limit in tokens, as in its details; null when requests to the model contain no limit.
   * Loads nothing, because the limit is needed before the first request.
   */
  outputLimit(model: ResolvedModel): number | null;
  /**
   * Returns the rules for the images and documents that the model accepts; null when they are unknown. Default: none
   * are accepted.
   */
  attachments?(model: ResolvedModel): Promise<AttachmentRules | null>;
  /** Tells whether the provider of a model can search the web for it. Default: no provider can. */
  canSearchWeb?(model: ResolvedModel): boolean;
  /** Returns the fallback models for a task of this agent, in order. Default: none. */
  fallbacks?(model: ResolvedModel, agent: AgentDefinition): readonly ResolvedModel[];
}

/** The agents that tasks may be delegated to. */
export interface AgentSource {
  /** Reloads changed files if enough time has passed. Called before an agent is chosen by name. Never rejects. */
  refresh(): Promise<void>;
  /** Returns all agents that can be chosen by name. Called at each use, since files may change. */
  agents(): readonly AgentDefinition[];
}

/** The skills that tasks may use. */
export interface SkillSource {
  /** Reloads changed files if enough time has passed. Called before a skill is chosen by name. Never rejects. */
  refresh(): Promise<void>;
  /** Returns all skills that can be used. Called at each use, since files may change. */
  skills(): readonly SkillDefinition[];
}

/** The slash commands that people may run. */
export interface SlashCommandSource {
  /** Reloads changed files if enough time has passed. Called before a command is found by name. Never rejects. */
  refresh(): Promise<void>;
  /** Returns all slash commands, with those that others hide. Called at each use, since files may change. */
  commands(): NamedDefinitions['commands'];
}

/** The decision about a tool call. */
export interface CallDecision {
  readonly allowed: boolean;
  readonly decision: Decision;
  /** The text that the model reads when the call is not allowed. */
  readonly refusal: string;
}

/** The event that records whether an earlier result was reused. */
export type ReuseOutcome = Extract<EventBody, { type: 'task.reused' | 'reuse.missed' }>;

/** The programs and servers that do the work of remote agents. */
export interface RemoteAgents {
  /**
   * Ends what was started for a task, and forgets its connection. Resolves when nothing of it runs any more. Never rejects.
   */
  endTask(id: string): Promise<void>;
}

/** The ports and settings that the engine gets from its caller. */
export interface EngineDeps {
  readonly store: TaskStore;
  /** Redacts output that is stored outside of the logs. Default: the output stays unchanged. */
  readonly redactBytes?: () => ByteFilter;
  /** Redacts texts in the same way as the store redacts logs. Default: the texts stay unchanged. */
  readonly redact?: (text: string) => string;
  readonly model: ModelPort;
  readonly models: ModelChooser;
  /** The slash commands from files. Default: a text that begins with a slash is a message. */
  readonly slashCommands?: SlashCommandSource;
  /** The templates that RunTemplate may run. Without any, the tool is not offered. */
  readonly templates?: readonly TemplateDefinition[];
  readonly tools: readonly AnyTool[];
  /** The MCP servers of the process. Default: there are none. */
  readonly mcp?: McpPort;
  /** The programs and servers that do the work of remote agents. Default: there are none. */
  readonly remoteAgents?: RemoteAgents;
  /** Loads the client for the web at its first use. Default: no call can use the web. */
  readonly web?: () => Promise<WebAccess>;
  /** Creates the workspaces of tasks. Default: no task gets a workspace. */
  readonly workspaces?: WorkspacePort;
  /** The limits of the processes of isolated tasks, and their program. Default: no task gets a process. */
  readonly processes?: TaskProcesses;
  /** Loads the language servers and checkers at the first change of a file. Default: changes are not checked. */
  readonly languages?: () => Promise<LanguagePort>;
  /** Runs the hooks of the user and the project. Default: there are none. */
  readonly hooks?: HookPort;
  /** Called after a command that may have changed files. Default: nobody needs to know. */
  readonly onCommand?: () => void;
  /** Returns the logged decision about a call, for reruns. Default: rules and people decide. */
  readonly decided?: (callId: string) => Promise<CallDecision>;
  /** Returns the logged outcome of the search for an earlier result, for reruns. Default: it is searched for. */
  readonly reuse?: () => ReuseOutcome | null;
  /**
   * Resolves to the logged outcome of the next check of the task's work, for reruns. It never settles if the log does
   * not contain it. Default: the work is checked.
   */
  readonly acceptance?: () => Promise<AcceptanceOutcome>;
  /** Returns the logged compaction before the next request, for reruns. Default: the engine decides it. */
  readonly compaction?: () => CompactionStep;
  /** Returns the logged output cap of the next request, for reruns. Default: the budget decides. */
  readonly outputCap?: () => OutputCap | null;
  /** Returns the flags of the next answer in the log, for reruns. Default: the answer is checked. */
  readonly flags?: () => readonly ClaimFlag[];
  /**
   * Returns the day for prompts, `YYYY-MM-DD`; null in reruns, whose logs contain the day. Default: the day of the
   * clock.
   */
  readonly today?: () => string | null;
  readonly agents: AgentSource;
  readonly skills: SkillSource;
  /** The notes of agents. Default: agents have no notes. */
  readonly memory?: MemorySource;
  /** The context files of directories, for prompts. Default: prompts name only the path of the directory. */
  readonly context?: ContextSource;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly settings: EngineSettings;
  readonly platform: string;
  /** The environment variables from which commands get theirs. Default: those of the process. */
  readonly environment?: Environment;
  /** The user's home directory: absolute, real. */
  readonly home: string;
  /** The directories of Muster's own configuration and data, where no task may write. */
  readonly stateDirectories: readonly string[];
  /** Resolves to true when the operating system can confine commands. This is tested at the first call. */
  sandboxed(): Promise<boolean>;
  /**
   * True when the user declares the machine itself to be the sandbox. In that case autonomous mode runs commands, but
   * no command can be made read-only. Default: false.
   */
  readonly machineIsSandbox?: boolean;
  /**
   * Returns true when the process seems to run in a container, which the user may declare to be the sandbox. Default:
   * false.
   */
  readonly inContainer?: () => boolean;
  /** Loads the part that finds what commands change, at its first use. Default: the changes are not recorded. */
  readonly changes?: () => Promise<WorkspaceChanges>;
  /** Confines the commands of tasks. */
  readonly sandbox: Sandbox;
  /** Returns the bytes that this process can still allocate; 0 when unknown. Default: asks the system. */
  readonly availableMemory?: () => number;
  /**
   * Returns the W3C trace context for the commands of a call. Default: commands get that of Muster's environment, if there
   * is one.
   */
  readonly traceparent?: (spec: TaskSpec, callId: string) => string;
  /** The editor in which the user has files open. Default: there is none. */
  readonly editor?: EditorPort;
  /** The questions of tasks to people. */
  readonly inbox: Inbox;
  /** Called for each event after it has been written, with the id of the top task of the tree and the new state. */
  onEvent(event: TaskEvent, of: { readonly tree: string; readonly state: TaskState }): void;
  /**
   * Called when something could not be written or an internal error was caught. Reports it in the log file and on
   * stderr.
   */
  onFault(taskId: string, thrown: unknown): void;
  onSignal(signal: TaskSignal): void;
}

type Body<T extends EventBody['type']> = Extract<EventBody, { type: T }>;

/** The compaction before a task's next request, as its log records it. */
export type CompactionStep =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'record';
      readonly event: Body<'context.cleared' | 'context.dropped' | 'context.handed'>;
    }
  | { readonly kind: 'summarise'; readonly event: Body<'summary.started'> }
  /** Nothing can be removed any more. `hit` is null when the provider refused the request as too large. */
  | { readonly kind: 'stuck'; readonly hit: LimitHit | null };
