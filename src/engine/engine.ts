import { MusterError, UsageError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { QuotedItem } from '../protocol/quoted-item.ts';
import type { TaskInput } from '../protocol/input.ts';
import { hasBackgroundWork } from '../protocol/state/owned-work.ts';
import { openQuestions } from '../protocol/state/questions.ts';
import type { Question } from '../protocol/question.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { LoopQueue } from '../base/loop-queue.ts';
import { createTask } from './delegation/create-task.ts';
import { requireCompactable } from './compaction/compact-now.ts';
import { createDelegation } from './delegation/delegation.ts';
import { decideDelegation } from './delegation/decide-delegation.ts';
import type { EngineDeps } from './task/deps.ts';
import type { QuotedItems, QuoteRequest } from './quote/quote.ts';
import { quoteReader, type Recipient } from './quote/recipient.ts';
import { prepareAgent, whyUnusable } from './prompt/prepare-agent.ts';
import { driveItems } from './fan-out/drive-items.ts';
import { reopenFailedItems, requireConversation } from './fan-out/remaining-items.ts';
import { startFanOut, type FanOutRequest } from './fan-out/start-fan-out.ts';
import { foldLog } from './task/fold-log.ts';
import { combineLimits } from './limits/limits.ts';
import { runTask } from './loop/loop.ts';
import { recoverTasks } from './delegation/recover-task.ts';
import { mentionsIn, personMessage } from './prompt/mentions.ts';
import { isBusy } from './loop/next-step.ts';
import {
  outlineChild,
  prepareModels,
  type ChildRequest,
  type Delegator,
} from './delegation/plan-child.ts';
import { PrefixCache } from './prompt/prefix.ts';
import { describePrompt } from './prompt/prompt.ts';
import { answerRecorded } from './questions/record-answer.ts';
import { resultEnvelope } from './results/result.ts';
import {
  nearestRunningAncestor,
  requireDescendant,
  resumeDescendant,
  resumeRecoveredDescendant,
  type ResumedDescendant,
} from './resume-descendant.ts';
import { finishRewinds } from './rewind/finish-rewind.ts';
import {
  continueMessage,
  recordMaxRights,
  recordResume,
  startActivations,
} from './delegation/resume-task.ts';
import { RunningTasks } from './task/running-tasks.ts';
import { recordMode } from './questions/set-mode.ts';
import { stopOrder, type StopOrder } from './task/stop.ts';
import type { TaskRun } from './task/task-run.ts';
import { createTaskTools } from './task-tools/index.ts';
import { Tree } from './task/tree.ts';
import type { EngineContext } from './delegation/engine-context.ts';
import { answerQuestion } from './questions/answer-question.ts';
import type {
  RootRequest,
  PlannedChild,
  ResumeBelowRequest,
  QuestionAnswer,
  ResumeOptions,
} from './engine-requests.ts';

/** Runs the tasks of this process. One engine serves any number of trees. */
export class Engine {
  private readonly deps: EngineDeps;
  private readonly context: EngineContext;
  private readonly running = new RunningTasks();

  constructor(deps: EngineDeps) {
    const tools = [...deps.tools];
    this.deps = { ...deps, tools };
    this.context = {
      deps: this.deps,
      prefixes: new PrefixCache(deps.store),
      running: this.running,
      beginnings: new LoopQueue(),
      driveItems: (run) => driveItems(this.context, run),
      startLoop: (run) => void runTask(this.deps, run),
    };
    tools.push(...createTaskTools(this.context, createDelegation(this.context)));
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
    const setup = prepareAgent(this.deps, post);
    const unusable = whyUnusable(agent, setup);
    if (unusable !== null) throw new UsageError(unusable);
    const id = request.id ?? newId();
    const run = createTask(this.context, new Tree(id, this.deps), {
      ...request,
      id,
      personText: request.personText ?? request.prompt,
      setup,
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
    this.context.startLoop(run);
    return run;
  }

  /** Sets a template to work over items. Rejects with UsageError where none could be begun. */
  startFanOut(request: FanOutRequest): Promise<TaskRun> {
    return startFanOut(this.context, request);
  }

  /**
   * What a Task call would make, and how its requests would begin, even where the call is refused or the
   * agent can't be started. Nothing is made.
   */
  async plan(by: Delegator, wish: ChildRequest): Promise<PlannedChild | MusterError> {
    const { deps, prefixes } = this.context;
    await prepareModels(deps, by.agent, wish);
    const plan = outlineChild(deps, by, wish);
    if (plan instanceof MusterError) return plan;
    const { prompt, tools } = plan.setup;
    const decision = decideDelegation(deps, by.rights, plan.agent);
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
  async resume(id: string, request: ResumeOptions): Promise<TaskRun> {
    const opened = recoverTasks(this.context, id, { tree: null, parent: null });
    const [top, ...descendantToResume] = opened;
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
      if (one !== undefined) requireDescendant(top, one.id);
      await finishRewinds(this.deps.store, opened);
      if (prompt !== null) requireConversation(top);
      if (request.compacts !== undefined) await requireCompactable(this.deps, top);
      if (retryFailed) reopenFailedItems(top);
      const isAsking = opened.some(({ state }) => openQuestions(state).length > 0);
      if (keepsParked && isAsking && top.tree.onAsk === 'deny') top.tree.onAsk = 'park';
      if (answer !== undefined) answerRecorded(opened, answer, this.deps.inbox);
      const message =
        prompt === null ? null : this.personInput(prompt, { to: top.spec, teller: top, enclosed });
      recordResume(this.deps, top, {
        ...terms,
        by: 'user',
        callId: null,
        message,
        isToldToGoOn: one === undefined,
        maxRights: request.maxRights(top.spec.rights),
      });
      for (const run of descendantToResume)
        recordMaxRights(run, run.parent?.permissions.rights ?? top.permissions.rights);
      if (one !== undefined)
        await resumeRecoveredDescendant(this.context, top, this.below(one, top));
    } catch (thrown) {
      // Opened and never at work, they would be waited for without end.
      for (const run of opened) run.close();
      throw thrown;
    }
    await startActivations(this.context, opened);
    return top;
  }

  /** A task at work in this process, by its whole id. */
  task(id: string): TaskRun | undefined {
    return this.running.get(id);
  }

  /** Gathers what goes with a person's next words to a task: of a log, or one that is about to be made. */
  async quote(to: Recipient, wish: QuoteRequest, signal?: AbortSignal): Promise<QuotedItems> {
    const { quoteItems: enclose } = await import('./quote/quote.ts');
    const receiver = quoteReader(this.deps, to, this.running);
    return enclose(this.deps, receiver, wish, signal ?? new AbortController().signal);
  }

  /** Says something to a task at work, in its next request. `NOT_FOUND` when it is not at work here. */
  send(id: string, message: string, enclosed?: readonly QuotedItem[]): void {
    const run = this.requireRun(id);
    if (run.isEnding) throw notRunning(id);
    requireConversation(run);
    run.mailbox.send(this.personInput(message, { to: run.spec, teller: run, enclosed }));
  }

  /**
   * Ends what a conversation does now, with the tasks that it waits for, by a person. What runs for it in the
   * background goes on and is told of to it; where nothing does, the conversation is stopped. `NOT_FOUND` when it
   * is not at work here, `INVALID_PARAM` for another task: that is stopped, with all below it.
   */
  interrupt(id: string): void {
    const run = this.requireRun(id);
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
    const run = this.requireRun(id);
    if (run.isEnding) throw notRunning(id);
    if (recordMode(run, mode).isNarrower) this.deps.inbox.reconsider();
  }

  /** Sends a task in the foreground to the background. Throws MusterError where it can't. */
  detach(id: string): void {
    const run = this.requireRun(id);
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
    const caller = await nearestRunningAncestor(this.context, id);
    await resumeDescendant(this.context, caller, this.below({ ...request, id }, caller));
    caller.mailbox.wake();
  }

  /** `teller`: see `said`. */
  private below(
    { id, prompt, ...terms }: { readonly id: string } & ResumeBelowRequest,
    teller: TaskRun,
  ): ResumedDescendant {
    if (prompt === undefined) return { ...terms, id, message: continueMessage() };
    const to = foldLog(this.deps.store, id).spec;
    return { ...terms, id, message: this.personInput(prompt, { to, teller }) };
  }

  /** Answers a question that waits in this process. Throws MusterError as `answerQuestion` does. */
  answer({ question, ...wish }: QuestionAnswer): Question {
    return answerQuestion(this.deps.inbox, question, wish);
  }

  /** A person's words to a task; `teller`'s log says so where types that they name can't be called. */
  private personInput(
    words: string,
    {
      to,
      teller,
      enclosed = [],
    }: {
      readonly to: TaskSpec;
      readonly teller: TaskRun;
      readonly enclosed?: readonly QuotedItem[] | undefined;
    },
  ): TaskInput {
    const mentions = mentionsIn(words, { agents: this.deps.agents, by: to });
    for (const message of mentions.warnings) teller.journal.record({ type: 'warning', message });
    return personMessage(words, mentions, enclosed);
  }

  private requireRun(id: string): TaskRun {
    const run = this.running.get(id);
    if (run !== undefined) return run;
    throw notRunning(id);
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
    await Promise.all(runs.map((run) => run.end.written));
  }
}

function notRunning(id: string): MusterError {
  return new MusterError('NOT_FOUND', `task ${id} is not at work in this process`);
}
