import { describe, expect, it } from 'vitest';
import type { MarketplaceEntry } from '../../src/plugins/marketplace.ts';
import { describePluginProblem } from '../../src/plugins/plugin-problem.ts';
import { read, type Texts } from './support.ts';

const MANIFEST = '.claude-plugin/plugin.json';

/** Files in the shape of the vendors' documentation, with the address of the page. */
const DOCUMENTED: readonly {
  readonly page: string;
  readonly files: Texts;
  readonly parts: object;
  readonly problems?: readonly string[];
}[] = [
  {
    page: 'https://code.claude.com/docs/en/plugins-reference (complete schema)',
    files: {
      [MANIFEST]: {
        $schema: 'https://json.schemastore.org/claude-code-plugin-manifest.json',
        name: 'deploy-tools',
        version: '2.1.0',
        description: 'Deploys services.',
        author: { name: 'Team', email: 'team@example.org', url: 'https://example.org' },
        homepage: 'https://example.org/docs',
        repository: 'https://example.org/repository',
        license: 'MIT',
        keywords: ['deploy', 'release'],
        commands: ['./custom/commands/one.md', './custom/more/'],
        agents: './custom/agents/',
        skills: './custom/skills/',
        hooks: './config/hooks.json',
        mcpServers: './mcp-config.json',
        outputStyles: './styles/',
        lspServers: './servers.lsp.json',
      },
      'custom/commands/one.md': 'One.',
      'custom/more/two.md': 'Two.',
      'custom/agents/helper.md': 'Help.',
      'custom/skills/pack/SKILL.md': 'Pack.',
      'skills/usual/SKILL.md': 'Usual.',
      'agents/ignored.md': 'The manifest names another directory.',
      'config/hooks.json': { description: 'Hooks.', hooks: { Stop: [] } },
      'mcp-config.json': { mcpServers: { db: { command: 'db' } } },
      'servers.lsp.json': { go: { command: 'gopls', extensionToLanguage: { '.go': 'go' } } },
      'styles/short.md': 'Short.',
    },
    parts: {
      agents: ['custom/agents'],
      skills: ['skills', 'custom/skills'],
      commands: ['custom/commands/one.md', 'custom/more'],
      hooks: [{ file: 'config/hooks.json', value: { Stop: [] } }],
      mcpServers: [{ file: 'mcp-config.json', value: { db: { command: 'db' } } }],
      lspServers: [
        {
          file: 'servers.lsp.json',
          value: { go: { command: 'gopls', extensionToLanguage: { '.go': 'go' } } },
        },
      ],
    },
    problems: [`${MANIFEST}: outputStyles: this field has no effect in Muster`],
  },
  {
    page: 'https://code.claude.com/docs/en/plugins-reference (inline configurations)',
    files: {
      [MANIFEST]: {
        name: 'inline',
        hooks: { hooks: { PostToolUse: [{ matcher: 'Write', hooks: [] }] } },
        mcpServers: { api: { type: 'http', url: 'https://example.org/mcp' } },
        commands: { deploy: { source: './deploy.md' }, inline: { content: 'Do.' } },
      },
      'deploy.md': 'Deploy.',
      '.mcp.json': { usual: { command: 'usual' } },
    },
    parts: {
      agents: [],
      skills: [],
      commands: ['deploy.md'],
      hooks: [{ file: MANIFEST, value: { PostToolUse: [{ matcher: 'Write', hooks: [] }] } }],
      mcpServers: [
        { file: '.mcp.json', value: { usual: { command: 'usual' } } },
        { file: MANIFEST, value: { api: { type: 'http', url: 'https://example.org/mcp' } } },
      ],
      lspServers: [],
    },
    problems: [`${MANIFEST}: commands.inline: it has no path in \`source\`; it has no effect`],
  },
  {
    page: 'https://code.claude.com/docs/en/plugins-reference (standard layout)',
    files: {
      [MANIFEST]: { name: 'standard' },
      'commands/status.md': 'Status.',
      'agents/reviewer.md': 'Review.',
      'skills/pdf/SKILL.md': 'PDF.',
      'hooks/hooks.json': { hooks: { SessionStart: [] } },
      '.mcp.json': { mcpServers: {} },
      '.lsp.json': {},
      'README.md': 'Read me.',
    },
    parts: {
      agents: ['agents'],
      skills: ['skills'],
      commands: ['commands'],
      hooks: [{ file: 'hooks/hooks.json', value: { SessionStart: [] } }],
      mcpServers: [{ file: '.mcp.json', value: {} }],
      lspServers: [{ file: '.lsp.json', value: {} }],
    },
  },
  {
    page: 'https://code.claude.com/docs/en/plugins-reference (a single skill at the root)',
    files: { [MANIFEST]: { name: 'single' }, 'SKILL.md': 'Do it.' },
    parts: {
      agents: [],
      skills: ['SKILL.md'],
      commands: [],
      hooks: [],
      mcpServers: [],
      lspServers: [],
    },
  },
  {
    page: 'https://geminicli.com/docs/extensions/reference',
    files: {
      'gemini-extension.json': {
        name: 'my-extension',
        version: '1.0.0',
        description: 'Adds tools.',
        mcpServers: { 'my-server': { command: 'node', args: ['${extensionPath}/my-server.js'] } },
        contextFileName: 'GEMINI.md',
        excludeTools: ['run_shell_command'],
        settings: [{ name: 'Key', description: 'The key.', envVar: 'API_KEY', sensitive: true }],
      },
      'commands/gcs/sync.toml': 'prompt = "Sync."',
      'hooks/hooks.json': { hooks: { BeforeTool: [] } },
      'skills/audit/SKILL.md': 'Audit.',
      'agents/helper.md': 'Help.',
    },
    parts: {
      agents: ['agents'],
      skills: ['skills'],
      commands: ['commands'],
      hooks: [{ file: 'hooks/hooks.json', value: { BeforeTool: [] } }],
      mcpServers: [
        {
          file: 'gemini-extension.json',
          value: { 'my-server': { command: 'node', args: ['${extensionPath}/my-server.js'] } },
        },
      ],
      lspServers: [],
    },
    problems: ['contextFileName', 'excludeTools', 'settings'].map(
      (field) => `gemini-extension.json: ${field}: this field has no effect in Muster`,
    ),
  },
];

describe('a plugin in the shape of the documentation', () => {
  it.each(DOCUMENTED)('$page', ({ files, parts, problems = [] }) => {
    const plugin = read(files);
    expect([plugin.parts, plugin.problems.map(describePluginProblem)]).toEqual([parts, problems]);
  });
});

it('has the name, version and description of its manifest', () => {
  const { manifest } = read({
    [MANIFEST]: { name: 'kit', version: '1.2.3', description: 'Does things.' },
  });
  const { declared: _, ...about } = manifest;
  expect(about).toEqual({
    format: 'claude',
    file: MANIFEST,
    name: 'kit',
    version: '1.2.3',
    description: 'Does things.',
  });
});

it.each([
  [
    'no manifest',
    {},
    'it has neither .claude-plugin/plugin.json nor gemini-extension.json, and no parts in their usual places.',
  ],
  [
    'only a marketplace',
    { '.claude-plugin/marketplace.json': {} },
    'it has neither .claude-plugin/plugin.json nor gemini-extension.json, and no parts in their usual places. It is a marketplace: muster plugin marketplace add',
  ],
  ['a manifest that is a list', { [MANIFEST]: [] }, `${MANIFEST}: it must contain a JSON object`],
  [
    'a name with a path',
    { [MANIFEST]: { name: '../x' } },
    `${MANIFEST}: name: it must be a name: letters, digits, \`.\`, \`_\` and \`-\`, at most 100, with a letter or digit first`,
  ],
  [
    'a name that ends with a dot',
    { 'gemini-extension.json': { name: 'x.' } },
    'gemini-extension.json: name: it must be a name: letters, digits, `.`, `_` and `-`, at most 100, with a letter or digit first',
  ],
])('with %s cannot be used', (_, files, reason) => {
  expect(() => read(files)).toThrow(`kit cannot be used as a plugin: ${reason}`);
});

it.each([
  ['an unknown field', { colour: 'red' }, 'colour: this field is not known and has no effect'],
  [
    'a path outside',
    { agents: '../other' },
    'agents: "../other" leads out of the plugin; it has no effect',
  ],
  [
    'an absolute path',
    { skills: ['/etc'] },
    'skills[0]: "/etc" leads out of the plugin; it has no effect',
  ],
  [
    'an address',
    { hooks: 'https://x' },
    'hooks: "https://x" leads out of the plugin; it has no effect',
  ],
  ['a missing path', { agents: './none' }, 'agents: there is no "none" in the plugin'],
  ['a number', { commands: [1] }, 'commands[0]: it must be a path; it has no effect'],
  ['a flag', { mcpServers: true }, 'mcpServers: it must be a path or an object; it has no effect'],
  [
    'a long version',
    { version: 'x'.repeat(101) },
    'version: only its first 100 characters are shown',
  ],
])('warns about %s', (_, fields, warning) => {
  const { problems } = read({ [MANIFEST]: { name: 'kit', ...fields } });
  expect(problems.map(describePluginProblem)).toEqual([`${MANIFEST}: ${warning}`]);
});

it.each([
  ['a missing file', {}, 'servers.json: there is no such file; it has no effect'],
  ['no JSON', { 'servers.json': '{' }, 'servers.json: it is not valid JSON: '],
  [
    'a list',
    { 'servers.json': [] },
    'servers.json: it must contain a JSON object; it has no effect',
  ],
  [
    'a file that is too large',
    { 'servers.json': { x: 'x'.repeat(1024 * 1024) } },
    'servers.json: it is larger than 1 MB; it has no effect',
  ],
])('warns about servers in %s', (_, files, warning) => {
  const { problems, parts } = read({
    [MANIFEST]: { name: 'kit', mcpServers: './servers.json' },
    ...files,
  });
  expect(parts.mcpServers).toEqual([]);
  expect(problems.map(describePluginProblem)).toEqual([expect.stringContaining(warning)]);
});

const ENTRY: MarketplaceEntry = {
  name: 'kit',
  version: '9.0.0',
  description: 'From the marketplace.',
  source: null,
  fields: { name: 'kit', source: './kit', agents: ['./extra.md'], hooks: { Stop: [] } },
  isStrict: true,
};

describe('with an entry of a marketplace', () => {
  it('has the parts of the entry in addition to those of its manifest', () => {
    const { manifest, parts } = read(
      {
        [MANIFEST]: { name: 'own', version: '1.0.0', agents: './a.md' },
        'a.md': '',
        'extra.md': '',
      },
      ENTRY,
    );
    const { name, version, description } = manifest;
    expect([name, version, description, parts.agents, parts.hooks]).toEqual([
      'kit',
      '1.0.0',
      'From the marketplace.',
      ['a.md', 'extra.md'],
      [{ file: MANIFEST, value: { Stop: [] } }],
    ]);
  });

  it('has only the skills that the entry names if its manifest does not count', () => {
    const files = { 'skills/a/SKILL.md': '', 'skills/b/SKILL.md': '' };
    const fields = { name: 'kit', skills: ['./skills/a'] };
    const skillsOf = (isStrict: boolean) =>
      read(files, { ...ENTRY, fields: { ...fields, strict: isStrict }, isStrict }).parts.skills;
    expect([skillsOf(false), skillsOf(true)]).toEqual([['skills/a'], ['skills', 'skills/a']]);
  });

  it.each([
    ['has no manifest', true, { 'extra.md': '' }],
    ['has a manifest that does not count', false, { [MANIFEST]: { name: 'own' }, 'extra.md': '' }],
  ])('%s, and the entry stands in its place', (_, isStrict, files) => {
    const { manifest, parts } = read(files, { ...ENTRY, isStrict });
    expect([manifest.name, manifest.file, parts.agents]).toEqual([
      'kit',
      '.claude-plugin/marketplace.json',
      ['extra.md'],
    ]);
  });
});

describe('a directory without a manifest', () => {
  const parts: Texts = {
    'agents/a.md': 'A.',
    'skills/s/SKILL.md': 'S.',
    'commands/x/c.md': 'C.',
    'hooks/hooks.json': { hooks: { Stop: [] } },
    '.mcp.json': { mcpServers: { db: { command: 'db' } } },
  };

  it('is a plugin with the name of the directory and the parts in their usual places', () => {
    const plugin = read(parts, null, 'my-kit');
    expect(plugin.manifest).toMatchObject({ format: 'claude', name: 'my-kit', version: null });
    expect(plugin.parts).toEqual({
      agents: ['agents'],
      skills: ['skills'],
      commands: ['commands'],
      hooks: [{ file: 'hooks/hooks.json', value: { Stop: [] } }],
      mcpServers: [{ file: '.mcp.json', value: { db: { command: 'db' } } }],
      lspServers: [],
    });
    expect(plugin.problems).toEqual([]);
  });

  it.each<[string, Texts, string | null]>([
    ['no part in its usual place', { 'README.md': 'Read.', 'agents/a.txt': 'A.' }, 'kit'],
    ['no name of its own', parts, null],
    ['a name that no plugin may have', parts, 'my kit'],
    ['a marketplace', { ...parts, '.claude-plugin/marketplace.json': {} }, 'kit'],
  ])('with %s is no plugin', (_, files, directory) => {
    expect(() => read(files, null, directory)).toThrow(
      'kit cannot be used as a plugin: it has neither .claude-plugin/plugin.json nor gemini-extension.json',
    );
  });
});
