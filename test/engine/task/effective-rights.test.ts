import { describe, expect, it } from 'vitest';
import type { TaskRun } from '../../../src/engine/task/task-run.ts';
import type { Rights } from '../../../src/protocol/permission.ts';
import { background, call, calls, eventsOfType, play, until } from '../play.ts';
import { testEngine } from '../support.ts';

/** Changes the rights of a running task, as a person can. */
function changeRights(run: TaskRun, change: Partial<Rights>): void {
  const { rights, limits, model } = run.state.spec;
  run.journal.record({ type: 'terms.changed', rights: { ...rights, ...change }, limits, model });
}

describe('the rights of the main agent are reduced while tasks below it work', () => {
  it.each([
    ['a narrower mode', { mode: 'plan' }],
    ['a denied tool', { disallowedTools: ['Bash'] }],
  ] as const)('by %s: the next call of a grandchild is refused', async (_name, change) => {
    let isCut = false;
    const waitForCut = async () => {
      await until(() => isCut);
      return calls(call('Bash', {}));
    };
    const test = testEngine(
      play({
        main: [calls(background('middle')), { text: 'waiting' }],
        middle: [calls(call('Task', { prompt: 'part' }))],
        part: [calls(call('Bash', {})), waitForCut, { text: 'ended' }],
      }),
    );
    const run = test.start('main');
    await until(() => eventsOfType(test, 'call.ended').some(({ tool }) => tool === 'Bash'));
    changeRights(run, change);
    isCut = true;
    await run.end.written;
    const part = eventsOfType(test, 'child.created')[1]?.child;
    expect(eventsOfType(test, 'call.refused', part)).toMatchObject([
      { tool: 'Bash', error: 'PERMISSION_DENIED' },
    ]);
    expect(eventsOfType(test, 'call.ended', part)).toHaveLength(1);
  });
});
