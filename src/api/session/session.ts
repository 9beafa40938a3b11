import { UsageError } from '../../base/errors.ts';
import { listOfferedCommands } from '../../agents/commands/find-command.ts';
import { foldLog } from '../../engine/task/fold-log.ts';
import { stopOrder } from '../../engine/task/stop-order.ts';
import { MAIN_AGENT } from '../../engine/task/main-agent.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { describeLeftChanges } from '../../report/left-changes.ts';
import { OFFLINE } from '../../model/selection/choose-model.ts';
import type { TaskSummary } from '../../store/task-store.ts';
import { toDiscoveredAgents, toDiscoveredSkills } from '../setup/definitions.ts';
import { previewTemplateResume, createTemplateReport } from '../templates/template-report.ts';
import type { Session, StopRequest } from './contract.ts';
import { checkQuotedItems, MessageQuoter } from './quote-message.ts';
import { RootDefaults } from './root-terms.ts';
import { Runs } from './runs.ts';
import { findMainAgent } from './session-servers.ts';
import type { SessionParts } from './session-parts.ts';

/** Creates the session that the library offers. Each method delegates to one of the parts. */
export function createSession(parts: SessionParts): Session {
  const { engine, inbox, store } = parts;
  const defaults = new RootDefaults(parts);
  const runs = new Runs(parts, defaults);
  const quoter = new MessageQuoter(parts, defaults);
  const { cwd } = defaults;
  const findNewestRoot = (isWanted: (task: TaskSummary) => boolean): TaskSummary | null => {
    const roots = store.list().filter((task) => task.parent === null && task.cwd === cwd);
    return roots.find(isWanted) ?? null;
  };
  const findAgentOf = (name: string | undefined): AgentDefinition =>
    findMainAgent(name, parts.agents.current.items) ?? MAIN_AGENT;
  const closeWorkspaces = async (): Promise<readonly string[]> => {
    const closed = await parts.workspaces.closeOpen();
    return closed.flatMap(
      ({ task: { id, workspace }, left }) => describeLeftChanges(id, workspace, left) ?? [],
    );
  };
  const stop = ({ by, because }: StopRequest) => engine.stop(stopOrder(by, because));
  return {
    get agents() {
      return toDiscoveredAgents(parts.agents.current);
    },
    get skills() {
      return toDiscoveredSkills(parts.skills.current);
    },
    get slashCommands() {
      const commands = parts.slashCommands.current;
      return listOfferedCommands({ commands, skills: parts.skills.current.items });
    },
    async refreshSlashCommands() {
      await Promise.all([parts.slashCommands.refresh(), parts.skills.refresh()]);
    },
    models: parts.modelSetup,
    store,
    cwd,
    mode: parts.grant.mode,
    rules: parts.grant.rules,
    keyBindings: parts.keyBindings,
    serverContent: parts.servers?.content ?? null,
    typed: parts.promptHistory,
    terminal: parts.terminal,
    configFiles: parts.configFiles,
    hintUses: parts.hintUses,
    screenMark: parts.screenMark,
    async contextWindow(model) {
      const slash = model.indexOf('/');
      const [provider, id] = [model.slice(0, slash), model.slice(slash + 1)];
      return (await parts.models.details({ provider, id, chain: [] })).contextWindow;
    },
    verbose: parts.verbose,
    hasUntrustedFiles: parts.hasUntrustedFiles,
    get offlineByDefault() {
      const { settings } = parts.modelSetup;
      const named = settings.flag ?? settings.default;
      return named === undefined && defaults.resolveModel(null).provider === OFFLINE;
    },
    mainModel: () => defaults.resolveModel(null),
    setMode: (id, mode) => engine.setMode(id, mode),
    async listRules(id, initial = []) {
      const { listTaskRules } = await import('./conversation-rules.ts');
      return listTaskRules(parts, id, initial);
    },
    async changeRule(id, change) {
      if (id !== null) {
        await engine.changeRule(id, change);
        const top = engine.task(id)?.top;
        const isRunning = top !== undefined && !top.isEnding;
        const { spec, restrictions } = isRunning ? top.state : foldLog(store, id);
        parts.servers.restrict(spec.root, restrictions);
        return;
      }
      const { changeStandingRule } = await import('./conversation-rules.ts');
      changeStandingRule(change, inbox.standingRules, cwd);
    },
    mainEffort: () => defaults.chosenEffort ?? null,
    setModel: (name, effort) => defaults.chooseModel(name, effort),
    async listModels(options) {
      const { listSessionModels } = await import('./session-model-lists.ts');
      return listSessionModels(parts.modelListing, options);
    },
    async findModel(name) {
      const { findSessionModel } = await import('./session-model-lists.ts');
      return findSessionModel(name, parts.modelListing, (each) => defaults.findModel(each));
    },
    async planRewind(id, request) {
      const { planIdleRewind } = await import('../tasks/rewind.ts');
      return planIdleRewind(store, id, request);
    },
    async rewind(plan) {
      const { rewind } = await import('../../engine/rewind/rewind.ts');
      return rewind(store, plan);
    },
    workspaces: (signal) => parts.storedWorkspaces.open(signal),
    templates: parts.toolTemplates,
    get servers() {
      return parts.servers.board;
    },
    listAwaitedServers: (agent) => parts.servers.listAwaited(findAgentOf(agent)),
    prepareServers: (agent) =>
      parts.servers.prepareFor({ kind: 'start', agent: findAgentOf(agent) }),
    contextFiles: () => engine.contextFiles(cwd),
    listHooks: async () => (await import('../setup/list-hooks.ts')).listHooks(parts.state),
    async contextOf(id) {
      const { readTaskContext } = await import('../tasks/task-context.ts');
      return readTaskContext(store, { id, turn: null }, parts.models);
    },
    sandboxState: () => parts.sandbox.state(),
    async listFiles(signal) {
      const { listFiles } = await import('./list-files.ts');
      return listFiles(cwd, signal);
    },
    load: (id, options) => parts.load(id, options),
    async prepareWorktree() {
      await parts.workspaces.prepare();
      const problem = parts.workspaces.findProblem(cwd);
      if (problem !== null) throw new UsageError(`worktree: ${problem}`);
    },
    start: (request, onEvent) => runs.start(request, onEvent),
    resume: (request, onEvent) => runs.resume(request, onEvent),
    branch: (request, onEvent) => runs.branch(request, onEvent),
    startTemplate: (request, onEvent) => runs.startTemplate(request, onEvent),
    rerun: (id) => parts.rerun(store.resolveId(id)),
    templateReport: (id) => createTemplateReport(store, store.resolveId(id)),
    templateRunLeft: async (id) => previewTemplateResume(store, store.resolveId(id)),
    newestConversation: () => findNewestRoot(({ source }) => source !== 'template')?.id ?? null,
    readResult: (id) => runs.readResult(id),
    newestTemplateRun: () => findNewestRoot(({ source }) => source === 'template'),
    questions: () => inbox.open(),
    answer: (answer) => engine.answer(answer),
    watchQuestions: (listener) => inbox.listen(listener),
    watchSignals: (listener) => parts.signals.listen(listener),
    send(id, message, enclosed) {
      engine.send(id, message, enclosed && checkQuotedItems(id, enclosed));
    },
    withdraw: (id) => engine.withdraw(id),
    enclose: (request) => quoter.gather(request),
    lookAtImage: (bytes, to) => quoter.lookAtImage(bytes, to),
    interrupt: (id) => engine.interrupt(id),
    resumeBelow: (id, request = {}) => engine.resumeBelow(id, request),
    background: (id) => engine.detach(id),
    stopShell: (task, shell) => engine.stopShell(task, shell),
    async stopTask(id, because) {
      const task = engine.task(id);
      task?.stop(stopOrder('user', because));
      await task?.end.written;
    },
    stop,
    closeWorkspaces,
    async close() {
      await stop({ by: 'client', because: 'Muster was closed' });
      for (const line of await closeWorkspaces()) parts.onNotice(line);
      await Promise.all([
        parts.servers.close(),
        parts.languages.close(),
        parts.remoteAgents.close(),
        parts.hooks.close(),
      ]);
      await parts.telemetry?.close();
      await parts.changes.close();
      await parts.channel?.close();
      await parts.retention.finish();
      await store.close();
      parts.logFile?.add({ level: 'info', event: 'session.ended', fields: {} });
      await parts.logFile?.close();
    },
    beginsByItself: (name) => defaults.findMainAgent(name)?.initialPrompt !== undefined,
  };
}
