import { errorMessage } from '../../base/errors.ts';
import type { WireModelPort } from '../../model/adapters/adapter.ts';
import { withWatchdog, type LivenessLimits, type WatchdogDeps } from '../../model/watchdog.ts';
import { modelName, type ModelPart, type ModelRequest } from '../../protocol/model.ts';
import type { AcpProgram, RemoteTask } from '../../protocol/remote-agent.ts';
import type { RemoteAgentPort } from '../remote-agent-port.ts';
import { ProgramConversation, type ConversationDeps } from './conversation.ts';

/** The parts that the port needs. */
export interface AcpPortDeps extends ConversationDeps, Pick<WatchdogDeps, 'clock'> {
  /** The limits on the silence of a program. A step of its own that is at work is no silence. */
  readonly limits: LivenessLimits;
}

/** Creates the port to programs that speak the Agent Client Protocol. Each task has a program of its own. */
export function createAcpPort(deps: AcpPortDeps): RemoteAgentPort {
  const conversations = new Map<string, ProgramConversation>();
  const find = (task: RemoteTask, program: AcpProgram): ProgramConversation => {
    const known = conversations.get(task.task);
    if (known !== undefined) {
      known.terms = { task, program };
      return known;
    }
    const conversation = new ProgramConversation(deps, { task, program });
    conversations.set(task.task, conversation);
    return conversation;
  };
  const endTask = async (id: string): Promise<void> => {
    const conversation = conversations.get(id);
    conversations.delete(id);
    await conversation?.endProgram();
  };
  const wire: WireModelPort = {
    async *stream(request, signal, observer) {
      // The program is local. The limit to the first token holds for its start and its first sign of life.
      observer?.connected?.();
      const { remote } = request;
      const problem = describeProblem(request);
      if (problem !== null || remote?.agent?.protocol !== 'acp') {
        yield createFailure(request, problem ?? 'it is no program that speaks ACP', signal);
        return;
      }
      try {
        yield* find(remote, remote.agent).answer(request, signal);
      } catch (thrown) {
        yield createFailure(request, errorMessage(thrown), signal);
      }
    },
  };
  const watched = withWatchdog(wire, deps.limits, deps);
  return {
    async *stream(request, signal, listener) {
      for await (const part of watched.stream(request, signal, listener)) {
        if (part.type !== 'failed') {
          yield part;
          continue;
        }
        const { failure } = part;
        // After a fault it is not known what the program does.
        if (failure.kind !== 'cancelled' && request.remote !== undefined)
          await endTask(request.remote.task);
        // A second try would repeat what the program has done already.
        yield { ...part, failure: { ...failure, retryable: false } };
      }
    },
    endTask,
    close: async () => void (await Promise.all([...conversations.keys()].map(endTask))),
  };
}

function describeProblem({ remote }: ModelRequest): string | null {
  if (remote === undefined) return 'only a task of this agent can use it';
  if (remote.agent !== null) return null;
  return `the agent ${remote.name} is not defined here any more, or its file is not trusted, so its program was not started`;
}

function createFailure(
  { model }: ModelRequest,
  reason: string,
  { aborted }: AbortSignal,
): ModelPart {
  const message = `${modelName(model)}: ${aborted ? 'stopped' : reason}`;
  const kind = aborted ? 'cancelled' : 'server';
  return { type: 'failed', failure: { kind, message, retryable: false } };
}
