import { expect, it } from 'vitest';
import { runMuster, Sandbox } from './muster.ts';

const TOLD = 'LLM_API_KEY has no effect: LLM_MODEL_ID is not set. Set it to the id of the model.';
const env = { LLM_API_KEY: 'sk-not-for-anybody' };

it.each([
  ['models', ['models'], 'stdout'],
  ['doctor', ['doctor'], 'stdout'],
  ['a start without another model', ['-p', 'Which file has content?'], 'stderr'],
] as const)(
  'LLM_API_KEY without LLM_MODEL_ID is named by %s, and never its value',
  async (_, args, where) => {
    using sandbox = new Sandbox({ 'a.txt': 'content' });
    const run = await runMuster(sandbox, [...args], { env });
    expect(run[where]).toContain(TOLD);
    expect(`${run.stdout}${run.stderr}`).not.toContain(env.LLM_API_KEY);
  },
);
