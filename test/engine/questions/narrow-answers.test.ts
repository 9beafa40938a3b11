import { expect, it } from 'vitest';
import { planRewind } from '../../../src/engine/rewind/plan-rewind.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { call, calls, play, until } from '../play.ts';
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
