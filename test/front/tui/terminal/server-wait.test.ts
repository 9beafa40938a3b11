import { afterEach, expect, test, vi } from 'vitest';
import type { Run } from '../../../../src/api/index.ts';
import { ConversationRunner } from '../../../../src/front/tui/terminal/conversation-runner.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A conversation whose first message waits for the server `demo`. */
function createConversation() {
  const answered = Promise.withResolvers<void>();
  const log: string[] = [];
  const run: Run = {
    id: 'mainmain',
    model: { provider: 'scripted', id: 'one', chain: [] },
    result: new Promise(() => {}),
    parkedOn: () => [],
    stop: () => {},
  };
  const conversation = new ConversationRunner(
    {
      listAwaitedServers: () => ['demo'],
      prepareServers: () => answered.promise,
      start: ({ prompt }) => {
        log.push(`start ${prompt}`);
        return run;
      },
      resume: async () => run,
      resumeBelow: async () => {},
      send: (_, text) => void log.push(`send ${text}`),
      withdraw: () => [],
    },
    {
      agent: null,
      chosenMode: () => null,
      dispatch: (message) => {
        if (message.type === 'servers-awaited') log.push(message.end ?? `waits ${message.names}`);
      },
    },
  );
  return { answered, conversation, log };
}

test('the first message waits for servers, and later ones follow it', async () => {
  const { answered, conversation, log } = createConversation();
  conversation.send('one');
  conversation.send('two');
  expect(log).toEqual(['waits demo']);
  answered.resolve();
  await vi.waitFor(() => expect(log).toEqual(['waits demo', 'answered', 'start one', 'send two']));
});

test('the user goes on without them', async () => {
  const { conversation, log } = createConversation();
  conversation.skipServers();
  conversation.send('one');
  conversation.skipServers();
  await vi.waitFor(() => expect(log).toEqual(['waits demo', 'skipped', 'start one']));
});

test('the wait has a limit', async () => {
  vi.useFakeTimers();
  const { conversation, log } = createConversation();
  conversation.send('one');
  await vi.advanceTimersByTimeAsync(9_999);
  expect(log).toEqual(['waits demo']);
  await vi.advanceTimersByTimeAsync(1);
  expect(log).toEqual(['waits demo', 'late', 'start one']);
});
