import { formatAcceptance, parseAcceptance } from '../../protocol/acceptance.ts';
import { mayNameItems } from '../../protocol/server-mentions.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import type { RootDefaults } from './root-terms.ts';
import type { SessionParts } from './session-parts.ts';
import { UsageError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import { titleOf } from '../../base/title.ts';
import { stopOrder } from '../../engine/task/stop-order.ts';
import { buildResultEnvelope } from '../../engine/results/result.ts';
import type { TaskRun } from '../../engine/task/task-run.ts';
import { createRootRights } from '../../policy/attenuate.ts';
import type { ResultEnvelope } from '../../protocol/result.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';
import type { Rights } from '../../protocol/permission.ts';
import { checkQuotedItems } from './quote-message.ts';
import type { EventListener } from './event-router.ts';
import { parseCompactRequest, reportCompaction, type CompactRequest } from './compaction.ts';
import type { BranchTask, ResumeRequest, RunRequest } from '../setup/options.ts';
import type { Run } from './contract.ts';
import { computeResumedRights } from './resumed-rights.ts';
import { planFanOut, type TemplateRequest } from '../templates/plan-fan-out.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { withEffort } from '../../protocol/state/agent-effort.ts';

/** Starts and continues the tasks that a person or a client requests. */
export class Runs {
  private readonly parts: SessionParts;
  private readonly defaults: RootDefaults;

  constructor(parts: SessionParts, defaults: RootDefaults) {
    this.parts = parts;
    this.defaults = defaults;
  }

  start(request: RunRequest, onEvent: EventListener = () => {}): Run {
    const { engine, router } = this.parts;
    const { prompt: personText, enclosed } = request;
    const { accept, outputSchema } = readAcceptance(request);
    const agent = this.defaults.findMainAgent(request.agent);
    const prompt = buildFirstMessage(agent, personText);
    const id = request.id ?? enclosed?.task ?? newId();
    const stopListening = router.listen(id, onEvent);
    try {
      const task = engine.start({
        id,
        prompt,
        personText: personText ?? '',
        ...dropMissing({
          enclosed: enclosed?.enclosures,
          description: personText === undefined ? null : titleOf(personText),
          outputSchema,
          accept,
          rules: request.rules,
          limits: request.limits,
        }),
        agent: withEffort(agent ?? MAIN_AGENT, this.defaults.chosenEffort),
        model: this.defaults.resolveModel(agent, prompt),
        rights: createRootRights(this.defaults.createGrant(request.mode), agent),
        cwd: this.defaults.cwd,
        ...dropMissing({
          worktree: request.worktree ?? this.parts.worktree,
          traceparent: this.parts.telemetry?.traceparent,
        }),
        source: request.source ?? 'sdk',
        params: dropMissing({
          prompt: personText,
          agent: agent?.name,
          output_schema: outputSchema,
          accept: accept === undefined ? undefined : formatAcceptance(accept),
        }),
      });
      return this.createRun(task, stopListening);
    } catch (thrown) {
      stopListening();
      throw thrown;
    }
  }

  async resume(request: ResumeRequest, onEvent?: EventListener): Promise<Run> {
    const { store } = this.parts;
    const id = store.resolveId(request.id);
    const prompt = request.prompt ?? null;
    if (prompt?.trim() === '') throw new UsageError('the prompt is empty');
    const compacts = prompt === null ? null : parseCompactRequest(prompt);
    if (compacts !== null) {
      const { prompt: _, ...rest } = request;
      const continueTask = (listener: EventListener) =>
        this.continueTask({ ...rest, compacts }, { id, rightsOf: id }, listener);
      return reportCompaction(continueTask, onEvent);
    }
    // `below` continues the task only for the sake of a descendant.
    if (request.below !== undefined && prompt !== null) {
      throw new UsageError('a task that waits for a descendant cannot get a prompt');
    }
    const isWaiting = request.below !== undefined;
    const completedRun = prompt === null && !isWaiting ? this.findCompletedRun(id) : null;
    if (completedRun !== null) return completedRun;
    return this.continueTask(request, { id, rightsOf: id }, onEvent);
  }

  async branch(request: BranchTask, onEvent?: EventListener): Promise<Run> {
    const { id, at, prompt, limits, branch: branchId, mode, enclosed: given } = request;
    const { takesFiles = false, signal } = request;
    const { engine, store, onNotice } = this.parts;
    const from = store.resolveId(id);
    if (prompt?.trim() === '') throw new UsageError('the prompt is empty');
    const { createBranch } = await import('../../replay/create-branch.ts');
    const branch = await createBranch(store, {
      id: from,
      at,
      hasPrompt: prompt !== undefined,
      ...dropMissing({ branch: branchId }),
    });
    const adjusted = branch.at === at ? '' : ` (the conversation is not whole at event ${at})`;
    onNotice(`task ${branch.id} branches off from ${from} after event ${branch.at}${adjusted}`);
    const target = { id: branch.id, rightsOf: from };
    const next = { id: branch.id, ...dropMissing({ limits, mode }) };
    if (prompt === undefined) return this.continueTask(next, target, onEvent);
    if (given !== undefined || !takesFiles || !mayNameItems(prompt)) {
      const items = dropMissing({ enclosed: given });
      return this.continueTask({ ...next, prompt, ...items }, target, onEvent);
    }
    const to = { task: branch.id, maxRights: this.createRightsLimit(from) };
    const quoted = { words: prompt, outputs: [], images: [], requiresKnownCommand: true } as const;
    const enclosed = await engine.quote(to, quoted, signal);
    for (const problem of enclosed.problems) onNotice(problem);
    return this.continueTask({ ...next, prompt, enclosed }, target, onEvent);
  }

  /**
   * Returns a function that limits the rights recorded in a log to those that this session may give. `rightsOf`: the task
   * from which the rights come. If its log was imported, they were not granted on this machine.
   */
  private createRightsLimit(rightsOf: string): (recorded: Rights) => Rights {
    const { grant, modeFlag, store } = this.parts;
    return (recorded) =>
      computeResumedRights(recorded, { grant, modeFlag, isImported: store.isImported(rightsOf) });
  }

  /** `rightsOf`: see `createRightsLimit`. */
  private async continueTask(
    request: ResumeRequest & { readonly compacts?: CompactRequest },
    { id, rightsOf }: { readonly id: string; readonly rightsOf: string },
    onEvent: EventListener = () => {},
  ): Promise<Run> {
    const { engine, router, maxTurns, hasExplicitOnAsk: isOnAskChosen } = this.parts;
    const { prompt = null, enclosed, mode, limits, answer, compacts, below, retryFailed } = request;
    const stopListening = router.listen(id, onEvent);
    try {
      await this.prepareServers(id);
      const task = await engine.resume(id, {
        prompt,
        maxRights: this.createRightsLimit(rightsOf),
        ...(this.defaults.isModelChosen
          ? { model: this.defaults.resolveModel(null, prompt ?? '') }
          : {}),
        ...(this.defaults.chosenEffort === undefined ? {} : { effort: this.defaults.chosenEffort }),
        ...dropMissing({
          enclosed: enclosed === undefined ? null : checkQuotedItems(id, enclosed),
          maxTurns,
          limits,
          mode,
          answer,
          compacts,
          below,
          retryFailed,
        }),
        // A parked task keeps its questions parked, unless the user or the configuration chose how to treat questions.
        keepsParked: !isOnAskChosen,
      });
      const ignored =
        task.spec.depth === 0 ? this.defaults.describeIneffectiveGrant(task.spec.agent) : null;
      if (ignored !== null) this.parts.onNotice(ignored);
      return this.createRun(task, stopListening);
    } catch (thrown) {
      stopListening();
      throw thrown;
    }
  }

  /** Asks the servers that have the tools of a recorded task and whose tools are not known any more. */
  private async prepareServers(id: string): Promise<void> {
    const { servers, store } = this.parts;
    if (servers.allParts.length === 0) return;
    // The first event has the tools of the task, which never change.
    for await (const event of store.streamEvents(id, 0)) {
      if (event.type !== 'task.created') return;
      const { agent, tools: names } = event.spec;
      const recorded = { tools: { mode: 'allow', names }, disallowedTools: [] } as const;
      await servers.prepareFor({ kind: 'resume', agent: { ...agent, ...recorded } });
      return;
    }
  }

  /**
   * Returns a completed task as a run that already has its result and costs nothing; null if the task is not completed.
   */
  private findCompletedRun(id: string): Run | null {
    const state = foldLog(this.parts.store, id);
    if (state.status !== 'completed') return null;
    return {
      id,
      model: state.spec.model,
      result: Promise.resolve(this.buildEnvelope(state)),
      parkedOn: () => [],
      stop: () => {},
    };
  }

  /** See `Session.readResult`. */
  readResult(id: string): ResultEnvelope {
    return this.buildEnvelope(foldLog(this.parts.store, id));
  }

  private buildEnvelope(state: TaskState): ResultEnvelope {
    const { store } = this.parts;
    const { id } = state.spec;
    return buildResultEnvelope(state, {
      transcript: store.logPath(id),
      outputFile: store.outputPath(id),
    });
  }

  async startTemplate(request: TemplateRequest, onEvent: EventListener = () => {}): Promise<Run> {
    const { engine, router, modelSetup: setup, templates } = this.parts;
    const { models, ...planned } = planFanOut(await templates(), request);
    const isModelNamed = setup.settings.flag !== undefined;
    const id = newId();
    const stopListening = router.listen(id, onEvent);
    try {
      const task = await engine.startFanOut({
        id,
        // A model that the user chose for this run takes precedence over the model of the template.
        fanOut: isModelNamed
          ? { ...planned, model: 'inherit' }
          : { ...planned, ...dropMissing({ models }) },
        model: this.defaults.resolveModel(null),
        rights: createRootRights(this.parts.grant, null),
        cwd: this.defaults.cwd,
        ...dropMissing({ traceparent: this.parts.telemetry?.traceparent }),
      });
      return this.createRun(task, stopListening);
    } catch (thrown) {
      stopListening();
      throw thrown;
    }
  }

  /**
   * Creates the run of a started task. The end event of a tree removes its listener. A parked tree has no end event, so
   * `stopListening` is called for it.
   */
  private createRun(task: TaskRun, stopListening: () => void): Run {
    this.parts.channel?.open();
    this.parts.retention.begin();
    const { top } = task;
    this.parts.servers.restrict(top.spec.id, top.state.restrictions);
    return {
      id: task.spec.id,
      model: task.spec.model,
      result: task.end.written.then(() => {
        if (task.cancellation.isParked) stopListening();
        return this.parts.engine.result(task);
      }),
      parkedOn: () => task.tree.parkedOn,
      stop: (because) => task.stop(stopOrder('client', because)),
    };
  }
}

/**
 * Returns the first message of a conversation: the agent's initial prompt, then the user's, as in Claude Code. Throws
 * UsageError if there is neither.
 */
function buildFirstMessage(
  agent: Pick<AgentDefinition, 'initialPrompt'> | null,
  prompt: string | undefined,
): string {
  if (prompt?.trim() === '') throw new UsageError('the prompt is empty');
  const parts = [agent?.initialPrompt, prompt].filter((part) => part !== undefined);
  if (parts.length === 0) throw new UsageError('there is no prompt');
  return parts.join('\n\n');
}

/** Reads the acceptance criteria of a request. Throws UsageError if they can't be used. */
function readAcceptance({ accept, outputSchema }: RunRequest) {
  if (accept === undefined) return { outputSchema };
  const issues: string[] = [];
  const written = parseAcceptance(accept, issues);
  if (written?.schema !== undefined && outputSchema !== undefined)
    issues.push('accept.schema: means outputSchema, which is given too; give one of them');
  if (written === undefined || issues.length > 0) throw new UsageError(issues.join('; '));
  return { accept: written.criteria, outputSchema: outputSchema ?? written.schema };
}
