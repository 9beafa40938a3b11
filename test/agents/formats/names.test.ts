import { expect, test } from 'vitest';
import { parseSessionAgents } from '../../../src/agents/formats/claude/reader.ts';
import { AGENT_VENDORS } from '../../../src/agents/formats/vendors.ts';
import type { DefinitionFormat } from '../../../src/agents/loader/format.ts';

const UNSEEN = [
  '',
  '  ',
  '\t',
  '\u0007',
  '\u001B[31m',
  '\u00A0',
  '\u200B',
  '\u202E',
  '\u2800',
  '\u3164',
  '\uFEFF',
];

/** A file of each format whose name is that, and what it is called after its file. */
function written(format: DefinitionFormat, name: string): readonly (readonly [string, string])[] {
  const said = JSON.stringify(name);
  const markdown = `---\nname: ${said}\ndescription: d\n---\nDo.\n`;
  switch (format.vendor) {
    case 'codex':
      return [
        ['/a/x.toml', `name = ${said}\ndeveloper_instructions = "Do."\n`],
        ['/a/x.toml', `[agents.${said}]\ndescription = "d"\n`],
      ];
    case 'goose':
      return [['/a/x.yaml', `title: ${said}\nprompt: Do.\n`]];
    case 'kiro':
      return [
        ['/a/x.json', JSON.stringify({ name, prompt: 'Do.' })],
        ['/a/x.md', markdown],
      ];
    case 'opencode':
      return [
        ['/a/x.json', JSON.stringify({ agent: { [name]: { prompt: 'Do.' } } })],
        ['/a/x.md', markdown],
      ];
    case 'subagent':
      return [['/a/x/SUBAGENT.md', markdown]];
    case 'gemini':
      return [['/a/x.md', markdown]];
    default:
      return [['/a/x.md', markdown]];
  }
}

test.each(AGENT_VENDORS.map(({ agents: format }) => [format.vendor, format] as const))(
  'an invisible name: %s uses the name of the file and reports it',
  async (_, format) => {
    for (const name of UNSEEN) {
      for (const [path, text] of written(format, name)) {
        const { items } = await format.read({ path, scope: 'user', text });
        const told = items.map((agent) => [agent.name, agent.problems.map(({ code }) => code)]);
        expect(told).toEqual([['x', expect.arrayContaining(['name-from-filename'])]]);
      }
    }
  },
);

test.each([
  ['/a/.md', 'agent'],
  ['/a/\u200B.md', 'agent'],
  ['/a/\u001B[31mred\u0007.md', 'red'],
  ['/a/two  words.md', 'two words'],
])('the file %j without a name is called %j', async (path, expected) => {
  const text = '---\ndescription: d\n---\nDo.\n';
  for (const { agents: format } of AGENT_VENDORS.filter(({ agents }) => agents.accepts(path))) {
    const { items } = await format.read({ path, scope: 'user', text });
    expect([format.vendor, ...items.map(({ name }) => name)]).toEqual([format.vendor, expected]);
  }
});

test('an agent in --agents without a name is reported, and not loaded', () => {
  for (const name of UNSEEN) {
    const { items, problems } = parseSessionAgents(JSON.stringify({ [name]: { prompt: 'Do.' } }));
    expect([items, problems.map(({ code }) => code)]).toEqual([[], ['invalid-session-agent']]);
  }
});
