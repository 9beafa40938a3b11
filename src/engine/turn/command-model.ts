import type { EventBody } from '../../protocol/events/event.ts';
import { modelName } from '../../protocol/model.ts';
import type { TaskState } from '../../protocol/state/task-state.ts';

/**
 * Builds the event that changes the model before a request which contains a new message of a person: to the model of the slash
 * command in it, or back to the model of the conversation. Returns no event if the model stays.
 */
export function commandModelEvents({
  conversation,
  modelAfterCommand,
  modelMessage,
  openTurn,
  spec: { rights, limits, model: present },
}: Pick<
  TaskState,
  'conversation' | 'modelAfterCommand' | 'modelMessage' | 'openTurn' | 'spec'
>): readonly EventBody[] {
  // A request that started before a crash is repeated unchanged.
  if (openTurn !== null) return [];
  const message = conversation.queued.findLast(
    ({ kind, from }) => from === 'user' && (kind === 'prompt' || kind === 'message'),
  );
  // A hook may have refused the model of the message.
  if (message === undefined || message.id === modelMessage) return [];
  const asked = message.enclosed?.findLast(({ model }) => model !== undefined)?.model;
  const model = asked ?? modelAfterCommand ?? present;
  if (modelName(model) === modelName(present)) return [];
  const forMessage = asked === undefined ? {} : { forMessage: message.id };
  return [{ type: 'terms.changed', rights, limits, model, ...forMessage }];
}
