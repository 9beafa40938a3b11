import { MusterError, UsageError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { Enclosure } from '../protocol/enclosure.ts';
import type { TaskInput } from '../protocol/input.ts';
import { hasBackgroundWork } from '../protocol/belongings.ts';
import { openQuestions } from '../protocol/inbox-state.ts';
import type { RequestPrefix, ResolvedModel } from '../protocol/model.ts';
import type { Question } from '../protocol/question.ts';
import type { Decision, PermissionMode, Rights } from '../protocol/permission.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { TaskSource, TaskSpec } from '../protocol/task.ts';
import type { JsonObject } from '../base/json.ts';
import { LoopQueue } from '../base/loop-queue.ts';
import { createTask } from './delegation/create-task.ts';
import { requireCompactable } from './compaction/compact-now.ts';
import { createDelegation } from './delegation/delegation.ts';
import { delegationVerdict } from './delegation/delegation-verdict.ts';
import type { EngineDeps } from './task/deps.ts';
import type { Enclosed, EnclosureWish } from './quote/quote.ts';
import { receiverOf, type Addressee } from './quote/recipient.ts';
import { equip, whyUnusable } from './prompt/prepare-agent.ts';
import { driveItems } from './fan-out/drive.ts';
import { reopenFailed, requireConversation } from './fan-out/resumed.ts';
import { startFanOut, type FanOutRequest } from './fan-out/start.ts';
import { foldLog } from './task/fold-log.ts';
import { combineLimits } from './limits/limits.ts';
import { runTask } from './loop/loop.ts';
import { openTasks } from './delegation/recover-task.ts';
import { mentionsIn, personMessage } from './prompt/mentions.ts';
import { isBusy } from './loop/next-step.ts';
import {
  outlineChild,
  prepareModels,
  type ChildOutline,
  type ChildWish,
  type Delegator,
} from './delegation/plan-child.ts';
import { PrefixCache } from './prompt/prefix.ts';
import { describePrompt } from './prompt/prompt.ts';
import { answerLeft } from './questions/record-answer.ts';
import type { AnswerWish } from './questions/read-answer.ts';
import { resultEnvelope } from './results/result.ts';
import {
  nearestAtWork,
  requireBelow,
  resumeUnder,
  resumeUnderOpened,
  type ResumedBelow,
} from './resume-descendant.ts';
import { finishRewinds } from './rewind/finish.ts';
import { goOnMessage, recordCeiling, recordResume, setToWork } from './delegation/resume.ts';
import { RunningTasks } from './task/running-tasks.ts';
import { recordMode } from './questions/set-mode.ts';
import { stopOrder, type StopOrder } from './task/stop.ts';
import type { TaskRun } from './task/task-run.ts';
import { taskTools } from './task-tools/index.ts';
import { Tree } from './task/tree.ts';
import type { EngineContext } from './delegation/engine-context.ts';
import { answerQuestion } from './questions/answer-question.ts';

/** A conversation to start: the root of a new tree. */
export interface RootRequest {
  /** Default: a new one. */
  readonly id?: string;
  readonly prompt: string;
  /** What of it the person said. Default: all. */
  readonly words?: string;
  /** What the person lays beside it. Default: nothing. */
  readonly enclosed?: readonly Enclosure[];
  /** What lists show of it. Default: the first words of the prompt. */
  readonly description?: string;
  readonly agent: AgentDefinition;
  readonly model: ResolvedModel;
  readonly rights: Rights;
  readonly cwd: string;
  readonly source: TaskSource;
  readonly params: JsonObject;
  /** JSON Schema that its answers must be valid against. Default: the agent's, if any. */
  readonly outputSchema?: JsonObject;
}

/** How a person makes a task go on. */
export interface ResumeRequest {
  /** The next message; null: none. */
  readonly prompt: string | null;
  /** What goes with it. Default: nothing. */
  readonly enclosed?: readonly Enclosure[];
  /** Its rights are those recorded, cut by what this gives for them. */
  readonly ceiling: (recorded: Rights) => Rights;
  /** Absent: as recorded. */
  readonly model?: ResolvedModel;
  readonly maxTurns?: number;
  /** Which mode it gets, by a person's own word, up to what its definition wants. Absent: as recorded. */
  readonly mode?: PermissionMode;
  /** Questions that wait in its logs go on to wait, whatever happens to others. Default false. */
  readonly keepsParked?: boolean;
  /** The answer to a question of it, or of a task below it that had not ended. */
  readonly answer?: QuestionAnswer;
  /** Of a run of a template: items that failed or were ended by a limit are done again. Default false. */
  readonly retryFailed?: boolean;
  /** Its context is summarised, and nothing else: of one that has ended. `keep`: what is kept above all. */
  readonly compacts?: { readonly keep: string | null };
  /** An ended task below it goes on, and it only waits for that: see `ResumeBelowRequest`. Not with a prompt. */
  readonly below?: { readonly id: string } & ResumeBelowRequest;
}

/** What a person says to a question. */
export interface QuestionAnswer extends AnswerWish {
  /** Its whole id. */
  readonly question: string;
}

/** How a person makes a task go on whose tree is at work. */
export interface ResumeBelowRequest {
  /** Absent: it is told to go on. */
  readonly prompt?: string;
  readonly model?: string;
  readonly maxTurns?: number;
}

/** A child as it would be made. */
export interface PlannedChild extends ChildOutline {
  /** Whether the call that asks for it may run. */
  readonly decision: Decision;
  /** What goes on in its turn where its model fails. */
  readonly fallbacks: readonly ResolvedModel[];
  /** Whether an earlier result of the same work is reused. */
  readonly reusesResults: boolean;
  /** What its requests begin with, but for the line that is particular to one task. */
  readonly prefix: RequestPrefix;
}

/** Runs the tasks of this process. One engine serves any number of trees. */
export class Engine {
  private readonly deps: EngineDeps;
  private readonly workshop: EngineContext;
  private readonly running = new RunningTasks();

  constructor(deps: EngineDeps) {
    const tools = [...deps.tools];
    this.deps = { ...deps, tools };
    this.workshop = {
      deps: this.deps,
      prefixes: new PrefixCache(deps.store),
      running: this.running,
      beginnings: new LoopQueue(),
      driveItems: (run) => driveItems(this.workshop, run),
      startLoop: (run) => void runTask(this.deps, run),
    };
    tools.push(...taskTools(this.workshop, createDelegation(this.workshop)));
  }

  /**
   * Makes the main agent's task and sets it to work; its `ended` says when it is done. Throws UsageError
   * for an agent that can't be started.
   */
  start(request: RootRequest): TaskRun {
    const { settings } = this.deps;
    const { agent, rights, cwd } = request;
    const { provider } = request.model;
    const { onAsk } = this.deps.inbox;
    const firstPrompt = request.prompt;
    const post = { agent, rights, cwd, isRoot: true, provider, firstPrompt, onAsk };
    const equipment = equip(this.deps, post);
    const unusable = whyUnusable(agent, equipment);
    if (unusable !== null) throw new UsageError(unusable);
    const id = request.id ?? newId();
    const run = createTask(this.workshop, new Tree(id, this.deps), {
      ...request,
      id,
      words: request.words ?? request.prompt,
      equipment,
      limits: combineLimits({
        config: settings.rootLimits,
        definition: agent.limits,
        call: {},
      }),
      description: request.description ?? describePrompt(request.prompt),
      handed: [],
      background: false,
      parent: null,
    });
    this.workshop.startLoop(run);
    return run;
  }

  /** Sets a template to work over items. Rejects with UsageError where none could be begun. */
  startFanOut(request: FanOutRequest): Promise<TaskRun> {
    return startFanOut(this.workshop, request);
  }

  /**
   * What a Task call would make, and how its requests would begin, even where the call is refused or the
   * agent can't be started. Nothing is made.
   */
  async plan(by: Delegator, wish: ChildWish): Promise<PlannedChild | MusterError> {
    const { deps, prefixes } = this.workshop;
    await prepareModels(deps, by.agent, wish);
    const plan = outlineChild(deps, by, wish);
    if (plan instanceof MusterError) return plan;
    const { prompt, tools } = plan.equipment;
    const decision = delegationVerdict(deps, by.rights, plan.agent);
    const fallbacks = deps.models.fallbacks?.(plan.model, plan.agent) ?? [];
    const reusesResults = plan.agent.cache ?? deps.settings.reusesResults;
    return {
      ...plan,
      decision,
      fallbacks,
      reusesResults,
      prefix: prefixes.get(prompt, tools).prefix,
    };
  }

  /**
   * Makes a task that nobody owns go on, from its log alone, with all below it that had not ended. It
   * has begun to work when this resolves. Throws MusterError: `NOT_FOUND`, `CONFLICT` while a process
   * owns it, or the question is answered; `INVALID_PARAM` for no answer to it.
   */
  async resume(id: string, request: ResumeRequest): Promise<TaskRun> {
    const opened = openTasks(this.workshop, id, { tree: null, parent: null });
    const [top, ...below] = opened;
    const {
      prompt,
      enclosed,
      keepsParked = false,
      answer,
      retryFailed = false,
      below: one,
      ...terms
    } = request;
    try {
      if (one !== undefined) requireBelow(top, one.id);
      await finishRewinds(this.deps.store, opened);
      if (prompt !== null) requireConversation(top);
      if (request.compacts !== undefined) await requireCompactable(this.deps, top);
      if (retryFailed) reopenFailed(top);
      const isAsking = opened.some(({ state }) => openQuestions(state).length > 0);
      if (keepsParked && isAsking && top.tree.onAsk === 'deny') top.tree.onAsk = 'park';
      if (answer !== undefined) answerLeft(opened, answer, this.deps.inbox);
      const message =
        prompt === null ? null : this.said(prompt, { to: top.spec, teller: top, enclosed });
      recordResume(this.deps, top, {
        ...terms,
        by: 'user',
        callId: null,
        message,
        isToldToGoOn: one === undefined,
        ceiling: request.ceiling(top.spec.rights),
      });
      for (const run of below) recordCeiling(run, run.parent?.rights ?? top.rights);
      if (one !== undefined) await resumeUnderOpened(this.workshop, top, this.below(one, top));
    } catch (thrown) {
      // Opened and never at work, they would be waited for without end.
      for (const run of opened) run.close();
      throw thrown;
    }
    await setToWork(this.workshop, opened);
    return top;
  }

  /** A task at work in this process, by its whole id. */
  task(id: string): TaskRun | undefined {
    return this.running.get(id);
  }

  /** Gathers what goes with a person's next words to a task: of a log, or one that is about to be made. */
  async enclose(to: Addressee, wish: EnclosureWish, signal?: AbortSignal): Promise<Enclosed> {
    const { enclose } = await import('./quote/quote.ts');
    const receiver = receiverOf(this.deps, to, this.running);
    return enclose(this.deps, receiver, wish, signal ?? new AbortController().signal);
  }

  /** Says something to a task at work, in its next request. `NOT_FOUND` when it is not at work here. */
  send(id: string, message: string, enclosed?: readonly Enclosure[]): void {
    const run = this.atWork(id);
    if (run.isEnding) throw notAtWork(id);
    requireConversation(run);
    run.tell(this.said(message, { to: run.spec, teller: run, enclosed }));
  }

  /**
   * Ends what a conversation does now, with the tasks that it waits for, by a person. What runs for it in the
   * background goes on and is told of to it; where nothing does, the conversation is stopped. `NOT_FOUND` when it
   * is not at work here, `INVALID_PARAM` for another task: that is stopped, with all below it.
   */
  interrupt(id: string): void {
    const run = this.atWork(id);
    if (run.parent !== null) {
      throw new MusterError('INVALID_PARAM', `task ${id} is no conversation: stop it instead`);
    }
    if (run.isEnding || !hasBackgroundWork(run.state))
      run.stop(stopOrder('user', 'the user stopped it'));
    else if (isBusy(run.state, this.deps.settings)) {
      run.interrupt(stopOrder('user', 'the user interrupted it'));
    }
  }

  /**
   * Gives a conversation at work another mode, from its next call on. Questions that a narrower one refuses need
   * no answer; a wider one answers none that waits: a key may have passed it on the way to another. `NOT_FOUND`
   * when it is not at work here, `INVALID_PARAM` for another task, or where its definition wants a narrower one.
   */
  setMode(id: string, mode: PermissionMode): void {
    const run = this.atWork(id);
    if (run.isEnding) throw notAtWork(id);
    if (recordMode(run, mode).isNarrower) this.deps.inbox.reconsider();
  }

  /** Sends a task in the foreground to the background. Throws MusterError where it can't. */
  detach(id: string): void {
    const run = this.atWork(id);
    if (run.parent === null) {
      throw new MusterError('INVALID_PARAM', `task ${id} is a conversation; no task waits for it`);
    }
    run.detach('the user sent it to the background');
  }

  /**
   * Makes an ended task go on as a child of the nearest task above it that is at work here, which is
   * told of its end. Throws MusterError: `NOT_FOUND` when none of those above it is.
   */
  async resumeBelow(id: string, request: ResumeBelowRequest): Promise<void> {
    const caller = await nearestAtWork(this.workshop, id);
    await resumeUnder(this.workshop, caller, this.below({ ...request, id }, caller));
    caller.wake();
  }

  /** `teller`: see `said`. */
  private below(
    { id, prompt, ...terms }: { readonly id: string } & ResumeBelowRequest,
    teller: TaskRun,
  ): ResumedBelow {
    if (prompt === undefined) return { ...terms, id, message: goOnMessage() };
    const to = foldLog(this.deps.store, id).spec;
    return { ...terms, id, message: this.said(prompt, { to, teller }) };
  }

  /** Answers a question that waits in this process. Throws MusterError as `answerQuestion` does. */
  answer({ question, ...wish }: QuestionAnswer): Question {
    return answerQuestion(this.deps.inbox, question, wish);
  }

  /** A person's words to a task; `teller`'s log says so where types that they name can't be called. */
  private said(
    words: string,
    {
      to,
      teller,
      enclosed = [],
    }: {
      readonly to: TaskSpec;
      readonly teller: TaskRun;
      readonly enclosed?: readonly Enclosure[] | undefined;
    },
  ): TaskInput {
    const mentions = mentionsIn(words, { agents: this.deps.agents, by: to });
    for (const message of mentions.warnings) teller.journal.record({ type: 'warning', message });
    return personMessage(words, mentions, enclosed);
  }

  private atWork(id: string): TaskRun {
    const run = this.running.get(id);
    if (run !== undefined) return run;
    throw notAtWork(id);
  }

  result(run: TaskRun): ResultEnvelope {
    const { store } = this.deps;
    const paths = { transcript: store.log(run.spec.id), outputFile: store.outputFile(run.spec.id) };
    const asked = run.tree.parkedOn.map(({ question }) => question);
    return resultEnvelope(run.outcome(), paths, asked);
  }

  /** Stops every tree; resolves when all of their tasks have ended. */
  async stop(order: StopOrder): Promise<void> {
    const runs = this.running.all();
    for (const run of runs) run.stop(order);
    await Promise.all(runs.map((run) => run.ended));
  }
}

function notAtWork(id: string): MusterError {
  return new MusterError('NOT_FOUND', `task ${id} is not at work in this process`);
}
