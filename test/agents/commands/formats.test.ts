import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { expandCommand } from '../../../src/agents/commands/expand.ts';
import { SLASH_COMMANDS } from '../../../src/agents/commands/kind.ts';
import { discoverDefinitions } from '../../../src/agents/loader/discover.ts';
import type { SlashCommandDefinition } from '../../../src/protocol/slash-command.ts';
import { TRUST_ALL, TRUST_NOTHING } from '../../../src/sys/files/project-file.ts';
import { workTree } from '../support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree({ 'repo/.git/HEAD': '', 'home/x': '' });
});
afterEach(() => tree.remove());

function discover(trust = TRUST_ALL) {
  return discoverDefinitions(SLASH_COMMANDS, {
    cwd: tree.path('repo'),
    environment: { HOME: tree.path('home') },
    trust,
  });
}

/** The fields of a command that its file decides. The absent ones are left out. */
function describeCommand({
  name,
  description,
  argumentHint,
  shellRules,
  turnRules,
  model,
  context,
  agent,
  withoutEffect,
  problems,
}: SlashCommandDefinition) {
  const all = { name, description, argumentHint, shellRules, turnRules, model, context, agent };
  const lines = problems.map(({ message, line }) => `${line ?? '-'}: ${message}`);
  return Object.fromEntries(
    Object.entries({ ...all, withoutEffect, problems: lines }).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  );
}

/**
 * An example in the shape of each vendor's documentation: the page, the file, its text, what is typed, what is read, and
 * the parts of the message.
 */
const EXAMPLES = [
  {
    source: 'https://code.claude.com/docs/en/slash-commands',
    path: 'repo/.claude/commands/git/commit.md',
    text: `---
allowed-tools: Bash(git add:*), Bash(git status:*), Read
argument-hint: [message]
description: Create a git commit
model: haiku
---
## Context
- Status: !\`git status\`

Commit with the message: $ARGUMENTS
`,
    args: 'fix it',
    read: {
      name: 'git:commit',
      description: 'Create a git commit',
      argumentHint: '[message]',
      shellRules: ['Bash(git add:*)', 'Bash(git status:*)'],
      withoutEffect: [
        'allowed-tools: Read — only a command of your own allows calls; your rules and the mode decide about them.',
      ],
      model: 'haiku',
    },
    parts: ['## Context\n- Status: ', 'shell: git status', '\n\nCommit with the message: fix it'],
  },
  {
    source: 'https://code.claude.com/docs/en/skills (fields that commands share with skills)',
    path: 'home/.claude/commands/deep.md',
    text: `---
description: Research a topic
context: fork
agent: Explore
disable-model-invocation: true
---
Research $0 in depth.
`,
    args: '"the cache"',
    read: { name: 'deep', description: 'Research a topic', context: 'fork', agent: 'Explore' },
    parts: ['Research the cache in depth.'],
  },
  {
    source: 'https://opencode.ai/docs/commands',
    path: 'repo/.opencode/command/component.md',
    text: `---
description: Create a component
agent: build
model: anthropic/claude-sonnet-4
subtask: true
---
Create a component named $1 in $2, like @src/Button.tsx.
`,
    args: 'Card "src/ui"',
    read: {
      name: 'component',
      description: 'Create a component',
      context: 'fork',
      withoutEffect: [
        'agent: build — the agent for everything in opencode has no equivalent with this name.',
        'model: anthropic/claude-sonnet-4 — the task has the model of its agent.',
      ],
    },
    parts: ['Create a component named Card in src/ui, like @src/Button.tsx.'],
  },
  {
    source: 'https://opencode.ai/docs/commands (nested files)',
    path: 'home/.config/opencode/commands/team/review.md',
    text: 'Recent:\n!`git log --oneline -10`\nReview $ARGUMENTS.\n',
    args: 'src',
    read: { name: 'team:review', description: 'Recent:' },
    parts: ['Recent:\n', 'shell: git log --oneline -10', '\nReview src.'],
  },
  {
    source: 'https://geminicli.com/docs/cli/custom-commands',
    path: 'repo/.gemini/commands/git/commit.toml',
    text: `description = "Writes a commit message."
prompt = """
Write a message for:
!{git diff --staged}
Style: @{docs/style.md}. Topic: {{args}}
"""
`,
    args: 'the cache',
    read: { name: 'git:commit', description: 'Writes a commit message.' },
    parts: [
      'Write a message for:\n',
      'shell: git diff --staged',
      '\nStyle: ',
      'file: docs/style.md',
      '. Topic: the cache',
    ],
  },
  {
    source: 'https://developers.openai.com/codex/custom-prompts',
    path: 'home/.codex/prompts/draftpr.md',
    text: `---
description: Prepare a branch and a draft
argument-hint: [FILES=<paths>] [PR_TITLE="<title>"]
---
Stage $FILES and open a draft named $PR_TITLE.
`,
    args: 'FILES="a.ts b.ts" PR_TITLE="New page"',
    read: {
      name: 'draftpr',
      description: 'Prepare a branch and a draft',
      argumentHint: '[FILES=<paths>] [PR_TITLE="<title>"]',
    },
    parts: ['Stage a.ts b.ts and open a draft named New page.'],
  },
  {
    source: 'docs/commands.md (Muster itself)',
    path: 'home/.config/muster/commands/tests.md',
    text: '---\ndescription: Run the tests\n---\nRun the tests of $1.\n',
    args: 'api',
    read: { name: 'tests', description: 'Run the tests' },
    parts: ['Run the tests of api.'],
  },
] as const;

describe.each(EXAMPLES)('$path, in the shape of $source', ({ path, text, args, read, parts }) => {
  it('is read and expanded', async () => {
    tree.write(path, text);
    const { items, problems, skipped } = await discover();
    expect([problems, skipped]).toEqual([[], []]);
    expect(items.map(describeCommand)).toEqual([read]);
    const expansion = items[0] === undefined ? null : expandCommand(items[0], args);
    expect(expansion).toEqual({
      ok: true,
      parts: parts.map((part) => {
        const [, kind = 'text', rest = part] = /^(shell|file): (.*)$/s.exec(part) ?? [];
        return { kind, text: rest };
      }),
    });
  });
});

it('finds the commands of plugins under the names of the plugins', async () => {
  const root = tree.path('home/plugins/tools');
  tree.write(
    'home/plugins/tools/commands/db/migrate.md',
    '---\nallowed-tools: Bash(touch:*), Read\n---\nMigrate with ${CLAUDE_PLUGIN_ROOT}/go.\n',
  );
  tree.write(
    'home/.claude/plugins/installed_plugins.json',
    JSON.stringify({ plugins: { 'tools@market': [{ installPath: root }] } }),
  );
  tree.write(
    'home/.claude/settings.json',
    JSON.stringify({ enabledPlugins: { 'tools@market': true } }),
  );
  const { items } = await discover();
  expect(items.map(({ name, source, scope }) => [name, source, scope])).toEqual([
    ['tools:db:migrate', 'tools', 'plugin'],
  ]);
  const [first] = items;
  expect(first === undefined ? null : expandCommand(first, '')).toEqual({
    ok: true,
    parts: [{ kind: 'text', text: `Migrate with ${root}/go.` }],
  });
  expect(first).toMatchObject({
    shellRules: [],
    withoutEffect: [
      'allowed-tools: Bash(touch:*) — a command of a plugin allows nothing; your rules and the mode decide about its shell parts.',
      expect.stringContaining('allowed-tools: Read — '),
    ],
  });
});

test('the project comes before the user, and the nearest directory first', async () => {
  for (const path of ['repo/.claude/commands', 'repo/.muster/commands', 'home/.claude/commands'])
    tree.write(`${path}/review.md`, `From ${path}.\n`);
  const { items, shadowed } = await discover();
  expect([...items, ...shadowed.map(({ item }) => item)].map(({ body }) => body)).toEqual([
    'From repo/.muster/commands.',
    'From repo/.claude/commands.',
    'From home/.claude/commands.',
  ]);
});

test('no file of a project is read before it is trusted', async () => {
  tree.write('repo/.claude/commands/review.md', 'Review.\n');
  tree.write('home/.claude/commands/mine.md', 'Mine.\n');
  const { items, skipped } = await discover(TRUST_NOTHING);
  expect(items.map(({ name }) => name)).toEqual(['mine']);
  expect(skipped.map(({ path, code }) => [path, code])).toEqual([
    [tree.path('repo/.claude/commands/review.md'), 'untrusted'],
  ]);
});

it.each([
  ['.claude/commands/a.md', '---\ndescription: x\n', 'front-matter-unclosed', 1],
  ['.claude/commands/a.md', '---\ndescription: x\n---\n', 'no-instructions', undefined],
  ['.claude/commands/a b.md', 'Do it.', 'invalid-name', undefined],
  ['.gemini/commands/a.toml', 'prompt = ', 'invalid-toml', 1],
  ['.gemini/commands/a.toml', 'description = "x"', 'no-instructions', undefined],
])('%s with %j is reported as %s', async (path, text, code, line) => {
  tree.write(`home/${path}`, text);
  const { items, problems } = await discover();
  expect(items).toEqual([]);
  expect(problems.map((problem) => [problem.code, problem.line])).toEqual([[code, line]]);
});

it.each([
  ['user', 'home/.claude/commands/a.md', ['Read', 'mcp__x__y', 'Edit(src/**)'], []],
  [
    'project',
    'repo/.claude/commands/a.md',
    [],
    [
      'allowed-tools: Read, mcp__x__y, Edit(src/**) — only a command of your own allows calls; your rules and the mode decide about them.',
    ],
  ],
])('allowed-tools of a command of the %s', async (_, path, turnRules, withoutEffect) => {
  const tools = 'Bash(git log:*), Read, Edit(src/**), mcp__x__y, Nope';
  tree.write(path, `---\nallowed-tools: ${tools}\n---\nDo it.\n`);
  const { items } = await discover();
  expect(items.map(describeCommand)).toEqual([
    {
      name: 'a',
      description: 'Do it.',
      shellRules: ['Bash(git log:*)'],
      ...(turnRules.length === 0 ? {} : { turnRules }),
      ...(withoutEffect.length === 0 ? {} : { withoutEffect }),
      problems: ['2: Unknown tool `Nope`; it is left out.'],
    },
  ]);
});

it.each([
  ['opencode', 'agent: Explore', { context: 'fork', agent: 'Explore' }],
  ['opencode', 'agent: Explore\nsubtask: true', { context: 'fork', agent: 'Explore' }],
  [
    'opencode',
    'agent: Explore\nsubtask: false',
    {
      withoutEffect: [
        'agent: Explore — the agent of the conversation follows the text; with subtask: true or context: fork, a task of this agent does.',
      ],
    },
  ],
  [
    'opencode',
    'agent: build',
    {
      withoutEffect: [
        'agent: build — the agent for everything in opencode has no equivalent with this name.',
      ],
    },
  ],
  ['opencode', 'model: x/y', { model: 'x/y' }],
  ['claude', 'context: fork\nagent: build', { context: 'fork', agent: 'build' }],
  ['claude', 'model: inherit', {}],
])('in the format of %s, %j means %j', async (product, fields, expected) => {
  tree.write(`home/.${product}/commands/a.md`, `---\n${fields}\n---\nDo it.\n`);
  const { items } = await discover();
  expect(items.map(describeCommand)).toEqual([{ name: 'a', description: 'Do it.', ...expected }]);
});

it('reports unknown fields with their line, and says which fields have no effect', async () => {
  const fields = ['description: x', 'color: red', 'agent: Explore', 'effort: high', 'skills: a'];
  tree.write('home/.claude/commands/a.md', `---\n${fields.join('\n')}\n---\nDo it.\n`);
  const { items } = await discover();
  expect(items.map(describeCommand)).toEqual([
    {
      name: 'a',
      description: 'x',
      withoutEffect: [
        'agent: Explore — the agent of the conversation follows the text; with subtask: true or context: fork, a task of this agent does.',
        'effort: high — the command runs with the effort of the conversation.',
        'skills: Muster does not use this field of a command.',
      ],
      problems: ['3: Unknown fields: color.'],
    },
  ]);
});
