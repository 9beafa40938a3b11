import type { Tasks } from '../../../api/index.ts';
import { errorMessage, MusterError } from '../../../base/errors.ts';
import type { UiMuster } from '../model/ui-library.ts';

/** Says why something was not done that another process was asked for. */
export type Tell = (text: string) => void;

/**
 * The library as the screen of another process's tasks needs it: what is asked of a task goes to the process
 * that runs it, and what comes of that is told later. `facts`: of this directory and its configuration.
 */
export function watchedMuster(facts: UiMuster, tasks: Tasks, tell: Tell): UiMuster {
  const ask = (what: string, work: () => Promise<string | null>): void => {
    work().then(
      (told) => told !== null && tell(`${what}: ${told}`),
      (thrown: unknown) => tell(`${what}: ${errorMessage(thrown)}`),
    );
  };
  const resumeBelow = async (id: string, { prompt }: { readonly prompt?: string } = {}) => {
    const told = await tasks.tell(id, { text: prompt ?? null });
    if (told === null) throw notAtWork(id, `muster tasks resume ${id}`);
  };
  return {
    get agents() {
      return facts.agents;
    },
    get models() {
      return facts.models;
    },
    get mode() {
      return facts.mode;
    },
    get rules() {
      return facts.rules;
    },
    get offlineByDefault() {
      return facts.offlineByDefault;
    },
    cwd: facts.cwd,
    keyBindings: facts.keyBindings,
    typed: facts.typed,
    listFiles: (signal) => facts.listFiles(signal),
    contextOf: (id) => facts.contextOf(id),
    enclose: async ({ to, outputs, images }) => ({
      task: to ?? '',
      enclosures: [],
      problems: outputs.length + images.length === 0 ? [] : [NOT_ALONG],
    }),
    lookAtImage: async () => ({ facts: null, why: NOT_ALONG }),
    setModel: () => {
      throw new MusterError('CONFLICT', 'the model of what is watched is chosen where it runs');
    },
    planRewind: async (id) => {
      throw notAtWork(id, `muster tasks rewind ${id}`);
    },
    rewind: async ({ task }) => {
      throw notAtWork(task, `muster tasks rewind ${task}`);
    },
    store: facts.store,
    mainModel: () => facts.mainModel(),
    sandboxState: () => facts.sandboxState(),
    // Pieces of answers are in no log.
    watchSignals: () => () => {},
    setMode: () => {},
    start: () => {
      throw new MusterError('CONFLICT', 'what is watched is begun elsewhere');
    },
    resume: async ({ id }) => {
      throw notAtWork(id, `muster --resume ${id}`);
    },
    resumeBelow,
    send: (id, message) =>
      ask(`not sent: “${message}”`, async () => {
        const told = await tasks.tell(id, { text: message });
        return told === null ? notAtWork(id, `muster --resume ${id}`).message : null;
      }),
    answer: ({ question, ...wish }) =>
      ask('not answered', async () => {
        const { kind } = await tasks.answer(question, wish);
        return kind === 'told'
          ? null
          : `no process waits for it: muster tasks answer ${question} ANSWER makes its task go on`;
      }),
    background: (id) =>
      ask('not sent to the background', async () => {
        await tasks.detach(id);
        return null;
      }),
    stopTask: async (id, because) =>
      ask('not stopped', async () => {
        await tasks.stop(id, because);
        return null;
      }),
    interrupt: (id) => {
      throw new MusterError('CONFLICT', `task ${id} is interrupted where it runs`);
    },
  };
}

const NOT_ALONG = 'outputs and images go along only where the conversation runs';

function notAtWork(id: string, command: string): MusterError {
  return new MusterError(
    'NOT_FOUND',
    `no process has task ${id} at work: ${command} makes it go on`,
  );
}
