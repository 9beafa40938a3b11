import { expect, it } from 'vitest';
import type { Session, ServerContent } from '../../../../src/api/index.ts';
import { MessageSender } from '../../../../src/front/tui/terminal/message-sender.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import { waitUntilPasses } from '../../../wait-until-passes.ts';

/** Sends a message, with a library that can attach nothing, and returns what comes of it. */
async function send(text: string) {
  const delivered: string[] = [];
  const messages: UiMessage[] = [];
  const asked: string[] = [];
  const library: Pick<Session, 'enclose' | 'serverContent' | 'slashCommands'> = {
    slashCommands: [{ name: 'commit', description: '', source: 'user' }],
    serverContent: { servers: [{ name: 'notes' }] } as unknown as ServerContent,
    enclose: async ({ words }) => {
      asked.push(words);
      throw new Error('it needs the argument file');
    },
  };
  const sender = new MessageSender({
    library,
    agent: null,
    shell: { takeOutputs: () => [] },
    images: { findImages: () => [] },
    terms: () => ({}),
    dispatch: (message) => {
      if (message.type !== 'conversation-changed') messages.push(message);
    },
  });
  sender.send(text, { to: () => null, deliver: (said) => void delivered.push(said) });
  await waitUntilPasses(() => expect(delivered.length + messages.length).toBeGreaterThan(0));
  return { delivered, messages, asked };
}

it('a prompt of a server that cannot be had is given back', async () => {
  const text = '/notes:review';
  expect(await send(text)).toEqual({
    delivered: [],
    messages: [{ type: 'send-failed', text: `${text} `, reason: 'it needs the argument file' }],
    asked: [text],
  });
});

it.each(['/commit', '/Commit now', '/user:commit'])(
  'the slash command %s that cannot be sent is given back',
  async (text) => {
    expect(await send(text)).toEqual({
      delivered: [],
      messages: [{ type: 'send-failed', text: `${text} `, reason: 'it needs the argument file' }],
      asked: [text],
    });
  },
);

it('any other message is sent without what cannot be attached', async () => {
  const text = 'See @a.ts';
  expect(await send(text)).toMatchObject({
    delivered: [text],
    messages: [{ type: 'note', text: 'sent without attachments: it needs the argument file' }],
  });
});

it('a text that looks like a prompt is a message if there is no such server', async () => {
  const text = '/other:review';
  expect(await send(text)).toEqual({ delivered: [text], messages: [], asked: [] });
});
