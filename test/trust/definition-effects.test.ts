import { findPromptFiles } from '../../src/trust/list-files.ts';
import { opencode } from '../../src/agents/formats/vendors.ts';
import { expect, test } from 'vitest';
import { agentEffects, definitionEffects } from '../../src/trust/definition-effects.ts';

test('the effects of an opencode.json are listed: rules, who chooses it, a prompt of another file', async () => {
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
  expect(await definitionEffects({ path, format: opencode.agents }, bytes, agentEffects)).toEqual({
    lines: [
      'agent keeper: Keeps.',
      'tools: all of the core set',
      'asks before: Bash(git push *)',
      'denied: Bash(rm *)',
      'only you can choose it; models do not see it',
      'prompt: 1 line; read them in the file',
    ],
    problems: [],
  });
  const [prompt] = await findPromptFiles([
    {
      file: {
        kind: 'agent',
        path,
        boundary: '/p',
        maxBytes: 100,
        referencedFiles: (text) => opencode.agents.referencedFiles(path, text),
      },
      reading: { kind: 'read', bytes },
    },
  ]);
  expect(prompt?.path).toBe('/p/keeper.txt');
  expect(await prompt?.grants?.(Buffer.from('Keep.'))).toEqual({
    lines: ['the prompt of an agent that another file defines; read it in the file'],
    problems: [],
  });
});
