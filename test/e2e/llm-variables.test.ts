import { expect, it } from 'vitest';
import { runMuster, Sandbox } from './muster.ts';
import { openWorld } from './world.ts';

const TOLD = 'LLM_API_KEY has no effect: LLM_MODEL_ID is not set. Set it to the id of the model.';
const env = { LLM_API_KEY: 'sk-not-for-anybody' };

it.each([
  ['models', ['models'], 'stdout'],
  ['doctor', ['doctor'], 'stdout'],
  ['a start without another model', ['-p', 'Which file has content?'], 'stderr'],
  ['a start with another model', ['-p', 'hi', '--model', 'offline'], 'stderr'],
  ['the error about a model that nobody has', ['-p', 'hi', '--model', 'foo'], 'stderr'],
] as const)(
  'LLM_API_KEY without LLM_MODEL_ID is named by %s, and never its value',
  async (_, args, where) => {
    using sandbox = new Sandbox({ 'a.txt': 'content' });
    const run = await runMuster(sandbox, [...args], { env });
    expect(run[where].split(TOLD)).toHaveLength(2);
    expect(`${run.stdout}${run.stderr}`).not.toContain(env.LLM_API_KEY);
  },
);

it('is reported once at a start when another provider is used', async () => {
  await using world = await openWorld({ script: () => ({ text: 'done' }) });
  const run = await world.run(['-p', 'hi'], { env });
  expect([run.code, run.stderr]).toEqual([0, `muster: ${TOLD}\n`]);
});
