import type { AnswerRequest, QuotedItems, Session, Tasks } from '../../api/index.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import { MusterError } from '../../base/errors.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import { mayNameItems } from '../../protocol/server-mentions.ts';
import type { QuestionBoard } from './question-board.ts';
import { LATER, type DoneReply, type StartForm, type StartReply } from './wire.ts';

export interface TaskActionsOptions {
  readonly tasks: Tasks;
  readonly questions: QuestionBoard;
  /** Returns the session in which tasks start or continue that no other process works on. It is opened at the first call. */
  readonly openSession: () => Promise<Session>;
  /** Called with one line for each problem that does not stop the work. */
  readonly onNotice: (line: string) => void;
}

/** An answer from a page. */
export interface PageAnswer extends AnswerRequest {
  /** The name of the page; null if it has none. */
  readonly client: string | null;
}

/** The maximum number of attempts to answer, because another process may take over the tree meanwhile. */
const MAX_TRIES = 3;

/**
 * Carries out what a person asks for on the page. A request goes to the process that works on the task, as with the commands
 * of `muster tasks`. If there is none, the task continues in the process of the server.
 */
export class TaskActions {
  readonly #options: TaskActionsOptions;
  /** The answers that are being given, by the root of their tree: two of them must not resume the same tree. */
  readonly #answering = new Map<string, Promise<unknown>>();

  constructor(options: TaskActionsOptions) {
    this.#options = options;
  }

  async stop(id: string, reason: string | null): Promise<DoneReply> {
    const { hadEnded, state } = await this.#options.tasks.stop(id, reason ?? 'the user stopped it');
    const had = hadEnded ? ' had ended before' : '';
    return { text: `task ${id}${had}: ${state.status}: ${state.end?.because ?? ''}` };
  }

  /** @param text the next message; null to continue without one */
  async continue(id: string, text: string | null): Promise<DoneReply> {
    const sent = await this.#options.tasks.tell(id, { text });
    if (sent !== null) return { text: sent.text };
    const session = await this.#options.openSession();
    const mode = this.#limitMode(session, id);
    const named = dropMissing({ mode });
    const items = await this.#gatherItems(session, text, { to: id, ...named });
    await session.resume({ id, ...dropMissing({ prompt: text }), ...named, ...items });
    return { text: describeContinued(id, mode) };
  }

  async background(id: string): Promise<DoneReply> {
    return { text: (await this.#options.tasks.detach(id)).text };
  }

  /** Answers a question. Rejects with `CONFLICT` and the outcome if somebody else has answered it. */
  async answer(
    task: string,
    question: string,
    { client, ...request }: PageAnswer,
  ): Promise<DoneReply> {
    const { questions, tasks } = this.#options;
    if (request.text === LATER) {
      questions.putOff(question);
      return { text: `question ${question} keeps waiting` };
    }
    const { root } = tasks.state(task).spec;
    const before = this.#answering.get(root) ?? Promise.resolve();
    const given = before.then(async () => {
      if (client !== null) questions.noteAnswer(question, client);
      try {
        return await this.#giveAnswer(question, request);
      } catch (thrown) {
        if (client !== null) questions.forgetAnswer(question, client);
        throw thrown;
      }
    });
    const settled = given.catch(() => {});
    this.#answering.set(root, settled);
    try {
      return { text: await given };
    } finally {
      if (this.#answering.get(root) === settled) this.#answering.delete(root);
    }
  }

  async describeStart(): Promise<StartForm> {
    const { agents, cwd, mode } = await this.#options.openSession();
    return {
      cwd,
      agents: agents.agents
        .filter(({ unusable }) => unusable === undefined)
        .map(({ name, description }) => ({ name, description })),
      modes: PERMISSION_MODES.filter((each) => !isWider(each, mode)),
      defaultMode: mode,
    };
  }

  async start(request: {
    readonly prompt: string;
    readonly agent: string | null;
    readonly mode: string | null;
  }): Promise<StartReply> {
    const session = await this.#options.openSession();
    const { prompt } = request;
    const mode = request.mode === null ? null : checkMode(request.mode, session.mode);
    const named = dropMissing({ agent: request.agent, mode });
    const items = await this.#gatherItems(session, prompt, { to: null, ...named });
    return { id: session.start({ prompt, source: 'cli', ...named, ...items }).id };
  }

  async #giveAnswer(question: string, request: AnswerRequest): Promise<string> {
    const { tasks, openSession } = this.#options;
    for (let tries = 1; ; tries += 1) {
      const outcome = await tasks.answer(question, request);
      if (outcome.kind === 'told') return outcome.told.text;
      const session = await openSession();
      const { top } = outcome;
      const mode = this.#limitMode(session, top);
      try {
        const answer = { question, ...request };
        await session.resume({ id: top, answer, ...dropMissing({ mode }) });
        return describeContinued(top, mode);
      } catch (thrown) {
        // Another process has taken over the tree. It receives the answer at the next try, unless it already has one.
        const isTaken = thrown instanceof MusterError && thrown.code === 'CONFLICT';
        if (!isTaken || tries === MAX_TRIES) throw thrown;
      }
    }
  }

  /** Returns the mode of the server for a task whose mode allows more, and null for any other task. */
  #limitMode({ mode }: Session, id: string): PermissionMode | null {
    return isWider(this.#options.tasks.state(id).spec.rights.mode, mode) ? mode : null;
  }

  /** Reads the files and resources that a message names with `@`, and the slash command that it chooses. */
  async #gatherItems(
    session: Session,
    text: string | null,
    recipient: {
      readonly to: string | null;
      readonly agent?: string;
      readonly mode?: PermissionMode;
    },
  ): Promise<{ readonly enclosed?: QuotedItems }> {
    if (text === null || !mayNameItems(text)) return {};
    const enclosed = await session.enclose({
      ...recipient,
      words: text,
      outputs: [],
      images: [],
      requiresKnownCommand: true,
    });
    for (const problem of enclosed.problems) this.#options.onNotice(problem);
    return enclosed.enclosures.length === 0 ? {} : { enclosed };
  }
}

/** Returns the mode with a name. Throws MusterError if there is none, or if it allows more than that of the server. */
function checkMode(name: string, ofServer: PermissionMode): PermissionMode {
  const mode = PERMISSION_MODES.find((each) => each === name);
  if (mode === undefined) {
    throw new MusterError(
      'INVALID_PARAM',
      `there is no mode ${JSON.stringify(name)}: choose ${PERMISSION_MODES.join(', ')}`,
    );
  }
  if (isWider(mode, ofServer)) {
    throw new MusterError(
      'PERMISSION_DENIED',
      `the mode ${mode} allows more than ${ofServer}, the mode of this server. Start the server with: muster web --permission-mode ${mode}`,
    );
  }
  return mode;
}

function isWider(mode: PermissionMode, ofServer: PermissionMode): boolean {
  return PERMISSION_MODES.indexOf(mode) > PERMISSION_MODES.indexOf(ofServer);
}

/** @param mode the mode of the server, if the task had a wider one */
function describeContinued(id: string, mode: PermissionMode | null): string {
  const limited = mode === null ? '' : `, in the mode ${mode}, because the server has no wider one`;
  return `task ${id} continues in the process of muster web${limited}`;
}
