import { expect, it } from 'vitest';
import {
  applyToConversation,
  emptyConversation,
} from '../../../src/protocol/state/conversation.ts';
import type { EventBody } from '../../../src/protocol/events/event.ts';

const STAMP = { v: 2, seq: 0, ts: 0, task: 'parent', epoch: 1 };
const NOTICE = {
  id: 'child-0',
  kind: 'result',
  from: 'child',
  text: '- Task child: done.',
} as const;
const QUEUED: EventBody = { type: 'input.queued', input: NOTICE };
const WITHDRAWN: EventBody = { type: 'input.withdrawn', ids: [NOTICE.id] };

it.each([
  ['the notice came before the call that read the result', [QUEUED, WITHDRAWN]],
  // Between a task's written end and the moment when its parent is told, a call may read the end.
  ['the notice came after it', [WITHDRAWN, QUEUED]],
  ['the notice came again', [QUEUED, WITHDRAWN, QUEUED]],
])('a result that was read is not reported again: %s', (_, bodies) => {
  const conversation = emptyConversation();
  for (const body of bodies) applyToConversation(conversation, { ...STAMP, ...body });
  expect(conversation.queued).toEqual([]);
});
