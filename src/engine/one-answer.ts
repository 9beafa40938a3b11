import { modelName, type ModelPart } from '../protocol/model.ts';
import type { BegunTurn } from './begin-turn.ts';
import type { EngineDeps } from './deps.ts';
import type { TaskRun } from './task-run.ts';

export type Answer = Extract<ModelPart, { type: 'finished' | 'failed' }>;

/** Sends the request once, and reads what comes to its end. Never rejects. */
export async function oneAnswer(
  deps: EngineDeps,
  run: TaskRun,
  { turn, request }: BegunTurn,
): Promise<Answer> {
  const task = run.spec.id;
  for await (const part of deps.model.stream(request, run.signal)) {
    switch (part.type) {
      case 'accepted':
        run.journal.record({ type: 'turn.accepted', turn });
        // Loaded while the answer streams in; asked for again when it has ended.
        void deps.models.facts(request.model);
        break;
      case 'text_delta':
        deps.onSignal({ type: 'text_delta', task, text: part.text });
        break;
      case 'reasoning_delta':
        deps.onSignal({ type: 'reasoning_delta', task, text: part.text });
        break;
      case 'tool_call_started':
        deps.onSignal({ type: 'tool_call_started', task, name: part.name });
        break;
      case 'ping':
        break;
      case 'finished':
      case 'failed':
        return part;
      default:
        part satisfies never;
    }
  }
  return {
    type: 'failed',
    failure: {
      kind: 'malformed',
      message: `${modelName(request.model)}: the answer ended without an end`,
      retryable: true,
    },
  };
}
