import { expect, it } from 'vitest';
import { limitedToolsText } from '../../../src/engine/prompt/limited-tools.ts';
import type { LimitedTools } from '../../../src/protocol/agent.ts';

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

it.each<[string, readonly LimitedTools[], readonly string[], string]>([
  ['nothing where nothing is limited', [], ['Bash'], ''],
  ['nothing where the task has no limited tool', [EDITS], ['Read', 'Grep'], ''],
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
])('tells %s', (_, limitedTools, tools, expected) => {
  expect(limitedToolsText({ limitedTools }, tools)).toBe(expected);
});
