import { describe, expect, test } from 'vitest';
import { ownPrompt } from '../../../src/engine/prompt/own-prompt.ts';
import type { AgentParameter } from '../../../src/protocol/agent.ts';
import { agent } from '../../policy/support.ts';

describe('an agent’s own part of the system prompt', () => {
  test.each<[string, string, readonly AgentParameter[] | undefined, string]>([
    ['alone', ' Write.\n', undefined, 'Write.'],
    ['with no parameters', 'Write.', [], 'Write.'],
    ['none at all', ' ', [{ name: 'a', description: '' }], ''],
  ])('%s', (_, prompt, parameters, expected) => {
    const given = parameters === undefined ? {} : { parameters };
    expect(ownPrompt({ ...agent({}), prompt, ...given })).toBe(expected);
  });

  test('with what its prompt leaves open', () => {
    const parameters = [
      { name: 'release', description: 'Which\none' },
      { name: 'language', description: '', default: 'en' },
      { name: 'note', description: 'A note', default: '' },
    ];
    const prompt = 'Write about {{ release }}.';
    expect(ownPrompt({ ...agent({}), prompt, parameters })).toMatchInlineSnapshot(`
      "Write about {{ release }}.

      ## Parameters
      Where \`{{ name }}\` stands above, read what the task says it is, or else:
      - release (Which one): not given; work it out from the task, and say what you took it for
      - language: en
      - note (A note): nothing"
    `);
  });
});
