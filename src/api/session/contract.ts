import type { WaitingQuestion } from '../../engine/task/inbox.ts';
import type { ModelSetup } from '../../model/selection/choose-model.ts';
import type { StopOrder } from '../../engine/task/stop-order.ts';
import type { Effort, ResolvedModel } from '../../protocol/model.ts';
import type { TerminalSettings } from '../../protocol/terminal-settings.ts';
import type { ConfigFile } from '../../config/files.ts';
import type { HintUses } from './hint-uses.ts';
import type { ScreenMark } from './screen-mark.ts';
import type { PermissionMode, RuleSet } from '../../protocol/permission.ts';
import type { ContextFile } from '../../protocol/project-context.ts';
import type { TemplateDefinition } from '../../protocol/template.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { TaskStore, TaskSummary } from '../../store/task-store.ts';
import type { RewindPlan, RewindRequest } from '../../engine/rewind/plan-rewind.ts';
import type { StoredWorkspaces } from '../workspaces/contract.ts';
import type { RewindOutcome } from '../../engine/rewind/rewind.ts';
import type { ListedModels, ModelListOptions } from './session-model-lists.ts';
import type { ServerContent } from '../mcp/server-content.ts';
import type { PromptHistory } from './prompt-history.ts';
import type { RuleChange } from '../../engine/permissions/change-rules.ts';
import type { TaskRules } from './conversation-rules.ts';
import type { TaskContext } from '../tasks/task-context.ts';
import type { SandboxState } from '../../sys/sandbox/sandbox.ts';
import type { KeyBinding } from '../../config/key-bindings.ts';
import type { EventListener, SignalListener } from './event-router.ts';
import type { BranchTask, ResumeRequest, RunRequest } from '../setup/options.ts';
import type { TemplateRequest } from '../templates/plan-fan-out.ts';
import type { TemplateReport, TemplateResumePreview } from '../templates/template-report.ts';
import type { QuotedItems, QuoteRequest } from '../../engine/quote/quote.ts';
import type { HookReport } from '../../report/hook-lines.ts';
import type { OfferedCommand } from '../../agents/commands/find-command.ts';
import type { ServerBoard } from '../mcp/server-status.ts';
import type { DiscoveredAgents, DiscoveredSkills } from '../setup/definitions.ts';
import type { TreeRerun } from '../../replay/rerun-tree.ts';
import type { QuestionAnswer } from '../../engine/engine-requests.ts';

export type { OfferedCommand } from '../../agents/commands/find-command.ts';
export type { CommandOutput, QuotedItems, ShownImage } from '../../engine/quote/quote.ts';

/** The files, images and command outputs that a person sends along with the next message. */
export interface MessageQuoteRequest extends QuoteRequest {
  /** The full id of the task that receives the items, or null for a new conversation. */
  readonly to: string | null;
  /** The agent of a new conversation. Default: the main agent. */
  readonly agent?: string;
  /** The mode that the user has chosen for this message. Default: the mode of the task, or that of new conversations. */
  readonly mode?: PermissionMode;
  /** The rules that the user has set for a new conversation. Default: none. */
  readonly rules?: readonly RuleChange[];
  /** Cancels the reading of the items. The promise then rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
}

/** A message of the user that was taken back before any request contained it. */
export interface WithdrawnMessage {
  readonly id: string;
  readonly text: string;
}

/** The description of an image before it is sent to a model. */
export interface ImageDescription {
  /** For example `PNG image, 640 × 480 pixels, 12345 bytes`, or null if the bytes are not an image. */
  readonly facts: string | null;
  /** The reason why the model of the conversation cannot get the image, or null if it can. */
  readonly why: string | null;
}

/** A running conversation. */
export interface Run {
  /** The id of its main task. */
  readonly id: string;
  /** The model of its main task. */
  readonly model: ResolvedModel;
  /** Resolves when the task has ended, for any reason, or is parked. Never rejects. */
  readonly result: Promise<ResultEnvelope>;
  /** Returns the questions for which the task was parked. Valid once the status of the result is `parked`. */
  parkedOn(): readonly WaitingQuestion[];
  /** Stops the task and its descendants. */
  stop(because: string): void;
}

/** The origin and the reason of a stop. */
export interface StopRequest {
  readonly by: Exclude<StopOrder['by'], 'limit'>;
  readonly because: string;
}

/** A session: runs conversations in a working directory. */
export interface Session {
  readonly agents: DiscoveredAgents;
  readonly skills: DiscoveredSkills;
  /** The slash commands from files and the skills that a person can run, in the order of their names. */
  readonly slashCommands: readonly OfferedCommand[];
  /** Reads changed files of slash commands and skills, at most every two seconds. Never rejects. */
  refreshSlashCommands(): Promise<void>;
  readonly models: ModelSetup;
  readonly store: TaskStore;
  /**
   * Prepares worktrees for runs that ask for one. Rejects with UsageError if no worktree can be made here; the message says
   * why.
   */
  prepareWorktree(): Promise<void>;
  /**
   * Reads the tree of a task from the store of the program, so that it can be continued. Does nothing if the program has
   * no store. `id` is a full id. `takesOver`: whether the task and those below it that have not ended are taken over, so that no other
   * process works on them. Rejects with MusterError if there is no such task or its log is not valid.
   */
  load(id: string, options: { readonly takesOver: boolean }): Promise<void>;
  /** The working directory; absolute and real. */
  readonly cwd: string;
  /** True if no model is chosen or configured, so that the offline engine answers. */
  readonly offlineByDefault: boolean;
  /** Returns the model of a new conversation. Throws MusterError if there is none. */
  mainModel(): ResolvedModel;
  /** Whether files of the project were not used, because the user has not trusted them. */
  readonly hasUntrustedFiles: boolean;
  /** The permission mode of new conversations. */
  readonly mode: PermissionMode;
  /** The permission rules of the configuration and the flags. */
  readonly rules: RuleSet;
  /**
   * Changes the permission mode of a running conversation, from its next call on. `id` is a full id. Its descendants
   * never get more rights than they were created with. Throws MusterError: `NOT_FOUND` if the task does not run in this
   * process; `INVALID_PARAM` if it is not a conversation, or if its definition requires a narrower mode.
   */
  setMode(id: string, mode: PermissionMode): void;
  /**
   * Lists the rules that are in force for a task. `id` is a full id, or null for a new conversation, for which the user has
   * set the rules of `initial`. Rejects with MusterError `NOT_FOUND`.
   */
  listRules(id: string | null, initial?: readonly RuleChange[]): Promise<TaskRules>;
  /**
   * Changes a rule of a conversation, from the next call of each of its tasks on, and answers the questions that the rules
   * now settle. `id` is a full id; null changes only rules that hold outside of conversations. Rejects with MusterError,
   * and changes nothing: `INVALID_PARAM` for a wrong rule or scope; `NOT_FOUND` if the rule is not there to be removed;
   * `CONFLICT` if another process runs the conversation.
   */
  changeRule(id: string | null, change: RuleChange): Promise<void>;
  /**
   * Chooses the model of new conversations, and of conversations that continue with another message. `name` is a name
   * that the flag `--model` accepts. Throws MusterError if there is no model with this name.
   *
   * @param effort the effort of their requests; null for that of the model. Default: the effort stays as it is
   */
  setModel(name: string, effort?: Effort | null): ResolvedModel;
  /** Returns the effort that `setModel` has chosen; null for that of the model or of the agent's definition. */
  mainEffort(): Effort | null;
  /**
   * Lists the models of all configured providers. With `isAsking`, providers are asked whose list is older than a day;
   * this takes at most some seconds. Without it, only what is stored and configured is read.
   */
  listModels(options: ModelListOptions): Promise<readonly ListedModels[]>;
  /**
   * Finds the model that a name means, and checks in the list of its provider that it exists. The name of a tier, `auto`
   * and `inherit` are valid, too. Resolves to a name for `setModel`. Rejects with MusterError `INVALID_PARAM`, which
   * names the nearest models, if no provider has it.
   */
  findModel(name: string): Promise<string>;
  /** Plans a rewind of a conversation that has ended, with all its descendants. */
  planRewind(id: string, request: RewindRequest): Promise<RewindPlan>;
  /**
   * Carries out a planned rewind. Throws MusterError `CONFLICT`, and changes nothing, if anything differs from the
   * plan.
   */
  rewind(plan: RewindPlan): Promise<RewindOutcome>;
  /** Opens the workspaces of tasks, to land or discard their changes. An abort of the signal ends what the methods do. */
  workspaces(signal: AbortSignal): Promise<StoredWorkspaces>;
  /** The MCP servers of this process, for people. */
  readonly servers: ServerBoard;
  /**
   * Returns the names of the MCP servers that have not said yet which tools they have, and that a conversation with this
   * agent may use. If it begins now, it does not get their tools. Default: the main agent.
   */
  listAwaitedServers(agent?: string): readonly string[];
  /**
   * Asks these servers, and waits for their answers or failures. It may be called before `start`, with the agent that
   * `start` gets. Never rejects.
   */
  prepareServers(agent?: string): Promise<void>;
  /** The templates that the tool RunTemplate can run. */
  readonly templates: readonly TemplateDefinition[];
  /** Returns the context files that new conversations and subagents in the working directory get. */
  contextFiles(): Promise<readonly ContextFile[]>;
  /** Lists the hooks of the settings as they are now, which may have changed since the session started. */
  listHooks(): Promise<HookReport>;
  /** Returns the content of the newest request of a task. Rejects with MusterError `NOT_FOUND`. */
  contextOf(id: string): Promise<TaskContext>;
  /**
   * Returns whether the operating system confines shell commands. The first call tests this. Never rejects.
   */
  sandboxState(): Promise<SandboxState>;
  /** The resources and prompts of the MCP servers; null if none is configured. */
  readonly serverContent: ServerContent | null;
  /** The section `[keys]` of the user's configuration, by action. The values are not checked yet. */
  readonly keyBindings: ReadonlyMap<string, KeyBinding>;
  /** The prompts that were typed in this directory. Empty if no log is kept. */
  readonly typed: PromptHistory;
  /**
   * Lists the files of the working directory that Glob would find, in path order, at most 50,000. Rejects when `signal`
   * aborts.
   */
  listFiles(signal: AbortSignal): Promise<readonly string[]>;
  /** The section `[terminal]` of the configuration. */
  readonly terminal: TerminalSettings;
  /** The configuration files that were looked for at the start, in ascending order of precedence. */
  readonly configFiles: readonly ConfigFile[];
  /** How often the user has used each hint of the terminal UI. Nothing is kept if no log is kept. */
  readonly hintUses: HintUses;
  /** The mark of the terminal while the terminal UI shows its screen there. */
  readonly screenMark: ScreenMark;
  /** Returns the size of a model's context window in tokens, or null if it is unknown. `model` is `provider/id`. */
  contextWindow(model: string): Promise<number | null>;
  /** `task_tool.enable_verbose_logging`: show the subagents' actions. */
  readonly verbose: boolean;
  /**
   * Starts a conversation. Calls `onEvent` with each event of its tasks after the event is written, in the order of
   * writing. Throws MusterError if the conversation cannot start.
   */
  start(request: RunRequest, onEvent?: EventListener): Run;
  /**
   * Starts a run of a template: one task per item, in one tree, at most `max_parallel` at a time. The result of the run
   * counts the items, and `templateReport` lists them. Rejects with UsageError if the run cannot start.
   */
  startTemplate(request: TemplateRequest, onEvent?: EventListener): Promise<Run>;
  /**
   * Returns the outcome of each item of a template run. Throws MusterError `NOT_FOUND`, and UsageError if the task is
   * not a template run.
   */
  templateReport(id: string): TemplateReport;
  /**
   * Returns what a user should know before a template run continues. `id` may be a unique prefix of an id. Rejects with
   * the errors that `templateReport` throws.
   */
  templateRunLeft(id: string): Promise<TemplateResumePreview>;
  /** Reruns a task and its descendants from their logs alone, and reports each difference from the logs. */
  rerun(id: string): Promise<TreeRerun>;
  /** Returns the newest template run in this directory, or null. */
  newestTemplateRun(): TaskSummary | null;
  /**
   * Checks whether a conversation with this agent can begin without a prompt. Throws UsageError if there is no such
   * agent.
   */
  beginsByItself(agent: string): boolean;
  /**
   * Continues a task from its log, with all descendants that have not ended. Resolves when the task runs. A completed
   * task without a new prompt does not run: its result is returned again. Rejects with MusterError: `NOT_FOUND`, or
   * `CONFLICT` while a process owns the task.
   */
  resume(request: ResumeRequest, onEvent?: EventListener): Promise<Run>;
  /**
   * Continues a task from one of its events, in a new task that is the root of a new tree and sends only the requests
   * after the event. The new task has the rights of a resumed task. Rejects with MusterError: `NOT_FOUND`;
   * `INVALID_PARAM` for an event that does not exist; UsageError if there is nothing to continue with.
   */
  branch(request: BranchTask, onEvent?: EventListener): Promise<Run>;
  /** Returns the id of the newest conversation in this directory, or null. */
  newestConversation(): string | null;
  /**
   * Reads the result of a task from its log, as it is now; before the end of the task it holds what the task has so far. `id` is
   * a full id. Throws MusterError `NOT_FOUND`.
   */
  readResult(id: string): ResultEnvelope;
  /** Returns the open questions of this process, the oldest first. */
  questions(): readonly WaitingQuestion[];
  /**
   * Answers a question, by its id or a unique prefix of the id. Throws MusterError: `NOT_FOUND` if the question is not
   * open in this process, `CONFLICT` if it is already answered, `INVALID_PARAM` for an answer that does not fit the
   * question.
   */
  answer(answer: QuestionAnswer): void;
  /** Calls the listener whenever `questions()` changes, until the returned function is called. */
  watchQuestions(listener: () => void): () => void;
  /**
   * Calls the listener with the signals of all tasks of this process, until the returned function is called. Signals,
   * such as pieces of answers, are not logged.
   */
  watchSignals(listener: SignalListener): () => void;
  /**
   * Sends a message to a running task, which reads the message in its next request. `id` is a full id. Throws
   * MusterError: `NOT_FOUND` if the task does not run in this process or is about to end; `INVALID_PARAM` for items
   * that were gathered for another task.
   */
  send(id: string, message: string, enclosed?: QuotedItems): void;
  /**
   * Takes back the user's messages that no request of a running task contains yet; no request will contain them. `id` is
   * a full id. Returns the withdrawn messages, the oldest first; an empty list if requests contain all of them. Throws
   * MusterError `NOT_FOUND` if the task does not run in this process.
   */
  withdraw(id: string): readonly WithdrawnMessage[];
  /**
   * Gathers the items of a person's next message: the slash command `/NAME ARGUMENTS` that it runs, files named with `@`, resources of MCP servers named with
   * `@SERVER:URI`, the prompt that a message `/SERVER:PROMPT ARGUMENTS` chooses, outputs of commands, and images. A file is
   * read only if the Read tool of the task may read it. A file that needs a person's permission is left out and reported.
   * The shell parts of a slash command run meanwhile, as calls of the task. Rejects with MusterError if a prompt cannot be
   * had, for example because a required argument is missing, or if a shell part may not run.
   */
  enclose(request: MessageQuoteRequest): Promise<QuotedItems>;
  /**
   * Describes an image, and checks whether the model of a conversation accepts it. `to` is the id of the conversation,
   * or null for a new conversation.
   */
  lookAtImage(bytes: Buffer, to: string | null): Promise<ImageDescription>;
  /**
   * Continues an ended task in the background, as a child of its nearest running ancestor, which is notified when the
   * task ends. `id` is a full id. `prompt` is the next message; without a prompt, the task is told to continue. Rejects
   * with MusterError `NOT_FOUND` if no ancestor runs; use `resume` with `below` in this case.
   */
  resumeBelow(id: string, request?: { readonly prompt?: string }): Promise<void>;
  /** Sends a foreground task to the background. Throws MusterError if this is not possible. */
  background(id: string): void;
  /**
   * Interrupts the current work of a running conversation and the tasks for which it waits. `id` is a full id.
   * Background tasks continue, and the conversation is notified when they end. If there are no background tasks, the
   * conversation is stopped. Throws MusterError.
   */
  interrupt(id: string): void;
  /**
   * Stops a task and its descendants. Resolves when the task has ended, or at once if it does not run in this process.
   */
  stopTask(id: string, because: string): Promise<void>;
  /**
   * Stops a background shell of a running task. Resolves when the shell has ended; the task is notified. Both ids are full
   * ids. Rejects with MusterError: `NOT_FOUND` if the task does not run in this process or has no such shell; `CONFLICT`
   * if the shell has ended.
   */
  stopShell(task: string, shell: string): Promise<void>;
  /** Stops every run. Resolves when all have ended. */
  stop(request: StopRequest): Promise<void>;
  /**
   * Ends the workspaces of the conversations that stayed open between messages, and returns a sentence for each about
   * what is in it. `close` does this too, and reports the sentences as notices.
   */
  closeWorkspaces(): Promise<readonly string[]>;
  /** Stops every run, and releases locks and files. */
  close(): Promise<void>;
}
