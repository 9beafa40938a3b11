import { RootDefaults } from './root-terms.ts';
import { Runs } from './runs.ts';
import type { WaitingQuestion } from '../../engine/task/inbox.ts';
import { OFFLINE, type ModelSetup } from '../../model/selection/choose-model.ts';
import { stopOrder } from '../../engine/task/stop-order.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { Notify } from '../../protocol/notify.ts';
import type { PermissionMode, RuleSet } from '../../protocol/permission.ts';
import type { TaskStore, TaskSummary } from '../../store/task-store.ts';
import type { RewindPlan, RewindRequest } from '../../engine/rewind/plan-rewind.ts';
import type { RewindOutcome } from '../../engine/rewind/rewind.ts';
import type { PromptHistory } from './prompt-history.ts';
import type { TaskContext } from '../tasks/task-context.ts';
import type { SandboxState } from '../../sys/sandbox/sandbox.ts';
import { MessageQuoter, checkQuotedItems } from './quote-message.ts';
import type { EventListener } from './event-router.ts';
import type { BranchTask, ResumeRequest, RunRequest } from '../setup/options.ts';
import type {
  Muster,
  Run,
  StopRequest,
  MessageQuoteRequest,
  ImageDescription,
} from './contract.ts';
import type { SignalListener } from './signal-router.ts';
import type { TemplateRequest } from '../templates/plan-fan-out.ts';
import { templateReport, previewTemplateResume } from '../templates/template-report.ts';
import type { SessionParts } from './session-parts.ts';
import type { QuotedItems } from '../../engine/quote/quote.ts';
import {
  type DiscoveredAgents,
  type DiscoveredSkills,
  discoveredAgents,
  discoveredSkills,
} from '../setup/definitions.ts';
import type { QuestionAnswer } from '../../engine/engine-requests.ts';

/** A session of the library. Each method is carried out by one of its parts. */
export class Session implements Muster {
  private readonly parts: SessionParts;
  private readonly terms: RootDefaults;
  private readonly runs: Runs;
  private readonly quoter: MessageQuoter;

  constructor(parts: SessionParts) {
    this.parts = parts;
    this.terms = new RootDefaults(parts);
    this.runs = new Runs(parts, this.terms);
    this.quoter = new MessageQuoter(parts, this.terms);
  }

  get agents(): DiscoveredAgents {
    return discoveredAgents(this.parts.agents.current);
  }

  get skills(): DiscoveredSkills {
    return discoveredSkills(this.parts.skills.current);
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
    return this.parts.grant.mode;
  }

  get rules(): RuleSet {
    return this.parts.grant.rules;
  }

  mainModel(): ResolvedModel {
    return this.terms.model(null);
  }

  setMode(id: string, mode: PermissionMode): void {
    this.parts.engine.setMode(id, mode);
  }

  setModel(name: string): ResolvedModel {
    return this.terms.chooseModel(name);
  }

  async planRewind(id: string, wish: RewindRequest): Promise<RewindPlan> {
    const { planIdleRewind } = await import('../tasks/rewind.ts');
    return planIdleRewind(this.parts.store, id, wish);
  }

  async rewind(plan: RewindPlan): Promise<RewindOutcome> {
    const { rewind } = await import('../../engine/rewind/rewind.ts');
    return rewind(this.parts.store, plan);
  }

  async contextOf(id: string): Promise<TaskContext> {
    const { contextOfTask } = await import('../tasks/task-context.ts');
    return contextOfTask(this.parts.store, { id, turn: null }, this.parts.environment);
  }

  sandboxState(): Promise<SandboxState> {
    return this.parts.sandbox.state();
  }

  get keyBindings(): SessionParts['keyBindings'] {
    return this.parts.keyBindings;
  }

  get typed(): PromptHistory {
    return this.parts.typed;
  }

  async listFiles(signal: AbortSignal): Promise<readonly string[]> {
    const { listFiles } = await import('./list-files.ts');
    return listFiles(this.cwd, signal);
  }

  get notify(): Notify {
    return this.parts.notify;
  }

  get verbose(): boolean {
    return this.parts.verbose;
  }

  get offlineByDefault(): boolean {
    const { settings } = this.parts.setup;
    const named = settings.flag ?? settings.default;
    return named === undefined && this.terms.model(null).provider === OFFLINE;
  }

  start(request: RunRequest, onEvent?: EventListener): Run {
    return this.runs.start(request, onEvent);
  }

  resume(request: ResumeRequest, onEvent?: EventListener): Promise<Run> {
    return this.runs.resume(request, onEvent);
  }

  branch(request: BranchTask, onEvent?: EventListener): Promise<Run> {
    return this.runs.branch(request, onEvent);
  }

  startTemplate(request: TemplateRequest, onEvent?: EventListener): Promise<Run> {
    return this.runs.startTemplate(request, onEvent);
  }

  templateReport(id: string) {
    const { store } = this.parts;
    return templateReport(store, store.resolveId(id));
  }

  async templateRunLeft(id: string) {
    const { store } = this.parts;
    return previewTemplateResume(store, store.resolveId(id));
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

  send(id: string, message: string, enclosed?: QuotedItems): void {
    const enclosures = enclosed === undefined ? undefined : checkQuotedItems(id, enclosed);
    this.parts.engine.send(id, message, enclosures);
  }

  enclose(request: MessageQuoteRequest): Promise<QuotedItems> {
    return this.quoter.gather(request);
  }

  lookAtImage(bytes: Buffer, to: string | null): Promise<ImageDescription> {
    return this.quoter.lookAtImage(bytes, to);
  }

  interrupt(id: string): void {
    this.parts.engine.interrupt(id);
  }

  resumeBelow(id: string, request: { readonly prompt?: string } = {}): Promise<void> {
    return this.parts.engine.resumeBelow(id, request);
  }

  background(id: string): void {
    this.parts.engine.detach(id);
  }

  async stopTask(id: string, because: string): Promise<void> {
    const task = this.parts.engine.task(id);
    task?.stop(stopOrder('user', because));
    await task?.end.written;
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
    return this.terms.agentNamed(name)?.initialPrompt !== undefined;
  }
}
