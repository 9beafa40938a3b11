import { hash } from 'node:crypto';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { deferred } from '../../../src/base/async.ts';
import { answerTaskQuestion, listQuestions } from '../../../src/api/tasks/questions.ts';
import { answerQuestion } from '../../../src/engine/questions/record-answer.ts';
import { planRewind } from '../../../src/engine/rewind/plan-rewind.ts';
import { rewind } from '../../../src/engine/rewind/rewind.ts';
import { foldLog } from '../../../src/engine/task/fold-log.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import type { Rights } from '../../../src/protocol/permission.ts';
import type { QuotedItem } from '../../../src/protocol/quoted-item.ts';
import { openQuestions } from '../../../src/protocol/state/questions.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { background, call, calls, eventsOfType, hookLogs, play, until } from '../play.ts';
import { testEngine, type EngineSetup } from '../support.ts';

/** A tool that changes a file, and records that it ran. */
function writeTool(ran: string[]): AnyTool {
  return {
    name: 'Write',
    kind: 'edit',
    replay: 'keyed',
    description: 'write',
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    describe: ({ file }: { file: string }) => ({
      reads: [],
      writes: [`/w/${file}`],
      commands: [],
      hosts: [],
    }),
    run: async ({ file }: { file: string }) => {
      ran.push(file);
      return { text: 'written' };
    },
  };
}

function start(files: readonly string[], ran: string[], setup: EngineSetup = {}) {
  const work = calls(...files.map((file) => call('Write', { file })));
  return testEngine(play({ main: [work] }), {
    mode: 'default',
    onAsk: 'wait',
    root: '/w',
    tools: [writeTool(ran)],
    ...setup,
  });
}

/** Returns the body of an event, which a store can append again. */
function bodyOf({ v: _v, seq: _seq, task: _task, ts: _ts, epoch: _epoch, ...body }: TaskEvent) {
  return body;
}

it('a call that only a wider mode released asks again after a crash in a narrower mode', async () => {
  const before: string[] = [];
  const first = start(['a'], before);
  const main = first.start('main');
  await until(() => first.inbox.open().length === 1);
  first.engine.setMode(main.spec.id, 'acceptEdits');
  await until(() => before.length === 1);
  const events = first.events.filter(({ task }) => task === main.spec.id);
  await first.engine.stop(stopOrder('client', 'over'));
  const at = events.findLastIndex(({ type }) => type === 'question.answered');
  expect(events[at]).toMatchObject({ by: 'rule' });
  const store = openMemoryStore();
  const log = store.create(main.spec);
  const kept = events.slice(1, at + 1).filter(({ type }) => type !== 'task.claimed');
  log.append(kept.map(bodyOf));
  log.close();
  const after: string[] = [];
  const second = start(['a'], after, { store });
  await second.engine.resume(main.spec.id, {
    prompt: null,
    maxRights: (rights) => rights,
    mode: 'default',
  });
  await until(() => second.inbox.open().length === 1);
  expect(after).toEqual([]);
  await second.engine.stop(stopOrder('client', 'over'));
});

it('only the files of a conversation in the middle of a turn are not put back', async () => {
  const test = start(['a'], [], { onAsk: 'park' });
  const main = test.start('main');
  await main.end.written;
  const planned = planRewind(test.store, main.spec.id, { to: 0, only: 'files' });
  await expect(planned).rejects.toThrow(/is in the middle of a turn, which would be lost/);
});

it('no rule is offered whose text is redacted', async () => {
  const redact = (text: string): string => text.replaceAll('s3cr3t', '[redacted by Muster]');
  const test = start(['x-s3cr3t/f.txt', 'x-a/f.txt'], [], { redact });
  test.start('main');
  await until(() => test.inbox.open().length === 2);
  const rules = test.inbox
    .open()
    .map(({ question }) => (question.kind === 'permission' ? question.rule : ''));
  expect(rules.toSorted()).toEqual(['Edit(//w/x-a/**)', null]);
  await test.engine.stop(stopOrder('client', 'over'));
});

it('an answer that accepts edits does not lift the plan mode that the user has set meanwhile', async () => {
  const ran: string[] = [];
  const test = start(['a'], ran);
  const main = test.start('main');
  await until(() => test.inbox.open().length === 1);
  const [open] = test.inbox.open();
  test.engine.setMode(main.spec.id, 'plan');
  const accept = () => answerQuestion(test.inbox, open?.question.id ?? '', { text: 'edits' });
  expect(accept).toThrow('the conversation is in plan mode now, so no edit is accepted');
  await main.end.written;
  expect([main.permissions.rights.mode, ran]).toEqual(['plan', []]);
  expect(eventsOfType(test, 'question.answered')).toEqual([]);
});

it('no question gets the id of one that a rewind has cut off', async () => {
  const test = start(['a', 'b'], [], { onAsk: 'park' });
  const main = test.start('main');
  await main.end.written;
  const { id } = main.spec;
  const old = eventsOfType(test, 'question.asked').map(({ question }) => question.id);
  expect(old).toEqual([`${id}q1`, `${id}q2`]);
  await rewind(test.store, await planRewind(test.store, id, { to: 0 }));
  const next = start(['c'], [], { store: test.store });
  await next.engine.resume(id, { prompt: null, maxRights: (rights) => rights });
  await until(() => next.inbox.open().length === 1);
  expect(next.inbox.open().map(({ question }) => question.id)).toEqual([`${id}q3`]);
  const answerOld = () => answerQuestion(next.inbox, `${id}q1`, { text: 'yes' });
  expect(answerOld).toThrow(/no question .* waits/);
  await next.engine.stop(stopOrder('client', 'over'));
});

it('a question of a child that a rewind has removed is neither listed nor answered', async () => {
  const ran: string[] = [];
  const test = testEngine(
    play({
      main: [{ text: 'one' }, calls(background('child'))],
      child: [calls(call('Write', { file: 'a' }))],
    }),
    { mode: 'default', onAsk: 'park', root: '/w', tools: [writeTool(ran)] },
  );
  const main = test.start('main');
  await main.end.written;
  const { id } = main.spec;
  const [ended] = eventsOfType(test, 'task.ended', id);
  const more = { prompt: 'main more', maxRights: (rights: Rights) => rights };
  await (
    await test.engine.resume(id, more)
  ).end.written;
  const directory = { store: test.store, dataDir: '/nowhere' };
  const fail = (line: string): void => expect.unreachable(line);
  const [asked] = listQuestions(directory, fail);
  const question = asked?.question.id ?? '';
  expect(question).toMatch(/q1$/);
  await rewind(test.store, await planRewind(test.store, id, { to: ended?.seq ?? 0 }));
  expect(listQuestions(directory, fail)).toEqual([]);
  await expect(answerTaskQuestion(directory, question, { text: 'yes' }, fail)).rejects.toThrow(
    `question ${question} is withdrawn: a rewind has removed its task`,
  );
  await rewind(test.store, await planRewind(test.store, id, 'undo'));
  expect(listQuestions(directory, fail)).toHaveLength(1);
  expect(ran).toEqual([]);
});

it('a no that ends the turn leaves no question behind, also while the calls are decided again', async () => {
  const ran: string[] = [];
  const write = (file: string) => call('Write', { file });
  const test = testEngine(
    play({
      main: [calls(background('child'), write('a'), write('b'))],
      child: [calls(write('c'))],
    }),
    { mode: 'default', onAsk: 'wait', root: '/w', tools: [writeTool(ran)], isUserPresent: true },
  );
  const main = test.start('main');
  await until(() => test.inbox.open().length === 3);
  const about = (path: string) =>
    test.inbox
      .open()
      .map(({ question }) => question)
      .find((each) => each.kind === 'permission' && each.paths[0] === path)?.id ?? '';
  const id = about('/w/a');
  test.inbox.reconsider();
  answerQuestion(test.inbox, id, { text: 'no' });
  await until(() => main.state.conversation.results.size === 3);
  const waiting = test.inbox.open().map(({ question }) => question.task);
  expect(waiting).toEqual([eventsOfType(test, 'child.created')[0]?.child]);
  expect(openQuestions(foldLog(test.store, main.spec.id))).toEqual([]);
  expect(ran).toEqual([]);
  await test.engine.stop(stopOrder('client', 'over'));
});

it('a grant in the log of the conversation is on disk before the call of a child that it allows runs', async () => {
  const ran: string[] = [];
  const onDisk = deferred<void>();
  const syncs: string[] = [];
  let isHeld = false;
  const test = testEngine(
    play({ main: [calls(background('child'))], child: [calls(call('Write', { file: 'a' }))] }),
    {
      mode: 'default',
      onAsk: 'wait',
      root: '/w',
      tools: [writeTool(ran)],
      prepareStore: (store) =>
        hookLogs(store, {
          sync: async (task) => {
            syncs.push(task);
            if (isHeld) await onDisk.promise;
          },
        }),
    },
  );
  const main = test.start('main');
  await until(() => test.inbox.open().length === 1);
  const [open] = test.inbox.open();
  isHeld = true;
  syncs.length = 0;
  answerQuestion(test.inbox, open?.question.id ?? '', { text: 'always' });
  await until(() => syncs.includes(main.spec.id));
  expect([eventsOfType(test, 'rights.granted').length, ran]).toEqual([1, []]);
  onDisk.resolve();
  await until(() => ran.length === 1);
  await test.engine.stop(stopOrder('client', 'over'));
});

it.each([
  { how: 'withdrawn', changed: false },
  { how: 'sent', changed: true },
])(
  'a file that is attached to a message counts as read once it is sent: $how',
  async ({ how, changed }) => {
    const root = realpathSync(tempDirectory());
    const path = join(root, 'a.txt');
    writeFileSync(path, 'one');
    const answered = deferred<void>();
    const edit = calls(call('Edit', { file_path: path, old_string: 'one', new_string: 'two' }));
    const hold = async () => {
      await answered.promise;
      return calls(call('TodoWrite', { todos: [] }));
    };
    const tools = builtinTools().filter(({ name }) => name === 'Edit' || name === 'TodoWrite');
    const test = testEngine(play({ main: [hold, edit] }), { mode: 'acceptEdits', root, tools });
    const main = test.start('main');
    await until(() => test.model.requests.length === 1);
    const seen = { path, hash: hash('sha256', 'one') };
    const item: QuotedItem = {
      kind: 'file',
      name: 'a.txt',
      outcome: '',
      text: 'one',
      nonce: 'n',
      read: [seen],
    };
    test.engine.send(main.spec.id, 'see @a.txt', [item]);
    expect([...main.state.knownFiles]).toEqual([]);
    if (how === 'withdrawn') expect(test.engine.withdraw(main.spec.id)).toHaveLength(1);
    answered.resolve();
    await main.end.written;
    expect(readFileSync(path, 'utf8')).toBe(changed ? 'two' : 'one');
    const [, result] = eventsOfType(test, 'call.ended');
    expect(result?.error === null).toBe(changed);
    if (!changed) expect(result?.text).toMatch(/read/i);
  },
);
