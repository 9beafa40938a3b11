import { claude, gemini, muster } from '../../src/agents/formats/vendors.ts';
import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { agentFileName, writeAgent } from '../../src/agents/write-agent.ts';
import type { AgentDefinition } from '../../src/protocol/agent.ts';
import { TOOL_NAMES } from '../../src/protocol/tool-names.ts';
import { agentFile, readOne } from './support.ts';

/** All that a file of Muster's own can say. */
function said(agent: AgentDefinition): object {
  return { ...agent, origin: null, problems: null, extra: null };
}

async function rewritten(agent: AgentDefinition): Promise<AgentDefinition> {
  return readOne(muster.agents, (await writeAgent(agent)).text);
}

const words = fc.oneof(
  fc.constantFrom(
    'true',
    'null',
    '~',
    '12',
    '0x1f',
    '1e3',
    '- a',
    'a: b',
    'a #b',
    '---',
    '[a]',
    '{',
  ),
  fc.constantFrom(
    '"a"',
    "it's",
    '> a',
    '| a',
    '&a',
    '*a',
    '!a',
    '%a',
    '@a',
    '`a`',
    'no',
    'a,b',
    '...',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }),
);
const texts = fc
  .array(fc.oneof(words, fc.constantFrom('\n', '\n\n', '\n---\n', '  \n\t', '\n  x: y')), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(''));
const toolNames = fc.uniqueArray(
  fc.constantFrom(...TOOL_NAMES, 'mcp__github__search', 'mcp__a-b', 'mcp__c__*', 'mcp__*'),
  { minLength: 1, maxLength: 5 },
);
const fields = fc.record(
  {
    name: words,
    description: texts,
    aliases: fc.array(words, { maxLength: 3 }),
    tools: fc.oneof(
      toolNames,
      toolNames.map((names) => [...names, 'Task(a, b c)']),
      toolNames.map((deny) => ({ mode: 'denylist', deny })),
      fc.constantFrom('*', []),
    ),
    disallowedTools: toolNames,
    'delegates-to': fc.array(words, { maxLength: 3 }),
    model: words,
    effort: fc.constantFrom('none', 'low', 'max'),
    permissionMode: fc.constantFrom('plan', 'default', 'manual', 'auto', 'dontAsk', 'acceptEdits'),
    'refuses-questions': fc.boolean(),
    maxTurns: fc.integer({ min: 1 }),
    'max-tokens': fc.integer({ min: 1 }),
    'wall-seconds': fc.integer({ min: 1 }),
    'result-max-tokens': fc.integer({ min: 1 }),
    'ask-rules': fc.array(words, { maxLength: 2 }),
    'deny-rules': fc.array(words, { maxLength: 2 }),
    unlisted: fc.boolean(),
    background: fc.boolean(),
    skills: fc.array(words, { maxLength: 3 }),
    memory: fc.constantFrom('user', 'project', 'local', 'Local '),
    'initial-prompt': texts,
    color: fc.constantFrom('red', '#00ff00'),
    parameters: fc.array(
      fc.record(
        { name: words, description: texts, default: texts },
        { requiredKeys: ['name', 'description'] },
      ),
      { maxLength: 2 },
    ),
    license: words,
  },
  { requiredKeys: [] },
);

describe('a definition that is written to a file', () => {
  it.each([
    ['muster', muster.agents],
    ['claude', claude.agents],
  ])('is read again as it was, whatever %s fields and prompt it came from', async (_, format) => {
    await fc.assert(
      fc.asyncProperty(fields, texts, async (front, prompt) => {
        const file = `---\n${JSON.stringify(front)}\n---\n${prompt.replaceAll('\0', '')}\n`;
        const agent = await readOne(format, file);
        fc.pre(agent.unusable === undefined);
        const back = await rewritten(agent);
        expect({ ...said(back), permissionMode: null }).toEqual({
          ...said(agent),
          permissionMode: null,
        });
        // Once it is in Muster's words, they stay.
        expect(said(await rewritten(back))).toEqual(said(back));
        if (format === muster.agents) expect(back.permissionMode).toBe(agent.permissionMode);
      }),
      { numRuns: 150 },
    );
  });

  it('has the form that a person would write', async () => {
    const agent = await readOne(
      claude.agents,
      agentFile(
        'name: Rust Expert',
        'description: |',
        '  Writes Rust: traits, lifetimes.',
        '  Use for *.rs.',
        'tools: Read, Task(Explore, Plan)',
        'disallowedTools: [Bash]',
        'permissionMode: dontAsk',
        'maxTurns: 4',
        'license: MIT',
        'hooks: {Stop: [{hooks: [{type: command, command: ./check}]}]}',
        'custom: {a: 1}',
      ),
    );
    const { text, leftOut } = await writeAgent(agent);
    expect(leftOut).toEqual(['custom']);
    expect(text).toBe(
      [
        '---',
        'name: Rust Expert',
        'description: |-',
        '  Writes Rust: traits, lifetimes.',
        '  Use for *.rs.',
        'tools: Read, Task',
        'disallowed-tools: Bash',
        'delegates-to: [Explore, Plan]',
        'permission-mode: manual',
        'refuses-questions: true',
        'max-turns: 4',
        'hooks: {Stop: [{hooks: [{type: command, command: ./check}]}]}',
        'license: MIT',
        '---',
        '',
        'Test.',
        '',
      ].join('\n'),
    );
  });
});

test.each([
  'kind: remote\nagent_card_url: https://far.example/card\nauth: {type: http, scheme: Bearer, token: $TOKEN}',
  'agent_card_json: \'{"url": "https://far.example", "name": "Far"}\'\nauth: {type: apiKey, key: $KEY, name: X-Far}',
  'agent_card_url: https://far.example/card\nauth: {type: http, scheme: Basic, username: me, password: "!pass far"}',
])("a remote agent of Gemini CLI is written in Muster's own form: %s", async (lines) => {
  const agent = await readOne(gemini.agents, agentFile('name: far', 'description: Far.', lines));
  expect(agent.remote?.protocol).toBe('a2a');
  const back = await rewritten(agent);
  expect(said(back)).toEqual(said(agent));
  expect(back.problems).toEqual([]);
});

describe('the name of the file of an agent', () => {
  it.each([
    ['Explore', 'explore.md'],
    ['Rust Expert (new)', 'rust-expert-new.md'],
    ['plugin:sub:name', 'plugin-sub-name.md'],
    ['../../etc/passwd', 'etc-passwd.md'],
    ['..', 'agent.md'],
    ['v1.2.', 'v1.2.md'],
    ['Prüfer', 'prüfer.md'],
    ['审查', '审查.md'],
    ['🚀', 'agent.md'],
  ])('%s is written to %s', (name, file) => {
    expect(agentFileName(name)).toBe(file);
  });

  it('is valid in every file system, whatever the name of the agent', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const file = agentFileName(name);
        expect(file).toMatch(/^[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.md$/u);
        expect(Buffer.byteLength(file)).toBeLessThan(256);
      }),
    );
  });
});
