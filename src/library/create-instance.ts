import type { Session } from '../api/index.ts';
import { dropMissing } from '../base/drop-missing.ts';
import { errorMessage, MusterError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { TaskEvent } from '../protocol/events/event.ts';
import type { ResultEnvelope } from '../protocol/result.ts';
import { checkPosition } from './check-fields.ts';
import { checkPrompt, checkRunOptions } from './check-run-options.ts';
import type { Muster, RunResult } from './contract.ts';
import { describeIssue, readSchema, type ReadSchema } from './standard-schema.ts';
import { toLimits } from './spent-budget.ts';
import { startRun } from './start-run.ts';

interface InstanceParts {
  readonly hasContext: boolean;
  /** Whether the program has a store of its own. */
  readonly hasStore: boolean;
  readonly stopAnswering: () => void;
}

/** Creates the object that programs use, from an open session. */
export function createInstance(
  session: Session,
  { hasContext, hasStore, stopAnswering }: InstanceParts,
): Muster {
  let closing: Promise<void> | null = null;
  const closed = new AbortController();
  const open = (): Session => {
    if (closing === null) return session;
    throw new MusterError('CONFLICT', 'this instance of Muster is closed; create another one');
  };
  // A task that only the store of the program knows is found by its full id alone.
  const resolveId = (id: string): string => (hasStore ? id : open().store.resolveId(id));
  const close = (): Promise<void> => {
    stopAnswering();
    closed.abort();
    closing ??= session.close();
    return closing;
  };
  return {
    run(prompt, options = {}) {
      open();
      checkPrompt(prompt);
      checkRunOptions(options, 'run');
      const { agent, mode, budget = {}, accept, outputSchema, worktree = false } = options;
      const { signal, deltas = false } = options;
      const schema =
        outputSchema === undefined ? null : readSchema(outputSchema, 'run: outputSchema');
      const id = newId();
      const messages = typeof prompt === 'string' ? undefined : prompt[Symbol.asyncIterator]();
      return startRun({
        id,
        session,
        signal,
        closed: closed.signal,
        hasDeltas: deltas,
        budget,
        ...dropMissing({ messages }),
        async start(onEvent, first) {
          if (hasContext) await session.contextFiles();
          const definition = session.agents.agents.find(({ name }) => name === agent);
          if (worktree !== false || definition?.isolation === 'worktree')
            await open().prepareWorktree();
          return open().start(
            {
              id,
              limits: toLimits(budget),
              ...dropMissing({
                prompt: typeof prompt === 'string' ? prompt : first,
                agent,
                mode,
                accept,
                outputSchema: schema?.json,
                worktree: worktree === false ? null : { name: worktree === true ? null : worktree },
              }),
            },
            onEvent,
          );
        },
        // The type of the output is that of the schema, which has checked it.
        toResult: async (envelope) => (await toResult(envelope, schema)) as never,
      });
    },
    resume(id, prompt, options = {}) {
      checkRunOptions(options, 'resume');
      const { mode, budget = {}, signal, deltas = false } = options;
      const full = resolveId(id);
      return startRun({
        id: full,
        session,
        signal,
        closed: closed.signal,
        hasDeltas: deltas,
        budget,
        async start(onEvent) {
          await open().load(full, { takesOver: true });
          const limits = toLimits(budget);
          return open().resume({ id: full, limits, ...dropMissing({ prompt, mode }) }, onEvent);
        },
        toResult: (envelope) => ({ ...envelope, output: envelope.data.result }),
      });
    },
    branch(id, options) {
      checkRunOptions(options, 'branch');
      const { at, prompt, budget = {}, signal, deltas = false } = options;
      const from = resolveId(id);
      const branch = newId();
      return startRun({
        id: branch,
        session,
        signal,
        closed: closed.signal,
        hasDeltas: deltas,
        budget,
        async start(onEvent) {
          await open().load(from, { takesOver: false });
          const limits = toLimits(budget);
          return open().branch(
            { id: from, at, branch, limits, ...dropMissing({ prompt }) },
            onEvent,
          );
        },
        toResult: (envelope) => ({ ...envelope, output: envelope.data.result }),
      });
    },
    async rerun(id) {
      const full = resolveId(id);
      await open().load(full, { takesOver: false });
      return open().rerun(full);
    },
    send: (id, message) => open().send(id, message),
    stop: (id, reason = 'stopped by the program') => open().stopTask(id, reason),
    background: (id) => open().background(id),
    listTasks: () => open().store.list(),
    readEvents(id, from = 0) {
      checkPosition(from, 'readEvents: from');
      return streamEvents(open(), resolveId(id), from);
    },
    get agents() {
      return open().agents.agents.map(({ name, description }) => ({ name, description }));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function* streamEvents(session: Session, id: string, from: number): AsyncIterable<TaskEvent> {
  await session.load(id, { takesOver: false });
  yield* session.store.streamEvents(id, from);
}

/**
 * Adds the output to an envelope: the value that the schema of the program makes of the checked answer. Never rejects, because the
 * work is done and paid.
 */
async function toResult(
  envelope: ResultEnvelope,
  schema: ReadSchema | null,
): Promise<RunResult<unknown>> {
  const { result, structured } = envelope.data;
  if (schema === null) return { ...envelope, output: result };
  if (structured === null || schema.validate === undefined)
    return { ...envelope, output: structured };
  try {
    const checked = await schema.validate(structured);
    if (checked.issues === undefined) return { ...envelope, output: checked.value };
    return { ...envelope, output: null, outputIssues: checked.issues.map(describeIssue) };
  } catch (thrown) {
    const issue = `run: outputSchema could not check the answer: ${errorMessage(thrown)}`;
    return { ...envelope, output: null, outputIssues: [issue] };
  }
}
