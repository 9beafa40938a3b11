import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  addMarketplace,
  listMarketplaces,
  listPlugins,
  proposePlugin,
  proposeUpdate,
  setPluginState,
  showMarketplace,
} from '../../../src/api/plugins/plugin-commands.ts';
import { AGENTS } from '../../../src/agents/kinds.ts';
import { openLive } from '../../agents/loader/support.ts';
import { describeTarget } from '../../../src/api/mcp/describe-target.ts';
import { findServers } from '../../../src/api/mcp/find-servers.ts';
import { loadPlugins } from '../../../src/api/setup/plugins.ts';
import { TRUST_NOTHING } from '../../../src/sys/files/project-file.ts';
import { Machine, type Texts } from '../../plugins/support.ts';

const { signal } = new AbortController();

const KIT: Texts = {
  '.claude-plugin/plugin.json': { name: 'kit', version: '1.0.0' },
  'commands/ship.md': 'Ship it.',
  'hooks/hooks.json': {
    hooks: {
      Stop: [{ hooks: [{ type: 'command', command: '${CLAUDE_PLUGIN_ROOT}/stop.sh' }] }],
    },
  },
  '.mcp.json': {
    mcpServers: {
      db: {
        command: '${CLAUDE_PLUGIN_ROOT}/db',
        args: ['--port', '${PORT:-1}'],
        env: { KEY: '${ANTHROPIC_API_KEY}' },
        sandbox: false,
        alwaysAllow: ['drop'],
      },
      wrong: { url: 'ftp://x' },
    },
  },
  '.lsp.json': {
    zig: { command: 'zls', args: ['--x'], extensionToLanguage: { '.ZIG': 'zig' } },
    own: {
      command: '${CLAUDE_PLUGIN_ROOT}/bin/own',
      extensionToLanguage: { '.own': 'own' },
      settings: { a: 1 },
      restartOnCrash: true,
    },
    relative: { command: './bin/own', extensionToLanguage: { '.x': 'x' } },
    socket: { command: 'x', transport: 'socket', extensionToLanguage: { '.x': 'x' } },
    none: { command: 'x' },
  },
};

async function install(machine: Machine, source: string): Promise<void> {
  (await proposePlugin(source, machine.state, signal)).install();
}

async function load(machine: Machine) {
  const problems: string[] = [];
  const onProblem = (problem: string): void => void problems.push(problem);
  const plugins = await loadPlugins({ ...machine.state, onProblem });
  return { ...plugins, problems };
}

describe('an active plugin', () => {
  it('has its parts with the directory of its copy', async () => {
    using machine = new Machine();
    await install(machine, machine.write('kit', KIT));
    const [{ directory: root } = { directory: '' }] = listPlugins(machine.state);
    const loaded = await load(machine);
    expect(loaded).toMatchObject({
      problems: [],
      definitions: [
        {
          name: 'kit',
          root,
          vendor: 'claude',
          paths: { agents: [], skills: [], commands: [join(root, 'commands')] },
        },
      ],
    });
    expect(loaded.hooks).toEqual([
      {
        source: { kind: 'plugin', where: join(root, 'hooks/hooks.json'), pluginRoot: root },
        vendor: 'claude',
        hooks: {
          Stop: [{ hooks: [{ type: 'command', command: '${CLAUDE_PLUGIN_ROOT}/stop.sh' }] }],
        },
      },
    ]);
    expect(loaded.languageServers).toEqual([
      {
        name: 'zig',
        program: 'zls',
        args: ['--x'],
        endings: { '.zig': 'zig' },
        initializationOptions: null,
        settings: null,
      },
      {
        name: 'own',
        program: join(root, 'bin/own'),
        args: [],
        endings: { '.own': 'own' },
        initializationOptions: null,
        settings: { a: 1 },
      },
    ]);
  });

  it('has servers that come after those of the user, with the rights of those of a project', async () => {
    using machine = new Machine();
    await install(machine, machine.write('kit', KIT));
    const [{ directory: root } = { directory: '' }] = listPlugins(machine.state);
    const { servers: pluginServers } = await load(machine);
    const { environment, home } = machine.state;
    const search = { environment, home, project: machine.state.cwd, trust: TRUST_NOTHING };
    const found = findServers({ ...search, tables: null, pluginServers });
    expect(found.entries).toMatchObject([
      {
        name: 'plugin:kit:db',
        origin: { scope: 'project', file: join(root, '.mcp.json'), plugin: 'kit' },
        transport: {
          command: join(root, 'db'),
          args: ['--port', '${PORT:-1}'],
          env: { KEY: '${ANTHROPIC_API_KEY}', CLAUDE_PLUGIN_ROOT: root },
        },
        sandbox: null,
      },
    ]);
    expect(found.entries.map(describeTarget)).toEqual([
      '${CLAUDE_PLUGIN_ROOT}/db --port ${PORT:-1}',
    ]);
    expect(found.problems.map(({ server, field }) => [server, field])).toEqual([
      ['plugin:kit:db', 'sandbox'],
      ['plugin:kit:db', 'alwaysAllow'],
      ['plugin:kit:wrong', 'url'],
    ]);
  });

  it('is the only one whose directory is shortened in lists of servers', () => {
    const env = { CLAUDE_PLUGIN_ROOT: '/bin/evil' };
    const transport = { type: 'stdio', command: '/bin/evil', args: [], env, cwd: null } as const;
    expect(describeTarget({ transport, origin: { scope: 'project', file: '.mcp.json' } })).toBe(
      '/bin/evil',
    );
  });

  it('is not active while it is switched off, or if its data directory lies in the project', async () => {
    using machine = new Machine();
    await install(machine, machine.write('kit', KIT));
    setPluginState('kit', machine.state, { isEnabled: false });
    expect((await load(machine)).definitions).toEqual([]);
    setPluginState('kit', machine.state, { isEnabled: true });
    expect((await load(machine)).definitions).toHaveLength(1);
    const onProblem = (problem: string): never => expect.fail(problem);
    const data = join(machine.state.cwd, 'data');
    cpSync(machine.data, data, { recursive: true });
    const inside = { ...machine.state, dataDir: data, onProblem };
    expect((await loadPlugins(inside)).definitions).toEqual([]);
  });

  it('is left out, and the others remain, if the file with the approvals is damaged', async () => {
    using machine = new Machine();
    await install(machine, machine.write('kit', KIT));
    writeFileSync(join(machine.data, 'plugins.json'), '{"version":1,"plugins":[{"name":"kit"}]}');
    const { definitions, problems } = await load(machine);
    expect([definitions, problems]).toEqual([
      [],
      [
        `no plugin is used: ${join(machine.data, 'plugins.json')} is damaged (entry 1 is not a valid plugin), so nothing in it applies: move it away, then install your plugins again`,
      ],
    ]);
  });
});

describe('a running conversation', () => {
  it('notices that a plugin is switched off and on, and does not use files that have changed', async () => {
    using machine = new Machine();
    const agent = '---\nname: helper\ndescription: Helps.\n---\nHelp.\n';
    await install(machine, machine.write('kit', { ...KIT, 'agents/helper.md': agent }));
    const problems: string[] = [];
    const onProblem = (problem: string): void => void problems.push(problem);
    const { cwd, environment } = machine.state;
    const live = await openLive(AGENTS, {
      cwd,
      environment,
      dependsOn: [join(machine.data, 'plugins.json')],
      currentPlugins: async () => (await loadPlugins({ ...machine.state, onProblem })).definitions,
    });
    const check = async () => [
      await live.check(),
      live.current().some(({ name }) => name === 'kit:helper'),
    ];
    expect(await check()).toEqual(['unchanged', true]);
    setPluginState('kit', machine.state, { isEnabled: false });
    expect(await check()).toEqual(['reloaded', false]);
    setPluginState('kit', machine.state, { isEnabled: true });
    expect(await check()).toEqual(['reloaded', true]);
    const [{ directory } = { directory: '' }] = listPlugins(machine.state);
    const path = join(directory, 'agents/helper.md');
    chmodSync(path, 0o600);
    writeFileSync(path, agent.replace('Help.', 'Harm.'));
    expect(await check()).toEqual(['reloaded', false]);
    expect(problems).toEqual([expect.stringContaining('its files have changed since then')]);
  });
});

describe('two versions at once', () => {
  it('the one that is installed last is active, and both copies are complete', async () => {
    using machine = new Machine();
    const source = machine.write('kit', KIT);
    const first = await proposePlugin(source, machine.state, signal);
    machine.write('kit', { 'commands/ship.md': 'Ship it twice.' });
    const second = await proposePlugin(source, machine.state, signal);
    second.install();
    first.install();
    expect(listPlugins(machine.state)).toMatchObject([{ hash: first.review.hash, problem: null }]);
    expect((await proposeUpdate('kit', machine.state, signal)).review.state).toBe('changed');
  });

  it('installs the files of the review, whatever the source holds by then', async () => {
    using machine = new Machine();
    const source = machine.write('kit', KIT);
    const { review, install: installReviewed } = await proposePlugin(source, machine.state, signal);
    machine.write('kit', { 'commands/ship.md': 'rm -rf' });
    installReviewed();
    const [plugin] = listPlugins(machine.state);
    expect(plugin?.hash).toBe(review.hash);
    expect(readFileSync(join(plugin?.directory ?? '', 'commands/ship.md'), 'utf8')).toBe(
      'Ship it.',
    );
  });

  it('refuses an update whose source holds another plugin by now', async () => {
    using machine = new Machine();
    const source = machine.write('kit', KIT);
    await install(machine, source);
    machine.write('kit', { '.claude-plugin/plugin.json': { name: 'other' } });
    await expect(proposeUpdate('kit', machine.state, signal)).rejects.toThrow(
      `${source} holds the plugin other@direct now, and no longer kit@direct.`,
    );
  });
});

describe('a source that cannot be used', () => {
  it.each([
    ['./none', 'there is neither a directory nor an archive (.tgz) '],
    ['kit', 'kit is neither a path nor a plugin of a marketplace; write a directory as ./kit'],
    ['kit@none', 'there is no marketplace none: see muster plugin marketplace list'],
    ['kit@direct', 'kit@direct comes from no marketplace'],
    ['http://x.example/kit', 'only https, ssh and file addresses'],
  ])('%s is refused', async (text, reason) => {
    using machine = new Machine();
    await expect(proposePlugin(text, machine.state, signal)).rejects.toThrow(reason);
  });

  it('a marketplace is no plugin, and a plugin no marketplace', async () => {
    using machine = new Machine();
    const kit = machine.write('kit', KIT);
    await expect(addMarketplace(kit, machine.state, signal)).rejects.toThrow(
      `${kit} is no marketplace: it has no .claude-plugin/marketplace.json`,
    );
    const market = machine.write('market', {
      '.claude-plugin/marketplace.json': { name: 'team', plugins: [] },
    });
    await expect(proposePlugin(market, machine.state, signal)).rejects.toThrow(
      'It is a marketplace: muster plugin marketplace add',
    );
  });
});

describe('a marketplace', () => {
  it('is listed with its plugins, of which one can be meant by its name alone', async () => {
    using machine = new Machine();
    const market = machine.write('market', {
      '.claude-plugin/marketplace.json': {
        name: 'team',
        plugins: [
          { name: 'kit', source: './kit' },
          { name: 'later', source: { source: 'pip', package: 'x' } },
        ],
      },
    });
    machine.write('market/kit', KIT);
    await addMarketplace(market, machine.state, signal);
    expect(listMarketplaces(machine.state)).toMatchObject([
      { name: 'team', source: market, commit: null, plugins: 2 },
    ]);
    expect(showMarketplace('team', machine.state)).toMatchObject({
      plugins: [
        { name: 'kit', source: join(market, 'kit') },
        { name: 'later', source: null },
      ],
      problems: [
        '.claude-plugin/marketplace.json: plugins[1].source: the kind "pip" is not supported; later cannot be installed',
      ],
    });
    expect((await proposePlugin('kit', machine.state, signal)).review.id).toBe('kit@team');
    await expect(proposePlugin('later@team', machine.state, signal)).rejects.toThrow(
      'later@team cannot be installed',
    );
    await expect(proposePlugin('kitt@team', machine.state, signal)).rejects.toThrow(
      'the marketplace team has no plugin kitt: did you mean kit?',
    );
  });

  it('has entries that are approved with the files', async () => {
    using machine = new Machine();
    const writeMarket = (more: object): string =>
      machine.write('market', {
        '.claude-plugin/marketplace.json': {
          name: 'team',
          plugins: [{ name: 'kit', source: './kit', strict: false, ...more }],
        },
      });
    machine.write('market/kit', { 'commands/ship.md': 'Ship it.' });
    await addMarketplace(writeMarket({}), machine.state, signal);
    const before = await proposePlugin('kit@team', machine.state, signal);
    before.install();
    const [installed] = listPlugins(machine.state);
    const same = (await proposeUpdate('kit', machine.state, signal)).review;
    expect([installed?.hash, same.hash, same.state]).toEqual([
      before.review.hash,
      before.review.hash,
      'installed',
    ]);
    const hooks = { Stop: [{ hooks: [{ type: 'command', command: 'touch made' }] }] };
    await addMarketplace(writeMarket({ hooks }), machine.state, signal);
    const { review } = await proposeUpdate('kit', machine.state, signal);
    expect([review.hash === before.review.hash, review.state, review.difference]).toEqual([
      false,
      'changed',
      {
        files: { added: [], removed: [], changed: [] },
        effects: { added: ['hook Stop: runs in the sandbox touch made'], removed: [] },
      },
    ]);
  });

  it('cannot take the name of another one', async () => {
    using machine = new Machine();
    const file = { '.claude-plugin/marketplace.json': { name: 'team', plugins: [] } };
    const first = machine.write('first', file);
    await addMarketplace(first, machine.state, signal);
    await addMarketplace(first, machine.state, signal);
    await expect(
      addMarketplace(machine.write('second', file), machine.state, signal),
    ).rejects.toThrow(`there is a marketplace team from ${first} already. Remove it first`);
  });
});

/** Starts a registry with one package, whose archive npm has written. */
async function startRegistry(machine: Machine) {
  const directory = machine.write('package', {
    ...KIT,
    'package.json': {
      name: 'kit-package',
      version: '1.2.3',
      scripts: { preinstall: 'touch ran', install: 'touch ran', prepack: 'touch ran' },
    },
  });
  spawnSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', machine.root], {
    cwd: directory,
  });
  const archive = readFileSync(join(machine.root, 'kit-package-1.2.3.tgz'));
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz') === true) return void response.end(archive);
    const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
    const dist = { tarball: `${url}kit-package-1.2.3.tgz`, integrity };
    const version = { name: 'kit-package', version: '1.2.3', dist };
    const versions = { '1.2.3': version };
    const body = { name: 'kit-package', 'dist-tags': { latest: '1.2.3' }, versions };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await promisify(server.close.bind(server))();
    },
  };
}

describe('a package of npm', () => {
  it('is downloaded from its registry, and none of its scripts runs', async () => {
    using machine = new Machine();
    await using registry = await startRegistry(machine);
    const source = { source: 'npm', package: 'kit-package', registry: registry.url };
    const market = machine.write('market', {
      '.claude-plugin/marketplace.json': { name: 'team', plugins: [{ name: 'kit', source }] },
    });
    await addMarketplace(market, machine.state, signal);
    const proposal = await proposePlugin('kit@team', machine.state, signal);
    proposal.install();
    expect(proposal.review).toMatchObject({
      id: 'kit@team',
      version: '1.0.0',
      source: 'npm:kit-package',
      files: 6,
    });
    expect(existsSync(join(machine.root, 'package/ran'))).toBe(false);
  });

  it('that does not exist is an error that says so', async () => {
    using machine = new Machine();
    await using registry = await startRegistry(machine);
    const source = {
      source: 'npm',
      package: 'kit-package',
      version: '9.9.9',
      registry: registry.url,
    };
    const market = machine.write('market', {
      '.claude-plugin/marketplace.json': { name: 'team', plugins: [{ name: 'kit', source }] },
    });
    await addMarketplace(market, machine.state, signal);
    await expect(proposePlugin('kit@team', machine.state, signal)).rejects.toThrow(
      'npm could not download npm:kit-package@9.9.9: it exited with code 1',
    );
  });
});
