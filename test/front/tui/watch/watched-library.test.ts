import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Tasks } from '../../../../src/api/index.ts';
import { MusterError } from '../../../../src/base/errors.ts';
import type { UiLibrary } from '../../../../src/front/tui/model/ui-library.ts';
import {
  watchedConversation,
  watchedLibrary,
} from '../../../../src/front/tui/watch/watched-library.ts';

const TASK = 'aaaaaaaaaaaa';

/** A library for what another process runs, or nobody (`isGone`). */
function open({ isGone = false, failure }: { isGone?: boolean; failure?: Error } = {}) {
  const asked: string[] = [];
  const told: string[] = [];
  const ask = async <T>(what: string, answer: T): Promise<T> => {
    asked.push(what);
    if (failure !== undefined) throw failure;
    return answer;
  };
  const doors: Pick<Tasks, 'answer' | 'detach' | 'stop' | 'tell'> = {
    tell: (id, { text }) =>
      ask(`tell ${id} ${text ?? '-'}`, isGone ? null : { id, pid: 7, text: 'sent' }),
    answer: (id, { text }) =>
      ask(`answer ${id} ${text}`, (isGone ? { kind: 'left' } : { kind: 'told' }) as never),
    detach: (id) => ask(`detach ${id}`, { id, pid: 7, text: 'sent' }),
    stop: (id, because) => ask(`stop ${id} ${because}`, {} as never),
  };
  const facts = { cwd: '/work', store: {} } as UiLibrary;
  const muster = watchedLibrary(facts, doors as Tasks, (text) => told.push(text));
  const conversation = watchedConversation(TASK, muster, (text) => told.push(text));
  return { muster, conversation, asked, told };
}

it('requests go to the process that runs the task', async () => {
  const { muster, conversation, asked, told } = open();
  conversation.send('look here');
  conversation.resumeTask('bbbbbbbbbbbb', null);
  conversation.resumeTask('bbbbbbbbbbbb', 'again');
  muster.answer({ question: `${TASK}q1`, text: 'yes' });
  muster.background('bbbbbbbbbbbb');
  await muster.stopTask(TASK, 'the user stopped it');
  await sleep(0);
  expect(asked).toEqual([
    `tell ${TASK} look here`,
    'tell bbbbbbbbbbbb -',
    'tell bbbbbbbbbbbb again',
    `answer ${TASK}q1 yes`,
    'detach bbbbbbbbbbbb',
    `stop ${TASK} the user stopped it`,
  ]);
  expect(told).toEqual([]);
});

it('if no process runs the task, the message names the command that continues it', async () => {
  const { muster, conversation, told } = open({ isGone: true });
  conversation.send('look here');
  conversation.resumeTask('bbbbbbbbbbbb', 'again');
  muster.answer({ question: `${TASK}q1`, text: 'yes' });
  await sleep(0);
  expect(told.toSorted()).toEqual([
    `not answered: no process waits for it: muster tasks answer ${TASK}q1 ANSWER continues its task`,
    `not sent: “again”: no process has task bbbbbbbbbbbb at work: muster tasks resume bbbbbbbbbbbb continues it`,
    `not sent: “look here”: no process has task ${TASK} at work: muster --resume ${TASK} continues it`,
  ]);
});

it('failures are reported and break nothing', async () => {
  const { muster, conversation, told } = open({ failure: new MusterError('TIMEOUT', 'no answer') });
  conversation.send('look here');
  conversation.resumeTask('bbbbbbbbbbbb', null);
  muster.background('bbbbbbbbbbbb');
  await muster.stopTask(TASK, 'x');
  await sleep(0);
  expect(told.toSorted()).toEqual([
    'it does not continue: no answer',
    'not sent to the background: no answer',
    'not sent: “look here”: no answer',
    'not stopped: no answer',
  ]);
  await expect(muster.resume({ id: TASK })).rejects.toThrow('muster --resume');
});
