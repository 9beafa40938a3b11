import { expect, it } from 'vitest';
import { rowFromState, rowFromSummary } from '../../../src/front/web/task-rows.ts';
import { toolResultRounds } from '../../../src/testing/index.ts';
import { openPageWorld } from './support.ts';

it('a row from the index and one from the log of a task say the same', async () => {
  const world = await openPageWorld({
    script: (request) => {
      if (toolResultRounds(request) > 0)
        return { text: 'done', usage: { input: 12_345, output: 7 } };
      const input = { prompt: 'part', description: ' a  part \n of it ' };
      return {
        toolCalls: [
          { name: 'Task', input },
          { name: 'Bash', input: { command: 'touch made' } },
        ],
      };
    },
  });
  const session = await world.openSession({ questions: 'park' });
  const prompts = ['# A title of it. And more', 'x'.repeat(300)];
  for (const prompt of prompts) await session.start({ prompt }).result;
  await session.close();
  const tasks = world.openTasks();
  const summaries = tasks.list({ withLedgers: true });
  expect(summaries.map(({ status }) => status)).toContain('parked');
  const workspaces = new Map();
  for (const summary of summaries) {
    const row = rowFromState(tasks.state(summary.id), workspaces);
    expect(row).toEqual({ ...rowFromSummary(summary, workspaces), calls: row.calls });
  }
  expect(summaries.map((each) => rowFromSummary(each, workspaces).title)).toContain(
    'A title of it',
  );
});
