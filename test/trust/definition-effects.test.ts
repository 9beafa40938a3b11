import { findPromptFiles } from '../../src/trust/list-files.ts';
import { muster, opencode } from '../../src/agents/formats/vendors.ts';
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

test.each([
  ['a2a: https://far.example/card', ['sends its tasks to https://far.example/card']],
  [
    'a2a: {card: {url: https://far.example}, auth: {type: apiKey, key: $FAR_KEY}}',
    [
      'sends its tasks to the server of this card: {"url":"https://far.example"}',
      'logs in with $FAR_KEY',
    ],
  ],
  [
    'a2a: {card: https://far.example/card, auth: {type: http, scheme: Basic, username: me, password: hush}}',
    [
      'sends its tasks to https://far.example/card',
      'logs in with a text in the file and a text in the file',
    ],
  ],
  [
    'a2a: {card: https://far.example/card, auth: {type: http, scheme: Bearer, token: "!cat /secret"}}',
    [
      'sends its tasks to https://far.example/card',
      '! does not run cat /secret: the agent of a project runs no command',
      'logs in with a command',
    ],
  ],
])('the effects of the server of an agent: %s', async (line, effects) => {
  const bytes = Buffer.from(`---\nname: far\ndescription: Far.\n${line}\n---\nBe brief.\n`);
  const { lines } = await definitionEffects(
    { path: '/p/far.md', format: muster.agents },
    bytes,
    agentEffects,
  );
  expect(lines).toEqual([
    'agent far: Far.',
    'tools: all of the core set',
    ...effects,
    'prompt: 1 line; read them in the file',
  ]);
});
