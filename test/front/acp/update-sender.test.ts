import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ClientUpdate } from '../../../src/front/acp/call-updates.ts';
import { joinUpdates, MAX_WAITING_MB, UpdateSender } from '../../../src/front/acp/update-sender.ts';

type Chunk = 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk';

function piece(text: string, messageId = 'm', kind: Chunk = 'agent_message_chunk'): ClientUpdate {
  const content = { type: 'text', text } as const;
  return { sessionId: 's', update: { sessionUpdate: kind, content, messageId } };
}

function progress(line: string, fields: object = {}): ClientUpdate {
  const content = [{ type: 'content', content: { type: 'text', text: line } }] as const;
  const update = { sessionUpdate: 'tool_call_update', toolCallId: 'c', ...fields } as const;
  return { sessionId: 's', update: { ...update, content: [...content] } };
}

it.each([
  ['pieces of a message', piece('a'), piece('b'), piece('ab')],
  ['progress of a call', progress('a'), progress('b'), progress('b')],
  ['pieces of two messages', piece('a'), piece('b', 'n'), null],
  ['an answer and a thought', piece('a'), piece('b', 'm', 'agent_thought_chunk'), null],
  [
    'messages of the user',
    piece('a', 'm', 'user_message_chunk'),
    piece('b', 'm', 'user_message_chunk'),
    null,
  ],
  ['progress and the end of a call', progress('a'), progress('b', { status: 'completed' }), null],
  ['progress of two calls', progress('a'), progress('b', { toolCallId: 'd' }), null],
  ['two sessions', piece('a'), { ...piece('b'), sessionId: 't' }, null],
  ['pieces that are too long together', piece('a'.repeat(65_536)), piece('b'), null],
])('joins or keeps %s', (_name, first, second, joined) => {
  expect(joinUpdates(first, second)).toEqual(joined);
});

/** Returns the text of each message, in the order of the messages. */
function textsOf(updates: readonly ClientUpdate[]): readonly string[] {
  const texts: string[] = [];
  let last = '';
  for (const { update } of updates) {
    if (update.sessionUpdate !== 'agent_message_chunk' || update.content.type !== 'text') continue;
    const id = update.messageId ?? '';
    if (id !== last) texts.push('');
    last = id;
    texts[texts.length - 1] += update.content.text;
  }
  return texts;
}

it('sends everything that was said, in order, however slowly the client reads', async () => {
  const added = fc.array(fc.tuple(fc.string(), fc.constantFrom('m', 'n'), fc.boolean()));
  await fc.assert(
    fc.asyncProperty(added, async (steps) => {
      const sent: ClientUpdate[] = [];
      let release = Promise.withResolvers<void>();
      const sender = new UpdateSender({
        send: async (update) => {
          sent.push(update);
          await release.promise;
        },
        onOverflow: () => expect.unreachable(),
      });
      const updates = steps.map(([text, id]) => piece(text, id));
      for (const [index, update] of updates.entries()) {
        sender.add(update);
        if (steps[index]?.[2] !== true) continue;
        release.resolve();
        await sender.drained();
        release = Promise.withResolvers();
      }
      release.resolve();
      await sender.drained();
      expect(textsOf(sent)).toEqual(textsOf(updates));
    }),
  );
});

it('reports once that too much waits, and drops the rest', async () => {
  const sent: ClientUpdate[] = [];
  let overflows = 0;
  const release = Promise.withResolvers<void>();
  const sender = new UpdateSender({
    send: async (update) => {
      sent.push(update);
      await release.promise;
    },
    onOverflow: () => (overflows += 1),
  });
  for (let megabytes = 0; megabytes < MAX_WAITING_MB + 2; megabytes += 1)
    sender.add(piece('x'.repeat(1024 * 1024), String(megabytes)));
  release.resolve();
  await sender.drained();
  expect([overflows, sent.length]).toEqual([1, 1]);
});
