import type { Tasks } from '../../../api/index.ts';
import { errorMessage, MusterError } from '../../../base/errors.ts';
import type { UiLibrary } from '../model/ui-library.ts';
import type { ConversationPort } from '../terminal/conversation-runner.ts';

/** Reports why another process did not carry out a request. */
type ReportFailure = (text: string) => void;

const NO_ATTACHMENTS = 'outputs and images can be attached only where the conversation runs';

/**
 * Creates the library for a screen that shows the tasks of another process. Requests are sent to the process that runs
 * the task, and failures are reported later. `local` is the library of this process, which has the configuration.
 */
export function watchedLibrary(
  local: UiLibrary,
  tasks: Tasks,
  reportFailure: ReportFailure,
): UiLibrary {
  /** Sends a request and reports a failure. `send` resolves to the reason why the request was not carried out, or to null. */
  const request = (failure: string, send: () => Promise<string | null>): void => {
    send().then(
      (reason) => reason !== null && reportFailure(`${failure}: ${reason}`),
      (thrown: unknown) => reportFailure(`${failure}: ${errorMessage(thrown)}`),
    );
  };
  return {
    get agents() {
      return local.agents;
    },
    get models() {
      return local.models;
    },
    get mode() {
      return local.mode;
    },
    get templates() {
      return local.templates;
    },
    get rules() {
      return local.rules;
    },
    get offlineByDefault() {
      return local.offlineByDefault;
    },
    // The servers of another process cannot be used from here.
    serverContent: null,
    slashCommands: [],
    refreshSlashCommands: async () => {},
    cwd: local.cwd,
    terminal: local.terminal,
    configFiles: local.configFiles,
    hintUses: local.hintUses,
    contextWindow: (model) => local.contextWindow(model),
    keyBindings: local.keyBindings,
    typed: local.typed,
    store: local.store,
    servers: local.servers,
    listAwaitedServers: () => [],
    prepareServers: async () => {},
    listFiles: (signal) => local.listFiles(signal),
    contextFiles: () => local.contextFiles(),
    listHooks: () => local.listHooks(),
    contextOf: (id) => local.contextOf(id),
    mainEffort: () => local.mainEffort(),
    mainModel: () => local.mainModel(),
    sandboxState: () => local.sandboxState(),
    // Signals carry text that is still being written. Only the process of the task has it.
    watchSignals: () => () => {},
    enclose: async ({ to, outputs, images }) => ({
      task: to ?? '',
      enclosures: [],
      problems: outputs.length + images.length === 0 ? [] : [NO_ATTACHMENTS],
    }),
    lookAtImage: async () => ({ facts: null, why: NO_ATTACHMENTS }),
    listModels: (options) => local.listModels(options),
    findModel: () => refuse('the model can be chosen only where the conversation runs'),
    setModel: () => refuse('the model can be chosen only where the conversation runs'),
    setMode: () => {},
    listRules: (id, initial) => local.listRules(id, initial),
    changeRule: async () => refuse('rules can be changed only where the conversation runs'),
    planRewind: async (id) => {
      throw notAtWork(id, `muster tasks rewind ${id}`);
    },
    workspaces: (signal) => tasks.workspaces(signal),
    rewind: async ({ task }) => {
      throw notAtWork(task, `muster tasks rewind ${task}`);
    },
    start: () => refuse('the watched conversation is started elsewhere'),
    resume: async ({ id }) => {
      throw notAtWork(id, `muster --resume ${id}`);
    },
    resumeBelow: async (id, { prompt } = {}) => {
      const reason = await tasks.tell(id, { text: prompt ?? null });
      if (reason === null) throw notAtWork(id, `muster tasks resume ${id}`);
    },
    send: (id, message) =>
      request(`not sent: “${message}”`, async () => {
        const reason = await tasks.tell(id, { text: message });
        return reason === null ? notAtWork(id, `muster --resume ${id}`).message : null;
      }),
    withdraw: () => refuse('a message can be taken back only where the conversation runs'),
    answer: ({ question, ...answer }) =>
      request('not answered', async () => {
        const { kind } = await tasks.answer(question, answer);
        return kind === 'told'
          ? null
          : `no process waits for it: muster tasks answer ${question} ANSWER continues its task`;
      }),
    background: (id) =>
      request('not sent to the background', () => tasks.detach(id).then(() => null)),
    stopShell: async () => refuse('a shell can be stopped only where it runs'),
    stopTask: async (id, because) =>
      request('not stopped', () => tasks.stop(id, because).then(() => null)),
    interrupt: (id) => refuse(`task ${id} is interrupted where it runs`),
  };
}

/** Creates the port to a conversation of another process. Messages are sent to that process. */
export function watchedConversation(
  id: string,
  library: Pick<UiLibrary, 'resumeBelow' | 'send'>,
  reportFailure: ReportFailure,
): ConversationPort {
  return {
    id,
    isAtWork: false,
    isWatched: true,
    // The watched conversation stays the same.
    select: () => {},
    withdraw: () => refuse('a message can be taken back only where the conversation runs'),
    send: (text) => library.send(id, text),
    // Only the process that owns the conversation can continue it.
    continueWork: () => {},
    resumeTask: (task, text) => {
      const message = text === null ? {} : { prompt: text };
      library.resumeBelow(task, message).catch((thrown: unknown) => {
        const failure = text === null ? 'it does not continue' : `not sent: “${text}”`;
        reportFailure(`${failure}: ${errorMessage(thrown)}`);
      });
    },
  };
}

function refuse(reason: string): never {
  throw new MusterError('CONFLICT', reason);
}

function notAtWork(id: string, command: string): MusterError {
  return new MusterError('NOT_FOUND', `no process has task ${id} at work: ${command} continues it`);
}
