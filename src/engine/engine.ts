import { openToResume, startActivations } from './delegation/resume-child.ts';
import { createContinueMessage, recordResume } from './delegation/resume-terms.ts';
import { MusterError, UsageError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { QuotedItem } from '../protocol/quoted-item.ts';
import type { TaskInput } from '../protocol/input.ts';
import { hasBackgroundWork } from '../protocol/state/owned-work.ts';
import { openQuestions } from '../protocol/state/questions.ts';
import type { Question } from '../protocol/question.ts';
import type { PermissionMode } from '../protocol/permission.ts';
import type { ContextFile } from '../protocol/project-context.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import type { TaskSpec } from '../protocol/task.ts';
import { LoopQueue } from '../base/loop-queue.ts';
import { createTask } from './delegation/create-task.ts';
import { placeRoot } from './delegation/place-child.ts';
import { assertCompactable } from './compaction/make-room.ts';
import { createDelegationRunner, decideDelegation } from './delegation/delegation.ts';
import type { EngineDeps } from './task/deps.ts';
import type { QuotedItems, QuoteRequest } from './quote/quote.ts';
import { prepareAgent, findUnusableReason } from './prompt/prepare-agent.ts';
import { resolveRecipient, type QuoteRecipient } from './quote/recipient.ts';
import { driveItems, startFanOut, type FanOutRequest } from './fan-out/fan-out.ts';
import { reopenFailedItems, requireConversation } from './fan-out/remaining-items.ts';
import { createHookPorts } from './hook-ports.ts';
import { foldLog } from './task/fold-log.ts';
import { runTask } from './loop/loop.ts';
import { mentioningText, resolveMentions, createUserMessage } from './prompt/mentions.ts';
import { isBusy } from './loop/next-step.ts';
import {
  outlineChild,
  prepareDelegation,
  type ChildRequest,
  type Delegator,
} from './delegation/plan-child.ts';
import { planRootIsolation } from './delegation/plan-isolation.ts';
import { PrefixCache } from './prompt/prefix.ts';
import { titleOf } from '../base/title.ts';
import { answerRecordedQuestion, answerQuestion } from './questions/record-answer.ts';
import { buildResultEnvelope } from './results/result.ts';
import {
  nearestRunningAncestor,
  requireDescendant,
  resumeDescendant,
  resumeRecoveredDescendant,
  type ResumedDescendant,
} from './resume-descendant.ts';
import { RunningTasks } from './task/running-tasks.ts';
import { applyRuleChange, recordInIdleLog, type RuleChange } from './permissions/change-rules.ts';
import { workingDirectory } from './task/inbox.ts';
import { changeMode } from './questions/set-mode.ts';
import { stopOrder, type StopOrder } from './task/stop-order.ts';
import type { TaskRun } from './task/task-run.ts';
import { TaskTree } from './task/task-tree.ts';
import { createTaskTools } from './task-tools/index.ts';
import type { EngineContext } from './delegation/engine-context.ts';
import type {
  RootRequest,
  PlannedChild,
  ResumeBelowRequest,
  QuestionAnswer,
  PersonResumeOptions,
} from './engine-requests.ts';
import { combineRootLimits } from './limits/configured-limits.ts';

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
      hookPorts: createHookPorts(() => this.context),
      startLoop: (run) => void runTask(this.deps, run),
    };
    tools.push(...createTaskTools(this.context, createDelegationRunner(this.context)));
  }

  /**
   * Creates a conversation as the root of a new tree and starts it. Throws UsageError for an agent that can't be
   * started.
   */
  start(request: RootRequest): TaskRun {
    const { settings } = this.deps;
    const { agent, rights, cwd, model, prompt: firstPrompt } = request;
    const { onAsk } = this.deps.inbox;
    const { isolation, worktree, ...refused } = planRootIsolation(this.deps, request);
    const isIsolated = worktree !== undefined;
    const placement = { agent, rights, cwd, isRoot: true, isIsolated, model, firstPrompt, onAsk };
    const setup = prepareAgent(this.deps, { ...placement, ...refused });
    const unusable = findUnusableReason(agent, setup);
    if (unusable !== null) throw new UsageError(unusable);
    const id = request.id ?? newId();
    const description = request.description ?? titleOf(firstPrompt);
    const { worktree: _, limits, ...requested } = request;
    const place = placeRoot(this.deps, { id, cwd, description, worktree }, rights);
    const run = createTask(this.context, new TaskTree(id, this.deps), {
      ...requested,
      ...place,
      id,
      isolation,
      personText: request.personText ?? firstPrompt,
      setup,
      limits: combineRootLimits(settings, agent, limits),
      description,
      handed: [],
      background: false,
      parent: null,
    });
    this.context.startLoop(run);
    return run;
  }

  /** Starts a template run. Rejects with UsageError if no item could start. */
  startFanOut(request: FanOutRequest): Promise<TaskRun> {
    return startFanOut(this.context, request);
  }

  /**
   * Plans the child that a Task call would create, even if the call would be refused or the agent can't be started.
   * Creates nothing.
   */
  async plan(by: Delegator, request: ChildRequest): Promise<PlannedChild | MusterError> {
    const { deps, prefixes } = this.context;
    await prepareDelegation(deps, by.agent, request);
    const plan = outlineChild(deps, by, request);
    if (plan instanceof MusterError) return plan;
    const decision = decideDelegation(deps, by.rights, plan.agent);
    const fallbacks = deps.models.fallbacks?.(plan.model, plan.agent) ?? [];
    const reusesResults = plan.agent.cache ?? deps.settings.reusesResults;
    const { prefix } = prefixes.get(plan.setup.prompt, plan.setup.listedTools);
    return { ...plan, decision, fallbacks, reusesResults, prefix };
  }

  /**
   * Resumes a task from its log, with all descendants that had not ended. The task runs when the promise resolves.
   * Throws MusterError: `NOT_FOUND` if there is no such task; `CONFLICT` if a process owns it or the question is
   * already answered; `INVALID_PARAM` if the answer does not fit the question.
   */
  async resume(id: string, request: PersonResumeOptions): Promise<TaskRun> {
    const { prompt, enclosed, keepsParked, answer, retryFailed, below, ...terms } = request;
    const opened = await openToResume(this.context, id, {
      position: { tree: null, parent: null },
      record: async (tasks) => {
        const [top] = tasks;
        if (below !== undefined) requireDescendant(top, below.id);
        if (prompt !== null) requireConversation(top);
        if (request.compacts !== undefined) await assertCompactable(this.deps, top);
        if (retryFailed) reopenFailedItems(top);
        const isAsking = tasks.some(({ state }) => openQuestions(state).length > 0);
        if (keepsParked && isAsking && top.tree.onAsk === 'deny') top.tree.onAsk = 'park';
        if (answer !== undefined) answerRecordedQuestion(tasks, answer, this.deps.inbox);
        const message =
          prompt === null
            ? null
            : this.createPersonInput(prompt, { to: top.spec, recorder: top, enclosed });
        recordResume(this.deps, top, {
          ...terms,
          by: 'user',
          callId: null,
          message,
          asksToContinue: below === undefined,
          maxRights: request.maxRights(top.spec.rights),
        });
        if (below === undefined) return;
        await resumeRecoveredDescendant(this.context, top, this.toResumedDescendant(below, top));
      },
    });
    await startActivations(this.context, opened);
    return opened[0];
  }

  /** Returns a task that runs in this process, by its full id. */
  task(id: string): TaskRun | undefined {
    return this.running.get(id);
  }

  /** Collects the items that a person quotes in a message to a task, which may not exist yet. */
  async quote(
    to: QuoteRecipient,
    request: QuoteRequest,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<QuotedItems> {
    const { quoteItems } = await import('./quote/quote.ts');
    const recipient = resolveRecipient(this.deps, to, this.running);
    return quoteItems(this.deps, recipient, request, signal);
  }

  /**
   * Adds a message to the next request of a running task. Throws `NOT_FOUND` if the task does not run in this
   * process.
   */
  send(id: string, message: string, enclosed?: readonly QuotedItem[]): void {
    const run = this.requireRun(id);
    if (run.isEnding) throw notRunningError(id);
    requireConversation(run);
    run.mailbox.send(this.createPersonInput(message, { to: run.spec, recorder: run, enclosed }));
  }

  /**
   * Takes back the messages of the user that no request of a running task contains yet, so that no request will contain
   * them. Returns these messages, the oldest first. Throws `NOT_FOUND` if the task does not run in this process.
   */
  withdraw(id: string): readonly TaskInput[] {
    const { state, journal } = this.requireRun(id);
    const messages = state.conversation.queued.filter(
      ({ kind, from }) => kind === 'message' && from === 'user',
    );
    const ids = messages.map((message) => message.id);
    if (ids.length > 0) journal.record({ type: 'input.withdrawn', ids });
    return messages;
  }

  /**
   * Interrupts the current step of a conversation, and the tasks for which it waits, because the user asked for it.
   * Its background work continues; if there is none, the conversation is stopped. Throws `NOT_FOUND` if the
   * conversation does not run in this process, and `INVALID_PARAM` for a subagent's task, which can only be stopped.
   */
  interrupt(id: string): void {
    const run = this.requireRun(id);
    if (run.parent !== null) {
      throw new MusterError('INVALID_PARAM', `task ${id} is not a conversation: stop it instead`);
    }
    if (run.isEnding || !hasBackgroundWork(run.state))
      run.stop(stopOrder('user', 'the user stopped it'));
    else if (isBusy(run.state, this.deps.settings)) {
      run.interrupt(stopOrder('user', 'the user interrupted it'));
    }
  }

  /**
   * Changes the mode of a running conversation and of its tasks at work, beginning with their next calls. The open
   * questions that the new mode refuses or allows are closed.
   * Throws `NOT_FOUND` if the conversation does not run in this process, and `INVALID_PARAM` for a subagent's task or
   * if the definition requires a narrower mode.
   */
  setMode(id: string, mode: PermissionMode): void {
    const run = this.requireRun(id);
    if (run.isEnding) throw notRunningError(id);
    changeMode(run, mode, run.tree.members);
    this.deps.inbox.reconsider();
  }

  /**
   * Changes the rules of a conversation, from the next call of each of its tasks on. The open questions that the rules now
   * settle are closed. `id` is the full id of the conversation. Throws MusterError and changes nothing if the rule is
   * wrong or not there to be removed, or if the log cannot be written.
   */
  async changeRule(id: string, change: RuleChange): Promise<void> {
    const { inbox, redact = (text: string) => text, store } = this.deps;
    const stores = (directory: string | null) => ({
      standing: inbox.standingRules,
      directory,
      redact,
    });
    const top = this.running.get(id)?.top;
    if (top?.isEnding === true) await top.end.written;
    if (top === undefined || top.isEnding) {
      await recordInIdleLog(store, id, (state) =>
        applyRuleChange(change, state, stores(workingDirectory(state.spec.rights))),
      );
    } else {
      const directory = workingDirectory(top.permissions.rights);
      top.journal.record(...applyRuleChange(change, top.state, stores(directory)));
    }
    inbox.reconsider();
  }

  /**
   * Stops a background shell, as TaskStop does, and waits for its end, of which its task is notified. Throws MusterError:
   * `NOT_FOUND` if the task does not run in this process or has no such shell; `CONFLICT` if the shell has ended.
   */
  async stopShell(id: string, shell: string): Promise<void> {
    const run = this.requireRun(id);
    const known = run.state.shells.get(shell);
    if (known === undefined) {
      throw new MusterError('NOT_FOUND', `task ${id} has no shell ${shell}`);
    }
    if (known.end !== null) throw new MusterError('CONFLICT', `shell ${shell} has ended`);
    await run.shells.stop([shell], { notify: true });
  }

  /** Returns the context files of a directory (absolute, real path) as new tasks get them. */
  async contextFiles(directory: string): Promise<readonly ContextFile[]> {
    const { context } = this.deps;
    await context?.refresh();
    return context?.getContext(directory)?.files ?? [];
  }

  /** Moves a foreground task to the background. Throws MusterError if that is not possible. */
  detach(id: string): void {
    const run = this.requireRun(id);
    if (run.parent === null) {
      throw new MusterError('INVALID_PARAM', `task ${id} is a conversation; no task waits for it`);
    }
    run.detach('the user sent it to the background');
  }

  /**
   * Resumes an ended task as a child of its nearest ancestor that runs in this process, which is notified of its
   * end. Throws `NOT_FOUND` if no ancestor runs here.
   */
  async resumeBelow(id: string, request: ResumeBelowRequest): Promise<void> {
    const caller = await nearestRunningAncestor(this.context, id);
    await resumeDescendant(
      this.context,
      caller,
      this.toResumedDescendant({ ...request, id }, caller),
    );
    caller.mailbox.wake();
  }

  /**
   * Builds the request to resume a descendant.
   *
   * @param recorder the task whose log gets the warnings, as in `createPersonInput`
   */
  private toResumedDescendant(
    { id, prompt, ...terms }: { readonly id: string } & ResumeBelowRequest,
    recorder: TaskRun,
  ): ResumedDescendant {
    if (prompt === undefined) return { ...terms, id, message: createContinueMessage() };
    const to = foldLog(this.deps.store, id).spec;
    return { ...terms, id, message: this.createPersonInput(prompt, { to, recorder }) };
  }

  /** Answers a question that waits in this process. Throws the errors of `answerQuestion`. */
  answer({ question, ...request }: QuestionAnswer): Question {
    return answerQuestion(this.deps.inbox, question, request);
  }

  /**
   * Builds a person's message to a task. Warnings about mentioned agents that can't be called are recorded in the log
   * of `recorder`.
   */
  private createPersonInput(
    text: string,
    {
      to,
      recorder,
      enclosed = [],
    }: {
      readonly to: TaskSpec;
      readonly recorder: TaskRun;
      readonly enclosed?: readonly QuotedItem[] | undefined;
    },
  ): TaskInput {
    const mentions = resolveMentions(mentioningText(text, enclosed), this.deps.agents.agents(), to);
    for (const message of mentions.warnings) recorder.journal.record({ type: 'warning', message });
    recorder.calls.rememberQuoted(enclosed);
    return createUserMessage(text, mentions, enclosed);
  }

  private requireRun(id: string): TaskRun {
    const run = this.running.get(id);
    if (run !== undefined) return run;
    throw notRunningError(id);
  }

  /** Returns the result of a task, with the paths of its files. */
  result(run: TaskRun): ResultEnvelope {
    const { store } = this.deps;
    const { id } = run.spec;
    const paths = { transcript: store.logPath(id), outputFile: store.outputPath(id) };
    const questions = run.tree.parkedOn.map(({ question }) => question);
    return buildResultEnvelope(run.outcome(), paths, questions);
  }

  /** Stops all tasks and resolves when all have ended. */
  async stop(order: StopOrder): Promise<void> {
    const runs = this.running.all();
    for (const run of runs) run.stop(order);
    await Promise.all(runs.map((run) => run.end.written));
  }
}

function notRunningError(id: string): MusterError {
  return new MusterError('NOT_FOUND', `task ${id} does not run in this process`);
}
