import { opencodeFormat } from '../../src/agents/formats/vendors.ts';
import { expect, test } from 'vitest';
import { promptTextFormat } from '../../src/agents/loader/referenced-files.ts';
import { agentGrants } from '../../src/api/trust/grants.ts';

test('what an opencode.json would do: rules, who chooses it, a prompt of another file', async () => {
  const config = {
    agent: {
      keeper: {
        description: 'Keeps.',
        mode: 'primary',
        prompt: '{file:./keeper.txt}',
        permission: { bash: { 'git push *': 'ask', 'rm *': 'deny' } },
      },
    },
  };
  const path = '/p/opencode.json';
  const bytes = Buffer.from(JSON.stringify(config));
  expect(await agentGrants({ path, format: opencodeFormat }, bytes)).toEqual({
    lines: [
      'agent keeper: Keeps.',
      'tools: all of the core set',
      'it asks about: Bash(git push *)',
      'denied to it: Bash(rm *)',
      'only you choose it: no model is told of it',
      'prompt: 1 line; read them in the file',
    ],
    problems: [],
  });
  const prompt = await agentGrants(
    { path: '/p/keeper.txt', format: promptTextFormat },
    Buffer.from('Keep.'),
  );
  expect(prompt).toEqual({
    lines: ['the prompt of an agent that another file defines; read it in the file'],
    problems: [],
  });
});
