import { expect, it } from 'vitest';
import { mapToolsByName } from '../../src/replay/idle-deps.ts';
import { splitIntoEpochs } from '../../src/replay/epochs.ts';
import { rerunTaskLog } from '../../src/replay/rerun-tree.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { openMemoryStore } from '../../src/store/memory-store.ts';
import { play } from '../engine/play.ts';
import { SETTINGS, testEngine } from '../engine/support.ts';

/** With this number of owners, folding the log for each of them would take minutes. */
const OWNERS = 20_000;

it('a log with thousands of owners is rerun, and each of its owners is examined', async () => {
  const test = testEngine(play({ main: [{ text: 'done' }] }));
  await test.start('main').end.written;
  const [created, claimed, ...rest] = test.events;
  if (created?.type !== 'task.created' || claimed?.type !== 'task.claimed')
    throw new Error('the log does not begin as it should');
  const events: TaskEvent[] = [created];
  for (let owner = 1; owner <= OWNERS; owner += 1)
    events.push({ ...claimed, seq: events.length, epoch: owner });
  for (const event of rest) events.push({ ...event, seq: events.length, epoch: OWNERS });
  expect(splitIntoEpochs(events)).toHaveLength(OWNERS);
  const settings = SETTINGS;
  const store = openMemoryStore();
  const source = { store, settings, tools: mapToolsByName({ store, settings }, []) };
  const { difference, events: count } = await rerunTaskLog(source, events);
  expect({ difference, count }).toEqual({ difference: null, count: events.length });
});
