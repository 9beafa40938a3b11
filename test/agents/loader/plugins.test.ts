import { AGENTS, SKILLS } from '../../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../../src/agents/loader/discover.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TRUST_ALL, TRUST_NOTHING } from '../../../src/sys/files/project-file.ts';
import { agentFile, workTree } from '../support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree({ 'repo/.git/HEAD': '', 'repo/sub/x': '', 'other/x': '' });
});
afterEach(() => tree.remove());

const file = (name: string, ...more: string[]): string =>
  agentFile(`name: ${name}`, 'description: Does.', ...more);

function install(plugins: unknown, settings: unknown = {}): void {
  const installed = JSON.stringify({ version: 2, plugins });
  tree.write('home/.claude/plugins/installed_plugins.json', installed);
  tree.write('home/.claude/settings.json', JSON.stringify(settings));
}

async function found(cwd = 'repo/sub'): Promise<readonly string[]> {
  const environment = { HOME: tree.path('home') };
  const all = await discoverDefinitions(AGENTS, {
    cwd: tree.path(cwd),
    environment,
    trust: TRUST_ALL,
  });
  return all.items.filter(({ origin }) => origin.scope === 'plugin').map(({ name }) => name);
}

test('agents of an enabled plugin have names of the form PLUGIN:FOLDER:NAME, and no mode of their own', async () => {
  tree.write('home/p/agents/reviewer.md', file('reviewer', 'permissionMode: bypassPermissions'));
  tree.write('home/p/agents/deep/er/tester.md', file('tester'));
  install(
    { 'kit@market': [{ scope: 'user', installPath: tree.path('home/p') }] },
    { enabledPlugins: { 'kit@market': true } },
  );
  const environment = { HOME: tree.path('home') };
  const cwd = tree.path('repo');
  const { items: agents } = await discoverDefinitions(AGENTS, {
    cwd,
    environment,
    trust: TRUST_ALL,
  });
  const ours = agents.filter(({ origin }) => origin.scope === 'plugin');
  expect(
    ours.map(({ name, mode, permissionMode, problems }) => ({
      name,
      mode,
      permissionMode,
      codes: problems.map(({ code }) => code),
    })),
  ).toEqual([
    { name: 'kit:deep:er:tester', mode: null, permissionMode: null, codes: [] },
    { name: 'kit:reviewer', mode: null, permissionMode: null, codes: ['plugin-mode'] },
  ]);
});

test.each([
  ['not enabled', {}, []],
  ['switched off', { enabledPlugins: { 'kit@market': false } }, []],
  ['enabled', { enabledPlugins: { 'kit@market': true } }, ['kit:tester']],
])('a plugin installed for the user that is %s', async (_, settings, names) => {
  tree.write('home/p/agents/tester.md', file('tester'));
  // The form of the first version: one entry, no list.
  install({ 'kit@market': { installPath: tree.path('home/p') } }, settings);
  expect(await found()).toEqual(names);
});

test('an entry for this project has precedence over the one for all projects', async () => {
  tree.write('home/old/agents/old.md', file('old'));
  tree.write('home/new/agents/new.md', file('new'));
  install(
    {
      'kit@market': [
        { scope: 'user', installPath: tree.path('home/old') },
        {
          scope: 'project',
          projectPath: tree.path('repo'),
          installPath: tree.path('home/new'),
        },
      ],
    },
    { enabledPlugins: { 'kit@market': true } },
  );
  expect([await found('repo/sub'), await found('other')]).toEqual([['kit:new'], ['kit:old']]);
});

test('the paths of the manifest are searched, but only inside the plugin', async () => {
  tree.write('home/p/.claude-plugin/plugin.json', '{"agents": ["./more", "../out", "./one.md"]}');
  tree.write('home/p/more/a.md', file('a'));
  tree.write('home/p/one.md', file('one'));
  tree.write('home/out/b.md', file('b'));
  install(
    { 'kit@market': [{ installPath: tree.path('home/p') }] },
    { enabledPlugins: { 'kit@market': true } },
  );
  expect(await found()).toEqual(['kit:a', 'kit:one']);
});

test.each(['{', '[]', '{"plugins": []}', '{"plugins": {"a": 1, "b@c": [{"installPath": 7}]}}'])(
  'a record that contains no plugins: %s',
  async (text) => {
    tree.write('home/.claude/plugins/installed_plugins.json', text);
    expect(await found()).toEqual([]);
  },
);

test('an environment variable moves the agents, skills and plugins of Claude Code', async () => {
  tree.write('moved/agents/own.md', file('own'));
  tree.write('home/.claude/agents/left.md', file('left'));
  tree.write('p/agents/tester.md', file('tester'));
  tree.write(
    'moved/plugins/installed_plugins.json',
    JSON.stringify({ plugins: { 'kit@market': [{ installPath: tree.path('p') }] } }),
  );
  tree.write('moved/settings.json', '{"enabledPlugins": {"kit@market": true}}');
  tree.write('moved/skills/sum/SKILL.md', file('sum'));
  const at = (name: string) => ({
    cwd: tree.path('repo'),
    environment: { HOME: tree.path('home'), CLAUDE_CONFIG_DIR: tree.path(name) },
    trust: TRUST_NOTHING,
  });
  const { items: agents } = await discoverDefinitions(AGENTS, at('moved'));
  const own = agents.filter(({ origin }) => origin.scope !== 'builtin');
  expect(own.map(({ name }) => name)).toEqual(['own', 'kit:tester']);
  const { items: skills } = await discoverDefinitions(SKILLS, at('moved'));
  expect(skills.map(({ name, scope }) => [name, scope])).toEqual([['sum', 'user']]);
});

test('files in the project must be trusted, even if a variable or a plugin names them', async () => {
  tree.write('repo/own/agents/own.md', file('own'));
  tree.write('repo/own/plugins/installed_plugins.json', '{"plugins": {}}');
  tree.write('repo/own/skills/sum/SKILL.md', file('sum'));
  tree.write('repo/p/agents/tester.md', file('tester'));
  install(
    { 'kit@market': [{ installPath: tree.path('repo/p') }] },
    { enabledPlugins: { 'kit@market': true } },
  );
  const cwd = tree.path('repo');
  const environment = { HOME: tree.path('home') };
  const moved = { ...environment, CLAUDE_CONFIG_DIR: tree.path('repo/own') };
  const untrusted = async (own: Record<string, string>) => {
    const options = { cwd, environment: own, trust: TRUST_NOTHING };
    const found = [
      await discoverDefinitions(AGENTS, options),
      await discoverDefinitions(SKILLS, options),
    ];
    return found.flatMap(({ skipped }) => skipped.map(({ path, code }) => [path, code]));
  };
  expect(await untrusted(environment)).toEqual([
    [tree.path('repo/p/agents/tester.md'), 'untrusted'],
  ]);
  expect(await untrusted(moved)).toEqual([
    [tree.path('repo/own/agents/own.md'), 'untrusted'],
    [tree.path('repo/own/skills/sum/SKILL.md'), 'untrusted'],
  ]);
});

test('plugins that were installed in Muster come before those of Claude Code, with their own paths', async () => {
  tree.write('home/own/other/tester.md', file('tester'));
  tree.write('home/own/agents/ignored.md', file('ignored'));
  tree.write('home/p/agents/tester.md', file('tester'));
  tree.write('home/gem/agents/helper.md', file('helper', 'kind: local'));
  install(
    { 'kit@market': [{ scope: 'user', installPath: tree.path('home/p') }] },
    { enabledPlugins: { 'kit@market': true } },
  );
  const plugins = [
    {
      name: 'kit',
      root: tree.path('home/own'),
      vendor: 'claude',
      paths: { agents: [tree.path('home/own/other')] },
    },
    {
      name: 'gem',
      root: tree.path('home/gem'),
      vendor: 'gemini',
      paths: { agents: [tree.path('home/gem/agents')] },
    },
  ] as const;
  const { items, shadowed } = await discoverDefinitions(AGENTS, {
    cwd: tree.path('repo'),
    environment: { HOME: tree.path('home') },
    trust: TRUST_NOTHING,
    plugins,
  });
  const found = items.filter(({ origin }) => origin.scope === 'plugin');
  expect([
    found.map(({ name, origin }) => [name, origin.vendor, origin.path]),
    shadowed.map(({ item }) => item.origin.path),
  ]).toEqual([
    [
      ['kit:tester', 'claude', tree.path('home/own/other/tester.md')],
      ['gem:helper', 'gemini', tree.path('home/gem/agents/helper.md')],
    ],
    [tree.path('home/p/agents/tester.md')],
  ]);
});
