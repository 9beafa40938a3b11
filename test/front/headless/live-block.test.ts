import { describe, expect, it } from 'vitest';
import { liveTree } from '../../../src/front/headless/live-block.ts';
import type { EventBody } from '../../../src/protocol/events/event.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import { applyEvent } from '../../../src/protocol/state/fold.ts';
import { initialState, type TaskState } from '../../../src/protocol/state/task-state.ts';

function state(
  id: string,
  {
    parent = 'mainmain',
    description = 'part',
    begun = true,
  }: { readonly parent?: string; readonly description?: string; readonly begun?: boolean } = {},
): TaskState {
  const spec = taskSpec(id, { root: 'mainmain', parent, depth: 1, description });
  const stamp = (body: EventBody, seq: number) =>
    Object.assign({ v: 1, seq, ts: 0, task: id, epoch: 1 }, body);
  const made = initialState(stamp({ type: 'task.created', spec }, 0));
  if (begun) applyEvent(made, stamp({ type: 'task.started' }, 1));
  return made;
}

const LOOK = { columns: 80, maxLines: 8, now: 65_000 };

describe('the live lines of a headless run', () => {
  it('are indented like the tree of tasks', () => {
    const states = [
      state('child1xx', { description: 'the whole' }),
      state('child2xx', { description: 'half', parent: 'child1xx' }),
      state('child3xx', { description: 'later', begun: false }),
      state('child4xx', { description: 'a quarter', parent: 'child2xx' }),
    ];
    expect(liveTree(states, LOOK)).toMatchInlineSnapshot(`
      [
        "● Explore child1 1 min 5 s: running: the whole",
        "  ● Explore child2 1 min 5 s: running: half",
        "    ● Explore child4 1 min 5 s: running: a quarter",
        "○ Explore child3 1 min 5 s: queued: later",
      ]
    `);
  });

  it('count the tasks that do not fit', () => {
    const states = Array.from({ length: 12 }, (_, index) => state(`child${index}xx`));
    const lines = liveTree(states, { ...LOOK, maxLines: 4 });
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toBe('… 9 more at work');
  });

  it('never wrap and hold no control characters, whatever the task is called', () => {
    const description = '広い文字'.repeat(40) + 'a\nb\r\u2028c\u001b[2J';
    const [line = ''] = liveTree([state('child1xx', { description })], { ...LOOK, columns: 40 });
    const columns = Array.from(line).reduce((sum, each) => sum + (each >= '\u1100' ? 2 : 1), 0);
    expect(columns).toBeLessThanOrEqual(40);
    expect(line).not.toMatch(/[\n\r\u2028]/);
  });

  it('are empty if no task is at work', () => expect(liveTree([], LOOK)).toEqual([]));
});
