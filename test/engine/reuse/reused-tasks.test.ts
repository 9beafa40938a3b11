import { describe, expect, it } from 'vitest';
import { nextStep } from '../../../src/engine/loop/next-step.ts';
import { rerunTaskLog, rerunTree } from '../../../src/replay/rerun-tree.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import { call, calls, textsOf, type Turn } from '../play.ts';
import { SETTINGS } from '../support.ts';
import {
  delegate,
  looks,
  scout,
  sourceOf,
  workspace,
  type Delegated,
  type Place,
} from './support.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';

const FILES = { 'a.ts': 'export const a = 1;\n' };
const LOOK = { look: looks(call('Read', { file_path: 'a.ts' })) };

async function reusedTask(): Promise<{ readonly place: Place; readonly reused: Delegated }> {
  const place = workspace(FILES);
  await delegate(place, LOOK);
  return { place, reused: await delegate(place, LOOK) };
}

function eventsOf({ store }: Place, id: string): readonly TaskEvent[] {
  const events: TaskEvent[] = [];
  store.scan(id, (event) => void events.push(event));
  return events;
}

describe('a reused result', () => {
  it('is continued from the question and its answer', async () => {
    const place = workspace(FILES);
    await delegate(place, LOOK);
    const main = [
      calls(scout('look')),
      ({ results }: Turn) => {
        const resume = /\[task ([a-z0-9]+)/.exec(results[0]?.text ?? '')?.[1] ?? '';
        return calls(call('Task', { prompt: 'and more', resume }));
      },
    ];
    const answers = { look: [{ text: 'not asked' }, { text: 'More.' }] };
    const { requests, state, texts } = await delegate(place, answers, { main });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(textsOf(requests[0])).toEqual(['look', 'and more']);
    expect(state).toMatchObject({ result: 'More.', turns: 1, reused: null, status: 'completed' });
    expect(texts[1]).not.toContain('reused');
    const summary = place.store.list().find(({ id }) => id === state.spec.id);
    expect(summary?.reused).toBeUndefined();
  });

  it('is the same when its tree is rerun', async () => {
    const { place, reused } = await reusedTask();
    const { tasks, lost } = await rerunTree(sourceOf(place), reused.state.spec.root);
    expect(lost).toEqual([]);
    expect(tasks.map(({ task, difference }) => [task, difference])).toEqual([
      [reused.state.spec.root, null],
      [reused.state.spec.id, null],
    ]);
  });

  it('is the same when a task that had nothing to reuse is rerun', async () => {
    const place = workspace(FILES);
    const { state } = await delegate(place, LOOK);
    const { tasks } = await rerunTree(sourceOf(place), state.spec.root);
    expect(tasks.flatMap(({ difference }) => difference ?? [])).toEqual([]);
  });

  it('is reported by a rerun if its log was edited', async () => {
    const { place, reused } = await reusedTask();
    const events = eventsOf(place, reused.state.spec.id);
    const event = events.find(({ type }) => type === 'task.reused');
    if (event?.type !== 'task.reused') throw new Error('nothing was reused');
    const edited = events.with(event.seq, { ...event, text: 'edited' });
    const { difference } = await rerunTaskLog(sourceOf(place), edited);
    expect(difference?.type).toBe('task.ended');
  });

  it('is also the end if the process died right after it was found', async () => {
    const { place, reused } = await reusedTask();
    const events = eventsOf(place, reused.state.spec.id);
    const state = foldEvents(events.slice(0, -1));
    expect(events.at(-1)?.type).toBe('task.ended');
    expect(nextStep(state, SETTINGS)).toMatchObject({
      kind: 'end',
      ending: { end: { status: 'completed' }, result: 'It is so.' },
    });
  });

  it('is not used if there was another message by then', async () => {
    const { place, reused } = await reusedTask();
    const events = eventsOf(place, reused.state.spec.id);
    const last = events.at(-2);
    if (last === undefined) throw new Error('no event');
    const { v, ts, task, epoch } = last;
    const said: TaskEvent = {
      v,
      ts,
      task,
      epoch,
      seq: last.seq + 1,
      type: 'input.queued',
      input: { id: 'more', kind: 'message', from: 'user', text: 'and more' },
    };
    const state = foldEvents([...events.slice(0, -1), said]);
    expect(nextStep(state, SETTINGS)).toEqual({ kind: 'turn', toolChoice: 'auto' });
  });
});
