import { stopOrder } from '../../engine/task/stop-order.ts';
import { OFFLINE } from '../../model/selection/choose-model.ts';
import type { TaskSummary } from '../../store/task-store.ts';
import { discoveredAgents, discoveredSkills } from '../setup/definitions.ts';
import { templateReport, previewTemplateResume } from '../templates/template-report.ts';
import type { Muster } from './contract.ts';
import { createMessageQuoter, checkQuotedItems } from './quote-message.ts';
import { RootDefaults } from './root-terms.ts';
import { Runs } from './runs.ts';
import type { SessionParts } from './open-session-parts.ts';

/** Creates a session of the library. Each method is carried out by one of its parts. */
export function createSession(parts: SessionParts): Muster {
  const { channel, engine, environment, grant, inbox, retention, sandbox, setup, signals, store } =
    parts;
  const terms = new RootDefaults(parts);
  const runs = new Runs(parts, terms);
  const { cwd } = terms;
  const newestRoot = (isWanted: (task: TaskSummary) => boolean): TaskSummary | null => {
    const roots = store.list().filter((task) => task.parent === null && task.cwd === cwd);
    return roots.find(isWanted) ?? null;
  };
  const stop: Muster['stop'] = ({ by, because }) => engine.stop(stopOrder(by, because));
  return {
    get agents() {
      return discoveredAgents(parts.agents.current);
    },
    get skills() {
      return discoveredSkills(parts.skills.current);
    },
    models: setup,
    store,
    cwd,
    mode: grant.mode,
    rules: grant.rules,
    keyBindings: parts.keyBindings,
    typed: parts.typed,
    notify: parts.notify,
    verbose: parts.verbose,
    get offlineByDefault() {
      const { flag, default: usual } = setup.settings;
      return (flag ?? usual) === undefined && terms.model(null).provider === OFFLINE;
    },
    mainModel: () => terms.model(null),
    setMode: (id, mode) => engine.setMode(id, mode),
    setModel: (name) => terms.chooseModel(name),
    async planRewind(id, wish) {
      const { planIdleRewind } = await import('../tasks/rewind.ts');
      return planIdleRewind(store, id, wish);
    },
    async rewind(plan) {
      const { rewind } = await import('../../engine/rewind/rewind.ts');
      return rewind(store, plan);
    },
    async contextOf(id) {
      const { contextOfTask } = await import('../tasks/task-context.ts');
      return contextOfTask(store, { id, turn: null }, environment);
    },
    sandboxState: () => sandbox.state(),
    async listFiles(signal) {
      const { listFiles } = await import('./list-files.ts');
      return listFiles(cwd, signal);
    },
    start: (request, onEvent) => runs.start(request, onEvent),
    resume: (request, onEvent) => runs.resume(request, onEvent),
    branch: (request, onEvent) => runs.branch(request, onEvent),
    startTemplate: (request, onEvent) => runs.startTemplate(request, onEvent),
    templateReport: (id) => templateReport(store, store.resolveId(id)),
    templateRunLeft: async (id) => previewTemplateResume(store, store.resolveId(id)),
    newestConversation: () => newestRoot(({ source }) => source !== 'template')?.id ?? null,
    newestTemplateRun: () => newestRoot(({ source }) => source === 'template'),
    questions: () => inbox.open(),
    answer: (answer) => engine.answer(answer),
    watchQuestions: (listener) => inbox.listen(listener),
    watchSignals: (listener) => signals.listen(listener),
    send(id, message, enclosed) {
      engine.send(id, message, enclosed === undefined ? undefined : checkQuotedItems(id, enclosed));
    },
    ...createMessageQuoter(parts, terms),
    interrupt: (id) => engine.interrupt(id),
    resumeBelow: (id, request = {}) => engine.resumeBelow(id, request),
    background: (id) => engine.detach(id),
    async stopTask(id, because) {
      const task = engine.task(id);
      task?.stop(stopOrder('user', because));
      await task?.end.written;
    },
    stop,
    async close() {
      await stop({ by: 'client', because: 'Muster was closed' });
      await channel?.close();
      await retention.finish();
      await store.close();
    },
    beginsByItself: (name) => terms.agentNamed(name)?.initialPrompt !== undefined,
  };
}
