import type { WaitingQuestion } from '../../engine/task/inbox.ts';
import type { ModelSetup } from '../../model/selection/choose-model.ts';
import type { StopOrder } from '../../engine/task/stop-order.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { Notify } from '../../protocol/notify.ts';
import type { PermissionMode, RuleSet } from '../../protocol/permission.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { TaskStore, TaskSummary } from '../../store/task-store.ts';
import type { RewindPlan, RewindRequest } from '../../engine/rewind/plan-rewind.ts';
import type { RewindOutcome } from '../../engine/rewind/rewind.ts';
import type { PromptHistory } from './prompt-history.ts';
import type { TaskContext } from '../tasks/task-context.ts';
import type { SandboxState } from '../../sys/sandbox/sandbox.ts';
import type { KeyBinding } from '../../config/key-bindings.ts';
import type { EventListener, SignalListener } from './event-router.ts';
import type { BranchTask, ResumeRequest, RunRequest } from '../setup/options.ts';
import type { TemplateRequest } from '../templates/plan-fan-out.ts';
import type { TemplateReport, TemplateResumePreview } from '../templates/template-report.ts';
import type { QuotedItems, QuoteRequest } from '../../engine/quote/quote.ts';
import type { DiscoveredAgents, DiscoveredSkills } from '../setup/definitions.ts';
import type { QuestionAnswer } from '../../engine/engine-requests.ts';

export type { CommandOutput, QuotedItems, ShownImage } from '../../engine/quote/quote.ts';

/** The files, images and command outputs that a person sends along with the next message. */
export interface MessageQuoteRequest extends QuoteRequest {
  /** The full id of the task that gets them, or null for a conversation that is about to begin. */
  readonly to: string | null;
  /** The agent of a conversation that is about to begin. Default: the main agent. */
  readonly agent?: string;
  /** Cancels the reading; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The description of an image before it is sent to a model. */
export interface ImageDescription {
  /** For example `PNG image, 640 × 480 pixels, 12345 bytes`, or null when it is not an image. */
  readonly facts: string | null;
  /** The reason that the model of the conversation cannot be shown the image, or null when it can. */
  readonly why: string | null;
}

/** A conversation at work. */
export interface Run {
  /** The id of its main task. */
  readonly id: string;
  /** `provider/id` of its main task. */
  readonly model: ResolvedModel;
  /** Resolves when the task has ended, for any reason, or is parked. Never rejects. */
  readonly result: Promise<ResultEnvelope>;
  /** Returns the questions for which it was parked, once its result says `parked`. */
  parkedOn(): readonly WaitingQuestion[];
  /** Stops the task and its descendants. */
  stop(because: string): void;
}

/** The origin and the reason of a stop. */
export interface StopRequest {
  readonly by: Exclude<StopOrder['by'], 'limit'>;
  readonly because: string;
}

export interface Muster {
  readonly agents: DiscoveredAgents;
  readonly skills: DiscoveredSkills;
  readonly models: ModelSetup;
  readonly store: TaskStore;
  /** The working directory; absolute and real. */
  readonly cwd: string;
  /** True if no model is named and none configured, so that the offline engine answers. */
  readonly offlineByDefault: boolean;
  /** Returns the model of a new conversation. Throws MusterError if there is none. */
  mainModel(): ResolvedModel;
  /** The permission mode of new conversations. */
  readonly mode: PermissionMode;
  /** The permission rules of the configuration and the flags. */
  readonly rules: RuleSet;
  /**
   * Changes the permission mode of a running conversation, by its full id, from its next call on. Its descendants
   * never get more than they were created with. Throws MusterError: `NOT_FOUND` if it does not run here,
   * `INVALID_PARAM` for another task, or if its definition requires a narrower mode.
   */
  setMode(id: string, mode: PermissionMode): void;
  /**
   * Chooses the model of new conversations, and of one that continues with a next message, by the name that the flag
   * accepts. Throws MusterError if there is no model of that name.
   */
  setModel(name: string): ResolvedModel;
  /** Plans a rewind of a conversation that has ended, with all its descendants. */
  planRewind(id: string, request: RewindRequest): Promise<RewindPlan>;
  /**
   * Carries out a planned rewind. Throws MusterError `CONFLICT`, and changes nothing, if anything differs from the
   * plan.
   */
  rewind(plan: RewindPlan): Promise<RewindOutcome>;
  /** Returns the content of the newest request of a task. Rejects with MusterError `NOT_FOUND`. */
  contextOf(id: string): Promise<TaskContext>;
  /**
   * Returns whether the operating system confines commands. This is tested at the first call. Never rejects.
   */
  sandboxState(): Promise<SandboxState>;
  /** The section `[keys]` of the user's own configuration, by action, unchecked. */
  readonly keyBindings: ReadonlyMap<string, KeyBinding>;
  /** The prompts that were typed in this directory before. Empty if no log is kept. */
  readonly typed: PromptHistory;
  /**
   * Lists the files of the working directory that Glob would find, in path order, at most 50,000. Rejects when it is
   * cancelled.
   */
  listFiles(signal: AbortSignal): Promise<readonly string[]>;
  /** `terminal.notify`: how the terminal UI notifies a user who is not looking at it. */
  readonly notify: Notify;
  /** `task_tool.enable_verbose_logging`: show the subagents' actions. */
  readonly verbose: boolean;
  /**
   * Starts a conversation. `onEvent` gets the durable events of all its tasks in the order in which they are written,
   * each after it is written. Throws MusterError if it cannot start.
   */
  start(request: RunRequest, onEvent?: EventListener): Run;
  /**
   * Starts a run of a template: one task per item, in one tree, at most `max_parallel` at a time. Its result counts
   * them, and `templateReport` lists each. Rejects with UsageError if it cannot start.
   */
  startTemplate(request: TemplateRequest, onEvent?: EventListener): Promise<Run>;
  /**
   * Returns the outcome of each item of a template run. Throws MusterError `NOT_FOUND`, and UsageError for another
   * task.
   */
  templateReport(id: string): TemplateReport;
  /**
   * Returns what a user should know about a template run, given by its id or a beginning of it, before it continues.
   * Rejects as `templateReport` throws.
   */
  templateRunLeft(id: string): Promise<TemplateResumePreview>;
  /** Returns the newest template run in this directory, or null. */
  newestTemplateRun(): TaskSummary | null;
  /**
   * Returns whether a conversation with this agent needs no prompt. Throws UsageError if there is no such agent.
   */
  beginsByItself(agent: string): boolean;
  /**
   * Continues a task from its log, with all descendants that have not ended. Resolves when it runs. A completed task
   * without a new prompt does not run; its result is returned again. Rejects with MusterError: `NOT_FOUND`, or
   * `CONFLICT` while a process owns it.
   */
  resume(request: ResumeRequest, onEvent?: EventListener): Promise<Run>;
  /**
   * Continues a task from one of its events, in a new task that is the root of its own tree and sends only the
   * requests after the event. It has the rights of a resumed task. Rejects with MusterError: `NOT_FOUND`,
   * `INVALID_PARAM` for an event that does not exist; UsageError if there is nothing to continue with.
   */
  branch(request: BranchTask, onEvent?: EventListener): Promise<Run>;
  /** Returns the id of the newest conversation in this directory, or null. */
  newestConversation(): string | null;
  /** Returns the open questions of this process, the oldest first. */
  questions(): readonly WaitingQuestion[];
  /**
   * Answers a question, given by its id or a unique beginning. Throws MusterError: `NOT_FOUND` if it is not open
   * here, `CONFLICT` if it is answered already, `INVALID_PARAM` for an answer that does not fit.
   */
  answer(answer: QuestionAnswer): void;
  /** Calls the listener whenever `questions()` changes, until the returned function is called. */
  watchQuestions(listener: () => void): () => void;
  /**
   * Calls the listener with the signals of all tasks of this process, such as pieces of answers, which are not
   * logged. The returned function ends that.
   */
  watchSignals(listener: SignalListener): () => void;
  /**
   * Sends a message to a running task, by its full id, which reads it in its next request. Throws MusterError:
   * `NOT_FOUND` if it does not run here or is about to end; `INVALID_PARAM` for items that were gathered for another
   * task.
   */
  send(id: string, message: string, enclosed?: QuotedItems): void;
  /**
   * Gathers the items of a person's next message: files named with `@`, outputs of commands, and images. A file is
   * read as the task's own Read would. A file that a person would have to allow is left out and reported.
   */
  enclose(request: MessageQuoteRequest): Promise<QuotedItems>;
  /**
   * Describes an image, and says whether the model of a conversation (null: a new one) accepts it.
   */
  lookAtImage(bytes: Buffer, to: string | null): Promise<ImageDescription>;
  /**
   * Continues an ended task in the background, by its full id, as a child of its nearest running ancestor, which is
   * notified of its end. `prompt` is its next message; without it the task is told to continue. Rejects with
   * MusterError `NOT_FOUND` if no ancestor runs; use `resume` with `below` then.
   */
  resumeBelow(id: string, request?: { readonly prompt?: string }): Promise<void>;
  /** Sends a foreground task to the background. Throws MusterError if it cannot. */
  background(id: string): void;
  /**
   * Interrupts the present work of a running conversation, by its full id, and the tasks for which it waits.
   * Background tasks continue, and it is notified of their ends. If there are none, it is stopped. Throws
   * MusterError.
   */
  interrupt(id: string): void;
  /**
   * Stops a task and its descendants. Resolves when it has ended, or at once if it does not run here.
   */
  stopTask(id: string, because: string): Promise<void>;
  /** Stops every run. Resolves when all have ended. */
  stop(request: StopRequest): Promise<void>;
  /** Stops every run, and releases locks and files. */
  close(): Promise<void>;
}
