import { describe, expect, test } from 'vitest';
import { formatAgentPrompt, formatLimitedTools } from '../../../src/engine/prompt/prompt.ts';
import type { AgentParameter, LimitedTools } from '../../../src/protocol/agent.ts';
import { agent } from '../../policy/support.ts';

describe('the agent’s own part of the system prompt', () => {
  test.each<[string, string, readonly AgentParameter[] | undefined, string]>([
    ['alone', ' Write.\n', undefined, 'Write.'],
    ['with no parameters', 'Write.', [], 'Write.'],
    ['without a prompt or parameters', ' ', [{ name: 'a', description: '' }], ''],
  ])('%s', (_, prompt, parameters, expected) => {
    const given = parameters === undefined ? {} : { parameters };
    expect(formatAgentPrompt({ ...agent({}), prompt, ...given })).toBe(expected);
  });

  test('with the parameters that its prompt leaves open', () => {
    const parameters = [
      { name: 'release', description: 'Which\none' },
      { name: 'language', description: '', default: 'en' },
      { name: 'note', description: 'A note', default: '' },
    ];
    const prompt = 'Write about {{ release }}.';
    expect(formatAgentPrompt({ ...agent({}), prompt, parameters })).toMatchInlineSnapshot(`
      "Write about {{ release }}.

      ## Parameters
      Where \`{{ name }}\` stands above, read what the task says it is, or else:
      - release (Which one): not given; work it out from the task, and say what you took it for
      - language: en
      - note (A note): nothing"
    `);
  });
});

const HEAD =
  '# Limited tools\nOf each tool here only the calls that every line for it covers run; others are refused.\n';
const EDITS: LimitedTools = {
  limits: [
    { tool: 'Bash', rules: ['Bash(git log:*)', 'Bash(git diff:*)'] },
    { tool: 'Edit', rules: ['Edit(src/**)'] },
    { tool: 'Write', rules: ['Write(docs/**)'], newFiles: true },
    { tool: 'WebFetch', rules: ['WebFetch(domain:a.example)'] },
  ],
  unlimited: ['Read'],
};

test.each<[string, readonly LimitedTools[], readonly string[], string]>([
  ['nothing if no tool is limited', [], ['Bash'], ''],
  ['nothing if the task has no limited tool', [EDITS], ['Read', 'Grep'], ''],
  [
    'a line for each limited tool that the task has',
    [EDITS],
    ['Read', 'Bash', 'Edit'],
    `${HEAD}- Bash: \`Bash(git log:*)\`, \`Bash(git diff:*)\`\n- Edit: \`Edit(src/**)\``,
  ],
  [
    'all rules of a list that let a call of the tool run',
    [{ ...EDITS, limits: EDITS.limits.slice(1, 3) }],
    ['Write'],
    `${HEAD}- Write: \`Edit(src/**)\`, \`Write(docs/**)\`, Write for files that do not exist yet`,
  ],
  [
    'one line for tools that are limited to the same calls',
    [{ limits: [{ tool: 'Edit', rules: ['Edit(src/**)'] }], unlimited: ['Write'] }],
    ['Edit', 'MultiEdit', 'Write', 'DeleteFile'],
    `${HEAD}- Edit, MultiEdit: \`Edit(src/**)\`\n- DeleteFile: no call`,
  ],
  [
    'a line for each list that limits a tool',
    [EDITS, { limits: [{ tool: 'Bash', rules: [] }], unlimited: [] }],
    ['Bash'],
    `${HEAD}- Bash: \`Bash(git log:*)\`, \`Bash(git diff:*)\`\n- Bash: no call`,
  ],
  [
    'each rule on one line, without tags of the prompt',
    [{ limits: [{ tool: 'Bash', rules: ['Bash(a\nb)'] }], unlimited: [] }],
    ['Bash'],
    `${HEAD}- Bash: \`Bash(a b)\``,
  ],
])('the limited tools: %s', (_, limitedTools, tools, expected) => {
  expect(formatLimitedTools({ limitedTools }, tools)).toBe(expected);
});
