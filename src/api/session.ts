import type { DiscoveredAgents } from '../agents/found.ts';
import type { DiscoveredSkills } from '../agents/skills/discover.ts';
import type { DiscoveredTemplates } from '../agents/templates/discover.ts';
import { findAgent } from '../agents/find.ts';
import { UsageError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Engine, QuestionAnswer } from '../engine/engine.ts';
import { foldLog } from '../engine/fold-log.ts';
import type { Inbox, WaitingQuestion } from '../engine/inbox.ts';
import { MAIN_AGENT } from '../engine/main-agent.ts';
import { describePrompt } from '../engine/prompt.ts';
import { resultEnvelope } from '../engine/result.ts';
import { stopOrder } from '../engine/stop.ts';
import type { TaskRun } from '../engine/task-run.ts';
import { OFFLINE, type ModelSetup } from '../model/choose.ts';
import { rootRights, type RootGrant } from '../policy/attenuate.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { ResolvedModel } from '../protocol/model.ts';
import type { PermissionMode, RuleSet } from '../protocol/permission.ts';
import type { TaskStore, TaskSummary } from '../store/task-store.ts';
import type { Sandbox, SandboxState } from '../sys/sandbox/sandbox.ts';
import type { ControlChannel } from './control-channel.ts';
import type { EventListener, EventRouter } from './event-router.ts';
import { compactWish, toldOfCompaction, type CompactWish } from './compact.ts';
import { firstMessage } from './first-message.ts';
import type { BranchTask, ResumeRequest, RunRequest } from './options.ts';
import type { Muster, Run, StopRequest } from './contract.ts';
import { resumedRights } from './resumed-rights.ts';
import type { Retention } from './retention.ts';
import { rootModel } from './root-model.ts';
import type { SignalListener, SignalRouter } from './signal-router.ts';
import { planFanOut, type TemplateRequest } from './templates/fan-out.ts';
import { templateReport, templateRunLeft } from './templates/report.ts';

export interface SessionParts {
  readonly engine: Engine;
  readonly inbox: Inbox;
  /** Whether somebody has said what happens to questions. */
  readonly isOnAskChosen: boolean;
  readonly store: TaskStore;
  readonly router: EventRouter;
  readonly signals: SignalRouter;
  readonly sandbox: Pick<Sandbox, 'state'>;
  readonly setup: ModelSetup;
  readonly agents: { readonly discovered: DiscoveredAgents };
  readonly skills: { readonly discovered: DiscoveredSkills };
  /** Those that can be used now. */
  readonly templates: () => Promise<DiscoveredTemplates>;
  readonly grant: RootGrant;
  /** Null: nothing of its tasks is on disk, so nobody else knows of them. */
  readonly channel: ControlChannel | null;
  readonly retention: Retention;
  /** Turns of the main agent; null: no limit. */
  readonly maxTurns: number | null;
  /** The mode that a flag of this start asks for. */
  readonly modeFlag: PermissionMode | null;
  readonly verbose: boolean;
  readonly onNotice: (line: string) => void;
}

export class Session implements Muster {
  private readonly parts: SessionParts;
  /** Chosen since the start. */
  private chosenMode: PermissionMode | null = null;

  constructor(parts: SessionParts) {
    this.parts = parts;
  }

  get agents(): DiscoveredAgents {
    return this.parts.agents.discovered;
  }

  get skills(): DiscoveredSkills {
    return this.parts.skills.discovered;
  }

  get models(): ModelSetup {
    return this.parts.setup;
  }

  get store(): TaskStore {
    return this.parts.store;
  }

  get cwd(): string {
    const [cwd = ''] = this.parts.grant.roots;
    return cwd;
  }

  get mode(): PermissionMode {
    return this.grant.mode;
  }

  get rules(): RuleSet {
    return this.parts.grant.rules;
  }

  mainModel(): ResolvedModel {
    return this.model(null);
  }

  setMode(mode: PermissionMode): void {
    this.chosenMode = mode;
  }

  private get grant(): RootGrant {
    const { grant } = this.parts;
    return this.chosenMode === null ? grant : { ...grant, mode: this.chosenMode };
  }

  sandboxState(): Promise<SandboxState> {
    return this.parts.sandbox.state();
  }

  get verbose(): boolean {
    return this.parts.verbose;
  }

  get offlineByDefault(): boolean {
    const { settings } = this.parts.setup;
    const named = settings.flag ?? settings.default;
    return named === undefined && this.model(null).provider === OFFLINE;
  }

  start(request: RunRequest, onEvent: EventListener = () => {}): Run {
    const { engine, router } = this.parts;
    const { outputSchema } = request;
    const agent = this.agentNamed(request.agent);
    const prompt = firstMessage(agent, request.prompt);
    const id = newId();
    const forget = router.listen(id, onEvent);
    try {
      const task = engine.start({
        id,
        prompt,
        words: request.prompt ?? '',
        ...(request.prompt === undefined ? {} : { description: describePrompt(request.prompt) }),
        agent: agent ?? MAIN_AGENT,
        model: this.model(agent, prompt),
        rights: rootRights(this.grant, agent),
        cwd: this.cwd,
        source: request.source ?? 'sdk',
        params: {
          ...(request.prompt === undefined ? {} : { prompt: request.prompt }),
          ...(agent === null ? {} : { agent: agent.name }),
          ...(outputSchema === undefined ? {} : { output_schema: outputSchema }),
        },
        ...(outputSchema === undefined ? {} : { outputSchema }),
      });
      return this.runOf(task, forget);
    } catch (thrown) {
      forget();
      throw thrown;
    }
  }

  async resume(request: ResumeRequest, onEvent?: EventListener): Promise<Run> {
    const { store } = this.parts;
    const id = store.resolveId(request.id);
    const prompt = request.prompt ?? null;
    if (prompt?.trim() === '') throw new UsageError('the prompt is empty');
    const compacts = prompt === null ? null : compactWish(prompt);
    if (compacts !== null) {
      const { prompt: _, ...rest } = request;
      const goOn = (listener: EventListener) =>
        this.goOn({ ...rest, compacts }, { id, rightsOf: id }, listener);
      return toldOfCompaction(goOn, onEvent);
    }
    const completed = prompt === null ? this.completed(id) : null;
    if (completed !== null) return completed;
    return this.goOn(request, { id, rightsOf: id }, onEvent);
  }

  async branch({ id, at, prompt }: BranchTask, onEvent?: EventListener): Promise<Run> {
    const { store, onNotice } = this.parts;
    const from = store.resolveId(id);
    if (prompt?.trim() === '') throw new UsageError('the prompt is empty');
    const { makeBranch } = await import('../engine/replay/branch.ts');
    const branch = await makeBranch(store, { id: from, at, hasPrompt: prompt !== undefined });
    const whole = branch.at === at ? '' : ` (the conversation is not whole at event ${at})`;
    onNotice(`task ${branch.id} branches off from ${from} after event ${branch.at}${whole}`);
    const request = { id: branch.id, ...(prompt === undefined ? {} : { prompt }) };
    return this.goOn(request, { id: branch.id, rightsOf: from }, onEvent);
  }

  /** `rightsOf`: the task whose log says where its rights came from. */
  private async goOn(
    request: ResumeRequest & { readonly compacts?: CompactWish },
    { id, rightsOf }: { readonly id: string; readonly rightsOf: string },
    onEvent: EventListener = () => {},
  ): Promise<Run> {
    const { engine, router, setup, store, maxTurns, isOnAskChosen } = this.parts;
    const { grant } = this;
    const modeFlag = this.chosenMode ?? this.parts.modeFlag;
    const prompt = request.prompt ?? null;
    const forget = router.listen(id, onEvent);
    try {
      const task = await engine.resume(id, {
        prompt,
        ceiling: (recorded) =>
          resumedRights(recorded, { grant, modeFlag, isImported: store.isImported(rightsOf) }),
        ...(setup.settings.flag === undefined ? {} : { model: this.model(null, prompt ?? '') }),
        ...(maxTurns === null ? {} : { maxTurns }),
        ...(request.answer === undefined ? {} : { answer: request.answer }),
        ...(request.compacts === undefined ? {} : { compacts: request.compacts }),
        ...(request.retryFailed === undefined ? {} : { retryFailed: request.retryFailed }),
        // What was parked once is not refused because nobody says so again.
        keepsParked: !isOnAskChosen,
      });
      return this.runOf(task, forget);
    } catch (thrown) {
      forget();
      throw thrown;
    }
  }

  /** With nothing to add, a completed task is done: its result is there already, and costs nothing. */
  private completed(id: string): Run | null {
    const { store } = this.parts;
    const state = foldLog(store, id);
    if (state.status !== 'completed') return null;
    const paths = { transcript: store.log(id), outputFile: store.outputFile(id) };
    return {
      id,
      model: state.spec.model,
      result: Promise.resolve(resultEnvelope(state, paths)),
      parkedOn: () => [],
      stop: () => {},
    };
  }

  async startTemplate(request: TemplateRequest, onEvent: EventListener = () => {}): Promise<Run> {
    const { engine, router, setup, templates } = this.parts;
    const planned = planFanOut(await templates(), request);
    const isModelNamed = setup.settings.flag !== undefined;
    const id = newId();
    const forget = router.listen(id, onEvent);
    try {
      const task = await engine.startFanOut({
        id,
        // The one that was named for this run goes before what files say.
        fanOut: isModelNamed ? { ...planned, model: 'inherit' } : planned,
        model: this.model(null),
        rights: rootRights(this.grant, null),
        cwd: this.cwd,
      });
      return this.runOf(task, forget);
    } catch (thrown) {
      forget();
      throw thrown;
    }
  }

  templateReport(id: string) {
    const { store } = this.parts;
    return templateReport(store, store.resolveId(id));
  }

  async templateRunLeft(id: string) {
    const { store } = this.parts;
    return templateRunLeft(store, store.resolveId(id));
  }

  newestConversation(): string | null {
    return this.newestRoot(({ source }) => source !== 'template')?.id ?? null;
  }

  newestTemplateRun(): TaskSummary | null {
    return this.newestRoot(({ source }) => source === 'template');
  }

  private newestRoot(isWanted: (task: TaskSummary) => boolean): TaskSummary | null {
    const { cwd } = this;
    const roots = this.store.list().filter((task) => task.parent === null && task.cwd === cwd);
    return roots.find(isWanted) ?? null;
  }

  questions(): readonly WaitingQuestion[] {
    return this.parts.inbox.open();
  }

  answer(answer: QuestionAnswer): void {
    this.parts.engine.answer(answer);
  }

  watchQuestions(listener: () => void): () => void {
    return this.parts.inbox.listen(listener);
  }

  watchSignals(listener: SignalListener): () => void {
    return this.parts.signals.listen(listener);
  }

  send(id: string, message: string): void {
    this.parts.engine.send(id, message);
  }

  background(id: string): void {
    this.parts.engine.detach(id);
  }

  async stopTask(id: string, because: string): Promise<void> {
    const task = this.parts.engine.task(id);
    task?.stop(stopOrder('user', because));
    await task?.ended;
  }

  /** `forget`: ends the listening to a tree that is left without an end. */
  private runOf(task: TaskRun, forget: () => void): Run {
    this.parts.channel?.open();
    this.parts.retention.begin();
    return {
      id: task.spec.id,
      model: task.spec.model,
      result: task.ended.then(() => {
        if (task.isParked) forget();
        return this.parts.engine.result(task);
      }),
      parkedOn: () => task.tree.parkedOn,
      stop: (because) => task.stop(stopOrder('client', because)),
    };
  }

  stop({ by, because }: StopRequest): Promise<void> {
    return this.parts.engine.stop(stopOrder(by, because));
  }

  async close(): Promise<void> {
    await this.stop({ by: 'client', because: 'Muster was closed' });
    await this.parts.channel?.close();
    await this.parts.retention.finish();
    await this.parts.store.close();
  }

  beginsByItself(name: string): boolean {
    return this.agentNamed(name)?.initialPrompt !== undefined;
  }

  private agentNamed(name: string | undefined): AgentDefinition | null {
    if (name === undefined) return null;
    const found = findAgent(name, this.agents.agents);
    if (!found.ok) throw new UsageError(found.error.message);
    return found.agent;
  }

  private model(agent: AgentDefinition | null, prompt = ''): ResolvedModel {
    return rootModel(this.parts.setup, { agent, prompt });
  }
}
