import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REDACTED } from '../../../src/protocol/redaction.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { call, calls, eventsOfType } from '../play.ts';
import { delegate, looks, SCOUT, scout, workspace } from './support.ts';

const FILES = { 'a.ts': 'a\n', 'b.ts': 'b\n' };
const TREE = {
  look: [calls(call('Read', { file_path: 'a.ts' })), calls(scout('deeper')), { text: 'It is so.' }],
  deeper: looks(call('Read', { file_path: 'b.ts' })),
};

describe('a task with children', () => {
  it('is reused while everything that all of them read is unchanged', async () => {
    const place = workspace(FILES);
    const first = await delegate(place, TREE);
    expect(first.requests).toHaveLength(5);
    const { requests, state } = await delegate(place, TREE);
    expect(requests).toEqual([]);
    const paths = ['a.ts', 'b.ts'].map((path) => join(place.root, path));
    expect([...state.filesRead.keys()]).toEqual(paths);
    expect(state.children.size).toBe(0);
  });

  it('is reused with the values of its schema and those of its children', async () => {
    const place = workspace(FILES);
    const schema = { type: 'object', required: ['size'] };
    const tree = {
      look: [
        calls(call('Task', { prompt: 'deeper', subagent_type: 'scout', output_schema: schema })),
        { text: 'It is so.' },
      ],
      deeper: [calls(call('Read', { file_path: 'b.ts' })), { text: '{"size":2}' }],
    };
    await delegate(place, tree);
    expect((await delegate(place, tree)).requests).toEqual([]);
    const alone = [calls(call('Read', { file_path: 'b.ts' })), { text: '{"size":2}' }];
    const agents = [{ ...SCOUT, outputSchema: schema }];
    await delegate(place, { look: alone }, { agents });
    const { requests, state } = await delegate(place, { look: alone }, { agents });
    expect([requests, state.structured]).toEqual([[], { value: { size: 2 } }]);
  });

  it('is run if a file that its child read has changed, and so is the child', async () => {
    const place = workspace(FILES);
    await delegate(place, TREE);
    place.write('b.ts', 'new\n');
    const { requests, test } = await delegate(place, TREE);
    expect(requests).toHaveLength(5);
    expect(eventsOfType(test, 'reuse.missed')[0]?.because).toMatch(
      /^task \w+ has a child \w+ that made a call of Read that gives something else now/,
    );
  });

  it('is run if a file that it read itself has changed, but its child is reused', async () => {
    const place = workspace(FILES);
    await delegate(place, TREE);
    place.write('a.ts', 'new\n');
    const second = await delegate(place, TREE);
    expect(second.requests).toHaveLength(3);
    // A child of the second run was reused. Its reads are in the log of the original child.
    const third = await delegate(place, TREE);
    expect(third.state.reused?.of).toBe(second.state.spec.id);
    place.write('b.ts', 'new\n');
    expect((await delegate(place, TREE)).state.reused).toBeNull();
  });

  it('is run if its child would be another one now', async () => {
    const place = workspace(FILES);
    const other = { ...SCOUT, name: 'reader', prompt: 'You read.' };
    const tree = {
      ...TREE,
      look: [calls(scout('deeper', { subagent_type: 'reader' })), { text: 'It is so.' }],
    };
    const setup = { agents: [SCOUT, other] };
    await delegate(place, tree, setup);
    expect((await delegate(place, tree, setup)).state.reused).not.toBeNull();
    const changed = { agents: [SCOUT, { ...other, prompt: 'You read well.' }] };
    const third = await delegate(place, tree, changed);
    expect(third.state.reused).toBeNull();
    fs.rmSync(join(place.root, 'b.ts'));
    expect((await delegate(place, tree, setup)).state.reused).toBeNull();
  });

  it('is run if only its own definition allows reuse and the child read other files', async () => {
    const place = workspace(FILES);
    const other = { ...SCOUT, name: 'reader' };
    const tree = {
      ...TREE,
      look: [calls(scout('deeper', { subagent_type: 'reader' })), { text: 'It is so.' }],
    };
    const setup = {
      agents: [{ ...SCOUT, cache: true }, other],
      settings: { reusesResults: false },
    };
    await delegate(place, tree, setup);
    expect((await delegate(place, tree, setup)).requests).toEqual([]);
    place.write('b.ts', 'new\n');
    expect((await delegate(place, tree, setup)).requests).toHaveLength(4);
  });

  it.each([
    { what: 'does not allow reuse of its results', reader: { cache: false } },
    { what: 'has a prompt that the logs do not keep in full', reader: { prompt: 'Say hidden-1.' } },
  ])('is run if its child $what', async ({ reader }) => {
    const redact = (text: string) => text.replaceAll('hidden-1', REDACTED);
    const place = workspace(FILES, openMemoryStore({ redact }));
    const tree = {
      ...TREE,
      look: [calls(scout('deeper', { subagent_type: 'reader' })), { text: 'It is so.' }],
    };
    const agents = [SCOUT, { ...SCOUT, name: 'reader', ...reader }];
    await delegate(place, tree, { agents, redact });
    expect((await delegate(place, tree, { agents, redact })).requests).toHaveLength(4);
  });
});
