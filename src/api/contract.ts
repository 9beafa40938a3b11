import type { DiscoveredAgents } from '../agents/found.ts';
import type { DiscoveredSkills } from '../agents/skills/discover.ts';
import type { QuestionAnswer } from '../engine/engine.ts';
import type { WaitingQuestion } from '../engine/inbox.ts';
import type { StopOrder } from '../engine/stop.ts';
import type { ModelSetup } from '../model/choose.ts';
import type { ResolvedModel } from '../protocol/model.ts';
import type { PermissionMode, RuleSet } from '../protocol/permission.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { TaskStore, TaskSummary } from '../store/task-store.ts';
import type { SandboxState } from '../sys/sandbox/sandbox.ts';
import type { EventListener } from './event-router.ts';
import type { SignalListener } from './signal-router.ts';
import type { BranchTask, ResumeRequest, RunRequest } from './options.ts';
import type { TemplateRequest } from './templates/fan-out.ts';
import type { TemplateReport, TemplateRunLeft } from './templates/report.ts';

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
   * Of conversations that begin from now on. One that goes on by a next message gets it where it is the
   * narrower one: a mode that a conversation was not begun with is not given to it later.
   */
  setMode(mode: PermissionMode): void;
  /** Whether commands are held by the operating system; tried out at the first call, never rejects. */
  sandboxState(): Promise<SandboxState>;
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
  templateRunLeft(id: string): Promise<TemplateRunLeft>;
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
   * MusterError: `NOT_FOUND` when it is not at work here, or about to end.
   */
  send(id: string, message: string): void;
  /** Sends a task in the foreground to the background. Throws MusterError where it can't. */
  background(id: string): void;
  /** Stops a task and all below it; resolves when it has ended, at once where it is not at work here. */
  stopTask(id: string, because: string): Promise<void>;
  /** Stops every run; resolves when all have ended. */
  stop(request: StopRequest): Promise<void>;
  /** Stops what runs, and gives back locks and files. */
  close(): Promise<void>;
}
