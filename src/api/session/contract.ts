import type { WaitingQuestion } from '../../engine/task/inbox.ts';
import type { StopOrder } from '../../engine/task/stop.ts';
import type { ModelSetup } from '../../model/choose.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { Notify } from '../../protocol/notify.ts';
import type { PermissionMode, RuleSet } from '../../protocol/permission.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { TaskStore, TaskSummary } from '../../store/task-store.ts';
import type { RewindPlan, RewindRequest } from '../../engine/rewind/plan.ts';
import type { RewindOutcome } from '../../engine/rewind/rewind.ts';
import type { PromptHistory } from './prompt-history.ts';
import type { TaskContext } from '../tasks/task-context.ts';
import type { SandboxState } from '../../sys/sandbox/sandbox.ts';
import type { KeyBinding } from '../../config/key-bindings.ts';
import type { EventListener } from './event-router.ts';
import type { SignalListener } from './signal-router.ts';
import type { BranchTask, ResumeRequest, RunRequest } from '../setup/options.ts';
import type { TemplateRequest } from '../templates/plan-fan-out.ts';
import type { TemplateReport, TemplateResumePreview } from '../templates/template-report.ts';
import type { QuotedItems, QuoteRequest } from '../../engine/quote/quote.ts';
import type { QuestionAnswer } from '../../engine/requests.ts';
import type { DiscoveredAgents, DiscoveredSkills } from '../setup/definitions.ts';

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
  /** Resolves when the task has ended, however it ended, or is parked; never rejects. */
  readonly result: Promise<ResultEnvelope>;
  /** The questions that it was left for, once its result says `parked`. */
  parkedOn(): readonly WaitingQuestion[];
  /** Stops it and all below it. */
  stop(because: string): void;
}

/** Who stops everything, and why. */
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
  /** No model is named and none configured: the offline engine answers. */
  readonly offlineByDefault: boolean;
  /** What a conversation that begins now would run on. Throws MusterError where none can. */
  mainModel(): ResolvedModel;
  /** Of conversations that begin from now on. */
  readonly mode: PermissionMode;
  /** What the configuration and the flags say beside it. */
  readonly rules: RuleSet;
  /**
   * Gives a conversation at work here another permission mode, by its whole id, from its next call on. What is
   * below it never gets more than it was made with. Throws MusterError: `NOT_FOUND` when it is not at work here,
   * `INVALID_PARAM` for another task, or where its definition wants a narrower mode.
   */
  setMode(id: string, mode: PermissionMode): void;
  /**
   * The model of conversations that begin from now on, and of one that goes on by a next message: named as the
   * flag names it. Throws MusterError where there is none of that name.
   */
  setModel(name: string): ResolvedModel;
  /** What putting a conversation back would do, and doing it: it, and all below it, has ended. */
  planRewind(id: string, wish: RewindRequest): Promise<RewindPlan>;
  /** Throws MusterError `CONFLICT`, with nothing done, where anything is not as it was shown. */
  rewind(plan: RewindPlan): Promise<RewindOutcome>;
  /** What stood in the newest request of a task. Rejects with MusterError `NOT_FOUND`. */
  contextOf(id: string): Promise<TaskContext>;
  /** Whether commands are held by the operating system; tried out at the first call, never rejects. */
  sandboxState(): Promise<SandboxState>;
  /** The section `[keys]` of the user's own configuration, by action, unchecked. */
  readonly keyBindings: ReadonlyMap<string, KeyBinding>;
  /** What was typed in this directory before; nothing where no log is kept. */
  readonly typed: PromptHistory;
  /** Files of the working directory that Glob would find, in path order, at most 50,000. Rejects when it is stopped. */
  listFiles(signal: AbortSignal): Promise<readonly string[]>;
  /** `terminal.notify`: how the terminal UI calls somebody who looks elsewhere. */
  readonly notify: Notify;
  /** `task_tool.enable_verbose_logging`: show the subagents' actions. */
  readonly verbose: boolean;
  /**
   * Starts a conversation. `onEvent` gets the durable events of all its tasks, in the order in which
   * they are written, each after it is written. Throws MusterError when it can't start.
   */
  start(request: RunRequest, onEvent?: EventListener): Run;
  /**
   * Starts a run of a template: one task an item, in one tree, at most `max_parallel` at a time. Its result
   * counts them; `templateReport` tells of each. Rejects with UsageError where it can't start.
   */
  startTemplate(request: TemplateRequest, onEvent?: EventListener): Promise<Run>;
  /** What came of each item of a run of a template. Throws MusterError: `NOT_FOUND`; UsageError for another task. */
  templateReport(id: string): TemplateReport;
  /** What to know of a run of a template, by its id or a beginning, before it goes on. Rejects as `templateReport` throws. */
  templateRunLeft(id: string): Promise<TemplateResumePreview>;
  /** The newest run of a template that worked in this directory; null where there is none. */
  newestTemplateRun(): TaskSummary | null;
  /** Whether a conversation that runs as this agent needs no prompt. Throws UsageError: there is none. */
  beginsByItself(agent: string): boolean;
  /**
   * Makes a task go on, from its log alone, with all below it that had not ended. Resolves when it is
   * at work; one that has completed is not, without a prompt: its result is given again. Rejects with a MusterError: `NOT_FOUND`, `CONFLICT` while a process owns it.
   */
  resume(request: ResumeRequest, onEvent?: EventListener): Promise<Run>;
  /**
   * Goes another way from an event of a task on: in a new task, the root of its own tree, which sends only
   * the requests after it. Rights as those of a resume. Rejects with a MusterError: `NOT_FOUND`,
   * `INVALID_PARAM` for an event that is not there; UsageError for one with nothing to go on with.
   */
  branch(request: BranchTask, onEvent?: EventListener): Promise<Run>;
  /** The id of the newest conversation that worked in this directory; null where there is none. */
  newestConversation(): string | null;
  /** What waits for an answer in this process, the oldest first. */
  questions(): readonly WaitingQuestion[];
  /**
   * Answers a question, by its id or a unique beginning. Throws MusterError: `NOT_FOUND` when it does
   * not wait here, `CONFLICT` when it is answered already, `INVALID_PARAM` for no answer to it.
   */
  answer(answer: QuestionAnswer): void;
  /** Calls it whenever `questions()` changes, until the returned function is called. */
  watchQuestions(listener: () => void): () => void;
  /**
   * Calls it with what is shown and forgotten, such as pieces of answers that are being written, of every
   * task of this process, until the returned function is called.
   */
  watchSignals(listener: SignalListener): () => void;
  /**
   * Says something to a task at work here, by its whole id: it reads it in its next request. Throws
   * MusterError: `NOT_FOUND` when it is not at work here, or about to end; `INVALID_PARAM` for what was
   * gathered for another task.
   */
  send(id: string, message: string, enclosed?: QuotedItems): void;
  /**
   * Gathers what goes with a person's next words: files that they name with `@`, what commands of theirs came to,
   * images. A file is read as the task's own Read would; what a person would have to allow stays behind and is told.
   */
  enclose(request: MessageQuoteRequest): Promise<QuotedItems>;
  /** What an image is, and whether the model of a conversation (null: of a new one) can be shown it. */
  lookAtImage(bytes: Buffer, to: string | null): Promise<ImageDescription>;
  /**
   * Makes an ended task go on in the background, by its whole id, as a child of the nearest task above it
   * that is at work here and is told of its end. `prompt`: its next message; absent: it is told to go on.
   * Rejects with a MusterError: `NOT_FOUND` when none above it is, which `resume` with `below` is for.
   */
  resumeBelow(id: string, request?: { readonly prompt?: string }): Promise<void>;
  /** Sends a task in the foreground to the background. Throws MusterError where it can't. */
  background(id: string): void;
  /**
   * Ends what a conversation at work here does now, by its whole id, with the tasks that it waits for. Those in
   * the background go on, and it is told of their ends; where there are none, it is stopped. Throws MusterError.
   */
  interrupt(id: string): void;
  /** Stops a task and all below it; resolves when it has ended, at once where it is not at work here. */
  stopTask(id: string, because: string): Promise<void>;
  /** Stops every run; resolves when all have ended. */
  stop(request: StopRequest): Promise<void>;
  /** Stops what runs, and gives back locks and files. */
  close(): Promise<void>;
}
