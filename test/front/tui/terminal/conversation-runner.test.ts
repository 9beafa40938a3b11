import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { EventListener, ResultEnvelope, Run } from '../../../../src/api/index.ts';
import { MusterError } from '../../../../src/base/errors.ts';
import type { PermissionMode } from '../../../../src/protocol/permission.ts';
import { ConversationRunner } from '../../../../src/front/tui/terminal/conversation-runner.ts';

/** A conversation with a library that says what it was asked for. */
function open({
  failure,
  mode,
  refused,
  chosen = null,
}: {
  readonly failure?: MusterError;
  readonly mode?: PermissionMode;
  /** Why a log that was opened is not gone on with, the first time. */
  readonly refused?: MusterError;
  /** The mode that the person has chosen. */
  chosen?: PermissionMode | null;
} = {}) {
  let isRefused = refused !== undefined;
  const tell = (listener: EventListener | undefined) => {
    if (mode === undefined) return;
    const spec = { id: 'mainmain', parent: null, rights: { mode } };
    listener?.({ type: 'task.started' } as never, { spec } as never);
  };
  const asked: string[] = [];
  const notes: string[] = [];
  let end = (_text: string): void => {};
  let isEnding = false;
  const run = (): Run => {
    isEnding = false;
    const ended = Promise.withResolvers<ResultEnvelope>();
    end = (text) => ended.resolve({ text } as never);
    return {
      id: 'mainmain',
      model: { provider: 'scripted', id: 'one', chain: [] },
      result: ended.promise,
      parkedOn: () => [],
      stop: () => {},
    };
  };
  const conversation = new ConversationRunner(
    {
      listAwaitedServers: () => [],
      prepareServers: async () => {},
      start: ({ prompt = '', agent }, onEvent) => {
        if (failure !== undefined) throw failure;
        tell(onEvent);
        asked.push(`start ${prompt}${agent === undefined ? '' : ` as ${agent}`}`);
        return run();
      },
      resume: async ({ id, prompt = '', below, mode: wanted }, onEvent) => {
        await nextTurn();
        if (refused !== undefined && isRefused) {
          isRefused = false;
          tell(onEvent);
          throw refused;
        }
        const woken = below === undefined ? '' : `with ${below.id} ${below.prompt ?? '-'}`;
        const inMode = wanted === undefined ? '' : ` in ${wanted}`;
        asked.push(`resume ${id} ${prompt}${woken}${inMode}`);
        return run();
      },
      resumeBelow: async (id, { prompt = '-' } = {}) => {
        if (isEnding) throw new MusterError('NOT_FOUND', 'nobody above it is at work');
        asked.push(`wake ${id} ${prompt}`);
      },
      withdraw: (id) => {
        if (isEnding) throw new MusterError('NOT_FOUND', 'it is about to end');
        return [{ id: 'one', text: `waited for ${id}` }];
      },
      send: (id, text) => {
        if (isEnding) throw new MusterError('NOT_FOUND', 'it is about to end');
        asked.push(`send ${id} ${text}`);
      },
    },
    {
      agent: 'Plan',
      dispatch: (message) => {
        if (message.type === 'note') notes.push(`${message.level}: ${message.text}`);
        if (message.type === 'mode-taken') chosen = null;
        if (message.type === 'conversation-idle') asked.push('idle');
      },
      chosenMode: () => chosen,
    },
  );
  return {
    conversation,
    asked,
    notes,
    end: async (text = '') => {
      end(text);
      await nextTurn();
      await nextTurn();
    },
    decideEnd: () => {
      isEnding = true;
    },
  };
}

it('a conversation starts, is steered, ends, and continues', async () => {
  const { conversation, asked, end } = open();
  conversation.send('one');
  await nextTurn();
  conversation.send('two');
  expect([conversation.id, conversation.isAtWork]).toEqual(['mainmain', true]);
  await end();
  expect(conversation.isAtWork).toBe(false);
  conversation.send('three');
  await nextTurn();
  expect(asked).toEqual([
    'start one as Plan',
    'send mainmain two',
    'idle',
    'resume mainmain three',
  ]);
});

it('a conversation continues in the last mode that it had in this process', async () => {
  const { conversation, asked, end } = open({ mode: 'acceptEdits' });
  conversation.send('one');
  await end();
  conversation.send('two');
  await nextTurn();
  await end();
  conversation.resumeTask('child', null);
  await nextTurn();
  await end();
  conversation.select('another');
  conversation.send('three');
  await nextTurn();
  expect(asked).toEqual([
    'start one as Plan',
    'idle',
    'resume mainmain two in acceptEdits',
    'idle',
    'resume mainmain with child - in acceptEdits',
    'idle',
    'resume another three',
  ]);
});

it('a conversation continues without a message only if it is idle and has been started', async () => {
  const { conversation, asked } = open();
  conversation.continueWork();
  conversation.select('mainmain');
  conversation.continueWork();
  conversation.continueWork();
  await nextTurn();
  conversation.continueWork();
  await nextTurn();
  expect(asked).toEqual(['resume mainmain ']);
});

it('a conversation takes no mode from a log that was opened but not continued', async () => {
  const refused = new MusterError('INVALID_PARAM', 'there is nothing to summarize');
  const { conversation, asked, notes } = open({ mode: 'autonomous', refused });
  conversation.select('mainmain');
  conversation.send('/compact');
  await nextTurn();
  await nextTurn();
  conversation.send('one');
  await nextTurn();
  expect(notes).toEqual(['error: there is nothing to summarize']);
  expect(asked).toEqual(['idle', 'resume mainmain one']);
});

it('a conversation keeps the chosen mode until a message is sent in this mode', async () => {
  const refused = new MusterError('INVALID_PARAM', 'there is nothing to summarize');
  const { conversation, asked, end } = open({ refused, chosen: 'plan' });
  conversation.select('mainmain');
  conversation.send('/compact');
  await nextTurn();
  await nextTurn();
  conversation.send('one');
  await nextTurn();
  await end();
  conversation.send('two');
  await nextTurn();
  expect(asked).toEqual(['idle', 'resume mainmain one in plan', 'idle', 'resume mainmain two']);
});

it('a conversation continues in the narrower of its modes before and after an undo', async () => {
  const { conversation, asked, end } = open({ mode: 'acceptEdits' });
  conversation.send('one');
  await end();
  conversation.select('mainmain', 'plan');
  conversation.send('two');
  await nextTurn();
  await end();
  conversation.select('mainmain', 'autonomous');
  conversation.send('three');
  await nextTurn();
  expect(asked.filter((each) => each !== 'idle')).toEqual([
    'start one as Plan',
    'resume mainmain two in plan',
    'resume mainmain three in plan',
  ]);
});

it('a conversation receives messages that were sent while it was starting', async () => {
  const { conversation, asked } = open();
  conversation.select('mainmain');
  conversation.send('one');
  conversation.send('two');
  await nextTurn();
  await nextTurn();
  expect(asked).toEqual(['resume mainmain one', 'send mainmain two']);
});

it('a conversation continues with messages that were sent while it was ending', async () => {
  const { conversation, asked, decideEnd, end } = open();
  conversation.send('one');
  await nextTurn();
  decideEnd();
  conversation.send('two');
  conversation.send('three');
  await end();
  expect(asked).toEqual(['start one as Plan', 'resume mainmain two\n\nthree']);
});

it('a conversation reports why it did not start, and can be started again', async () => {
  const failure = new MusterError('INVALID_PARAM', 'there is no such model');
  const { conversation, asked, notes } = open({ failure });
  conversation.send('one');
  await nextTurn();
  expect([notes, asked, conversation.isAtWork]).toEqual([
    ['error: there is no such model'],
    ['idle'],
    false,
  ]);
});

it('a conversation reports the result of a compaction', async () => {
  const { conversation, notes, end } = open();
  conversation.select('mainmain');
  conversation.send('/compact the goal');
  await nextTurn();
  await nextTurn();
  await end('context summarized: about 900 tokens → 300');
  expect(notes).toEqual(['info: context summarized: about 900 tokens → 300']);
});

it('a conversation resumes a task below it while it is at work, ending, or idle', async () => {
  const { conversation, asked, decideEnd, end, notes } = open();
  conversation.resumeTask('child1xx', null);
  await nextTurn();
  // There is none yet, and nothing below it.
  expect(asked).toEqual([]);
  conversation.send('one');
  await nextTurn();
  conversation.resumeTask('child1xx', 'and more');
  await nextTurn();
  decideEnd();
  conversation.resumeTask('child1xx', null);
  await nextTurn();
  await end();
  await nextTurn();
  expect(asked).toEqual([
    'start one as Plan',
    'wake child1xx and more',
    'idle',
    'resume mainmain with child1xx -',
  ]);
  expect(notes).toEqual([]);
});

it('an idle conversation resumes several tasks one after the other', async () => {
  const { conversation, asked } = open();
  conversation.select('mainmain');
  conversation.resumeTask('child1xx', null);
  conversation.resumeTask('child2xx', 'and more');
  await nextTurn();
  await nextTurn();
  expect(asked).toEqual(['resume mainmain with child1xx -', 'wake child2xx and more']);
});

it('messages are taken back: those of the run, and those that wait for the next one', async () => {
  const { conversation } = open();
  expect(conversation.withdraw()).toEqual([]);
  conversation.send('one');
  conversation.send('two');
  expect(conversation.withdraw()).toEqual(['two']);
  await nextTurn();
  expect(conversation.withdraw()).toEqual(['waited for mainmain']);
});

it('a message is taken back between the end of a run and its result, and is not sent later', async () => {
  const { conversation, asked, end, decideEnd } = open();
  conversation.send('one');
  await nextTurn();
  decideEnd();
  conversation.send('two');
  expect(conversation.withdraw()).toEqual(['two']);
  await end();
  expect(asked).toEqual(['start one as Plan', 'idle']);
});
