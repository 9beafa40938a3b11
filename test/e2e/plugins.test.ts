import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { callsInTurn, lastResults, openWorld, type World } from './world.ts';

const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');

/** An MCP server with one tool, which reads a file of its plugin. */
const SERVER = `
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
function answer({ id, method }) {
  if (id === undefined) return;
  const send = (result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  if (method === 'initialize') {
    return send({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1' } });
  }
  if (method === 'tools/list') {
    return send({ tools: [{ name: 'note', description: 'Returns the note.', inputSchema: { type: 'object' } }] });
  }
  const text = readFileSync(join(process.env.CLAUDE_PLUGIN_ROOT, 'note.txt'), 'utf8');
  send({ content: [{ type: 'text', text }] });
}
`;

const KIT: Readonly<Record<string, string>> = {
  '.claude-plugin/plugin.json': JSON.stringify({
    name: 'kit',
    version: '1.0.0',
    description: 'Reviews text.',
    author: { name: 'Team' },
  }),
  'agents/reviewer.md':
    '---\nname: reviewer\ndescription: Reviews text.\ntools: Read\npermissionMode: bypassPermissions\n---\nYou review.\n',
  'skills/style/SKILL.md':
    '---\nname: style\ndescription: The house style.\n---\nRead ${CLAUDE_PLUGIN_ROOT}/note.txt first.\n',
  'commands/ship.md':
    '---\ndescription: Ships it.\nallowed-tools: Bash(git:*)\n---\n!`git status`\n',
  'hooks/hooks.json': JSON.stringify({
    hooks: {
      PreToolUse: [
        {
          matcher: 'Bash',
          hooks: [{ type: 'command', command: '${CLAUDE_PLUGIN_ROOT}/check.sh' }],
        },
      ],
    },
  }),
  '.mcp.json': JSON.stringify({
    mcpServers: {
      notes: { command: process.execPath, args: ['${CLAUDE_PLUGIN_ROOT}/server.cjs'] },
    },
  }),
  '.lsp.json': JSON.stringify({
    zig: { command: 'zls', extensionToLanguage: { '.zig': 'zig' } },
  }),
  'server.cjs': SERVER,
  'note.txt': 'Be brief.',
};

function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    const full = join(directory, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }
}

/** Writes the plugin beside the workspace and returns its directory. */
function writeKit(world: World, changes: Readonly<Record<string, string>> = {}): string {
  const directory = join(world.sandbox.root, 'kit-source');
  writeFiles(directory, { ...KIT, ...changes });
  return directory;
}

/** Runs a command of plugins without a model. */
async function plugin(world: World, ...args: readonly string[]) {
  const { code, stdout, stderr } = await world.run(['plugin', ...args]);
  return { code, stdout, stderr };
}

interface Review {
  readonly id: string;
  readonly hash: string;
  readonly state: string;
  readonly effects: readonly string[];
  readonly difference: unknown;
  readonly installed: boolean;
}

async function review(world: World, ...args: readonly string[]): Promise<Review> {
  const { stdout } = await plugin(world, ...args, '--json');
  return JSON.parse(stdout);
}

/** Reviews a plugin and installs exactly what was reviewed. */
async function approve(world: World, ...args: readonly string[]): Promise<Review> {
  const { hash } = await review(world, ...args);
  return await review(world, ...args, '--approve', hash);
}

const task = {
  name: 'Task',
  input: { prompt: 'review it', description: 'review', subagent_type: 'kit:reviewer' },
};

const isChild = ({ tools }: RecordedRequest) => !tools.some(({ name }) => name === 'AskUser');

function delegates(request: RecordedRequest): Answer {
  if (isChild(request)) return { text: 'reviewed by the plugin' };
  return toolResultRounds(request) === 0 ? { toolCalls: [task] } : { text: 'done' };
}

describe.concurrent('plugins', () => {
  it('shows what a plugin can do, and installs nothing without an approval', async () => {
    await using world = await openWorld();
    const directory = writeKit(world);
    const { hash, ...rest } = await review(world, 'install', directory);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    const node = JSON.stringify(process.execPath);
    expect(rest).toEqual({
      id: 'kit@direct',
      version: '1.0.0',
      description: 'Reviews text.',
      format: 'claude',
      source: directory,
      commit: null,
      files: 9,
      bytes: Object.values(KIT).reduce((sum, text) => sum + text.length, 0),
      state: 'new',
      effects: [
        'agent kit:reviewer: Reviews text. (agents/reviewer.md)',
        '  tools: Read',
        '  ! An agent of a plugin cannot ask for a mode (`bypassPermissions`); it gets the mode of its parent.',
        '  prompt: 1 line; read them in the file',
        'skill kit:style: The house style. (skills/style/SKILL.md)',
        '  instructions that the model follows: 1 line; read them in the file',
        'slash command /kit:ship: Ships it. (commands/ship.md)',
        '  runs in the shell when you type it: git status',
        '  does nothing: allowed-tools: Bash(git:*) — a command of a plugin allows nothing; your rules and the mode decide about its shell parts.',
        '  text that is sent as your message: 1 line; read them in the file',
        'hook PreToolUse (Bash): runs in the sandbox ${CLAUDE_PLUGIN_ROOT}/check.sh',
        `server plugin:kit:notes: runs ${node} "\${CLAUDE_PLUGIN_ROOT}/server.cjs" in the sandbox`,
        'server plugin:kit:notes: sets CLAUDE_PLUGIN_ROOT',
        'language server zig: runs "zls" in the sandbox for .zig',
      ],
      difference: null,
      installed: false,
    });
    const asked = await plugin(world, 'install', directory);
    expect([asked.code, asked.stderr]).toEqual([
      2,
      `muster: there is no terminal to ask on; to install what is shown, add --approve ${hash}\n`,
    ]);
    expect(asked.stdout).toContain('  runs in the shell when you type it: git status\n');
    const wrong = await plugin(world, 'install', directory, '--approve', 'f'.repeat(64));
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      `muster: CONFLICT: kit@direct has the hash ${hash}, not ${'f'.repeat(64)}: look at them again. Nothing was installed\n`,
    ]);
    expect((await plugin(world, 'list')).stdout).toBe(
      'No plugin is installed. Install one: muster plugin install\n',
    );
  });

  it('lets an agent of an installed plugin run, without a mode of its own', async () => {
    await using world = await openWorld({ script: delegates });
    await approve(world, 'install', writeKit(world));
    const run = await world.run(['-p', 'go']);
    expect(run.code).toBe(0);
    expect(lastResults(world.model)[0]?.text).toContain('reviewed by the plugin');
    const listed: { readonly agents: readonly { readonly name: string }[] } = JSON.parse(
      (await world.run(['agents', 'list', '--json'])).stdout,
    );
    expect(listed.agents.find(({ name }) => name === 'kit:reviewer')).toMatchObject({
      scope: 'plugin',
      permissionMode: null,
      effectiveMode: 'default',
    });
    await plugin(world, 'disable', 'kit');
    await world.run(['-p', 'go']);
    expect(lastResults(world.model)[0]?.text).toContain('kit:reviewer');
    expect(lastResults(world.model)[0]?.text).not.toContain('reviewed by the plugin');
    await plugin(world, 'enable', 'kit');
    await world.run(['-p', 'go']);
    expect(lastResults(world.model)[0]?.text).toContain('reviewed by the plugin');
  });

  it('replaces the variable for the directory of the plugin in a skill', async () => {
    const skill = { name: 'Skill', input: { skill: 'kit:style' } };
    await using world = await openWorld({ script: callsInTurn([skill]) });
    await approve(world, 'install', writeKit(world));
    const run = await world.run(['-p', 'go']);
    const [{ directory } = { directory: '' }]: readonly { readonly directory: string }[] =
      JSON.parse((await plugin(world, 'list', '--json')).stdout);
    expect([run.code, JSON.stringify(world.model.requests.at(-1)?.messages)]).toEqual([
      0,
      expect.stringContaining(`Read ${directory}/note.txt first.`),
    ]);
    expect(readFileSync(join(directory, 'note.txt'), 'utf8')).toBe('Be brief.');
  });

  it.runIf(HAS_BUBBLEWRAP)('starts an MCP server of a plugin in the sandbox', async () => {
    const note = { name: 'mcp__plugin_kit_notes__note', input: {} };
    await using world = await openWorld({ script: callsInTurn([note]) });
    await approve(world, 'install', writeKit(world));
    const run = await world.run(['-p', 'go', '--allow', 'mcp__plugin_kit_notes']);
    expect([run.code, lastResults(world.model)[0]?.text]).toEqual([0, 'Be brief.']);
    const list = await world.run(['mcp', 'list']);
    expect(list.stdout).toMatch(/^plugin:kit:notes {2}plugin · 1 tool · /);
  });

  it.runIf(HAS_BUBBLEWRAP)('runs its hooks in the sandbox, and never lets them allow', async () => {
    const call = { name: 'Bash', input: { command: 'touch made' } };
    await using world = await openWorld({ script: callsInTurn([call]) });
    const script = `#!/bin/sh
[ -n "$CLAUDE_PLUGIN_ROOT" ] && echo "$CLAUDE_PLUGIN_ROOT" > root.txt
echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'
`;
    const directory = writeKit(world, { 'check.sh': script });
    chmodSync(join(directory, 'check.sh'), 0o755);
    await approve(world, 'install', directory);
    const listed = await world.run(['hooks', 'list']);
    expect(listed.stdout).toContain('PreToolUse (Bash)  ${CLAUDE_PLUGIN_ROOT}/check.sh');
    await world.run(['-p', 'go', '--output-format', 'json']);
    const root = readFileSync(join(world.sandbox.workspace, 'root.txt'), 'utf8').trim();
    expect(existsSync(join(root, 'check.sh'))).toBe(true);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
  });

  it('offers its commands under its name', async () => {
    await using world = await openWorld({ script: () => ({ text: 'shipped' }) });
    await approve(
      world,
      'install',
      writeKit(world, { 'commands/ship.md': 'Ship $ARGUMENTS now.' }),
    );
    const run = await world.run(['-p', '/kit:ship v2']);
    expect([run.code, run.stdout]).toEqual([0, 'shipped\n']);
    expect(JSON.stringify(world.model.requests[0]?.messages)).toContain('Ship v2 now.');
    const listed = await world.run(['commands', 'list']);
    expect(listed.stdout).toContain('/kit:ship');
  });

  it('lets no command allow its own shell parts', async () => {
    await using world = await openWorld({ script: () => ({ text: 'shipped' }) });
    const ship = '---\nallowed-tools: Bash\n---\nShip.\n\n!`touch made`\n';
    await approve(world, 'install', writeKit(world, { 'commands/ship.md': ship }));
    const made = join(world.sandbox.workspace, 'made');
    const refused = await world.run(['-p', '/kit:ship']);
    expect([refused.code === 0, refused.stdout, existsSync(made)]).toEqual([false, '', false]);
    expect(refused.stderr).toContain('Its shell part "touch made" did not run: ');
    const allowed = await world.run(['-p', '/kit:ship', '--allow', 'Bash(touch:*)']);
    expect([allowed.code, allowed.stdout, existsSync(made)]).toEqual([0, 'shipped\n', true]);
  });

  it('shows what an update changes, and keeps the approved version until it is approved', async () => {
    await using world = await openWorld({ script: delegates });
    const directory = writeKit(world);
    const first = await approve(world, 'install', directory);
    writeFiles(directory, {
      'agents/reviewer.md':
        '---\nname: reviewer\ndescription: Reviews text.\ntools: Bash\n---\nRun it.\n',
      'extra.txt': 'new',
    });
    const update = await review(world, 'update', 'kit');
    expect([update.state, update.installed, update.difference]).toEqual([
      'changed',
      false,
      {
        files: { added: ['extra.txt'], removed: [], changed: ['agents/reviewer.md'] },
        effects: {
          added: ['  tools: Bash'],
          removed: [
            '  tools: Read',
            '  ! An agent of a plugin cannot ask for a mode (`bypassPermissions`); it gets the mode of its parent.',
          ],
        },
      },
    ]);
    const text = await plugin(world, 'update', 'kit');
    expect(text.stdout).toContain('  + can now: tools: Bash\n  - no longer: tools: Read\n');
    expect(text.code).toBe(2);
    await world.run(['-p', 'go']);
    const before = world.model.requests.findLast(isChild);
    expect(before?.tools.map(({ name }) => name)).not.toContain('Bash');
    const second = await approve(world, 'update', 'kit');
    expect([second.installed, second.hash === first.hash]).toEqual([true, false]);
    await world.run(['-p', 'go']);
    const after = world.model.requests.findLast(isChild);
    expect(after?.tools.map(({ name }) => name)).toContain('Bash');
    expect((await plugin(world, 'update', 'kit')).stdout).toContain(
      'kit@direct is installed with exactly these files.\n',
    );
  });

  it('does not use files that have changed since they were approved, and restores them', async () => {
    await using world = await openWorld({ script: delegates });
    const kit = writeKit(world);
    await approve(world, 'install', kit);
    const [{ directory } = { directory: '' }]: readonly { readonly directory: string }[] =
      JSON.parse((await plugin(world, 'list', '--json')).stdout);
    const file = join(directory, 'agents/reviewer.md');
    chmodSync(file, 0o600);
    writeFileSync(file, '---\nname: reviewer\ndescription: Evil.\n---\nObey.\n');
    const run = await world.run(['-p', 'go']);
    const notice =
      'muster: the plugin kit@direct is not used: you have approved it, but its files have changed since then. Run: muster plugin update kit@direct\n';
    expect(run.stderr).toBe(notice);
    expect(world.model.requests.filter(isChild)).toEqual([]);
    const list = await plugin(world, 'list');
    expect(list.stdout).toBe(
      `kit@direct  1.0.0  not used: its files have changed since then  ${kit}\n`,
    );
    await plugin(world, 'update', 'kit');
    await world.run(['-p', 'go']);
    expect(world.model.requests.filter(isChild)).toHaveLength(1);
  });

  it('removes a plugin with its files', async () => {
    await using world = await openWorld();
    await approve(world, 'install', writeKit(world));
    expect(readdirSync(join(world.sandbox.data, 'plugins'))).toEqual(['kit@direct']);
    expect(await plugin(world, 'remove', 'kit')).toEqual({
      code: 0,
      stdout: 'Removed kit@direct.\n',
      stderr: '',
    });
    expect(readdirSync(join(world.sandbox.data, 'plugins'))).toEqual([]);
    const again = await plugin(world, 'remove', 'kit');
    expect([again.code, again.stderr]).toEqual([
      1,
      'muster: NOT_FOUND: the plugin kit is not installed: see muster plugin list\n',
    ]);
  });

  it('sends the same request as before if a plugin was installed and removed again', async () => {
    await using world = await openWorld();
    await world.run(['-p', 'go']);
    await approve(world, 'install', writeKit(world));
    await plugin(world, 'remove', 'kit');
    await world.run(['-p', 'go']);
    const [first, second] = world.model.requests.map(({ body }) => body);
    expect(second).toEqual(first);
  });

  it('refuses to install a plugin for an agent', async () => {
    await using world = await openWorld();
    const run = await world.run(['plugin', 'install', writeKit(world)], {
      env: { MUSTER_TASK: 'aaaaaaaaaaaa' },
    });
    expect([run.code, run.stderr]).toEqual([
      2,
      'muster: an agent cannot install a plugin; run this in a shell of your own\n',
    ]);
  });
});

/** Runs git in a directory that is not part of this repository. */
function git(directory: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
  const { status, stdout, stderr } = spawnSync('git', ['-C', directory, ...identity, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', GIT_CONFIG_GLOBAL: '/dev/null', HOME: directory },
  });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** Commits the plugin below `plugins/kit` of a new repository with a marketplace. */
function createRepository(world: World): { readonly directory: string; readonly url: string } {
  const directory = join(world.sandbox.root, 'repository');
  writeFiles(directory, {
    '.claude-plugin/marketplace.json': JSON.stringify({
      name: 'team',
      owner: { name: 'Team' },
      plugins: [{ name: 'kit', source: './plugins/kit', description: 'Reviews text.' }],
    }),
    ...Object.fromEntries(Object.entries(KIT).map(([path, text]) => [`plugins/kit/${path}`, text])),
  });
  git(directory, 'init', '--quiet', '--initial-branch=main');
  git(directory, 'add', '--all');
  git(directory, 'commit', '--quiet', '--message', 'first');
  git(directory, 'tag', 'v1');
  return { directory, url: `file://${directory}` };
}

describe.concurrent('sources of plugins', () => {
  it('installs from a directory in a git repository, and records the commit', async () => {
    await using world = await openWorld();
    const { directory, url } = createRepository(world);
    const commit = git(directory, 'rev-parse', 'HEAD');
    const marker = join(world.sandbox.root, 'ran');
    writeFiles(directory, { '.git/hooks/post-checkout': `#!/bin/sh\ntouch ${marker}\n` });
    chmodSync(join(directory, '.git/hooks/post-checkout'), 0o700);
    const installed = await approve(world, 'install', `${url}#v1:plugins/kit`);
    expect(installed).toMatchObject({ id: 'kit@direct', commit, installed: true, files: 9 });
    expect(existsSync(marker)).toBe(false);
    expect((await plugin(world, 'list')).stdout).toBe(
      `kit@direct  1.0.0  in use  ${url}#v1:plugins/kit\n`,
    );
    const missing = await plugin(world, 'install', `${url}#v9:plugins/kit`);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining(
        `muster: PROVIDER_ERROR: git could not read ${url} (v9): it exited with code`,
      ),
    ]);
  });

  it('installs from a marketplace in a repository, and updates after it has changed', async () => {
    await using world = await openWorld();
    const { directory, url } = createRepository(world);
    expect(await plugin(world, 'marketplace', 'add', url)).toEqual({
      code: 0,
      stdout: `Added the marketplace team with 1 plugin from ${url}.\nSee them: muster plugin marketplace list team\n`,
      stderr: '',
    });
    expect((await approve(world, 'install', 'kit@team')).id).toBe('kit@team');
    writeFiles(directory, { 'plugins/kit/note.txt': 'Be kind.' });
    git(directory, 'commit', '--quiet', '--all', '--message', 'second');
    expect((await review(world, 'update', 'kit')).state).toBe('installed');
    await plugin(world, 'marketplace', 'update', 'team');
    const update = await review(world, 'update', 'kit');
    expect([update.state, update.difference]).toEqual([
      'changed',
      {
        files: { added: [], removed: [], changed: ['note.txt'] },
        effects: { added: [], removed: [] },
      },
    ]);
    const kept = await plugin(world, 'marketplace', 'remove', 'team');
    expect([kept.code, kept.stderr]).toEqual([
      1,
      'muster: CONFLICT: plugins from the marketplace team are installed: kit@team. Remove them first: muster plugin remove\n',
    ]);
    await plugin(world, 'remove', 'kit');
    expect((await plugin(world, 'marketplace', 'remove', 'team')).stdout).toBe(
      'Removed the marketplace team.\n',
    );
  });

  it('installs from an archive that npm pack has written', async () => {
    await using world = await openWorld();
    const directory = writeKit(world, {
      'package.json': JSON.stringify({
        name: 'kit-package',
        version: '1.0.0',
        scripts: { prepack: 'touch ran' },
      }),
    });
    const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--silent'], {
      cwd: directory,
      encoding: 'utf8',
    });
    const archive = join(directory, packed.stdout.trim());
    const installed = await approve(world, 'install', archive);
    expect(installed).toMatchObject({ id: 'kit@direct', files: 10, installed: true });
    expect((await plugin(world, 'show', 'kit')).stdout).toContain(
      '  agent kit:reviewer: Reviews text. (agents/reviewer.md)\n',
    );
  });

  it('installs an extension of Gemini CLI', async () => {
    await using world = await openWorld();
    const directory = join(world.sandbox.root, 'extension');
    writeFiles(directory, {
      'gemini-extension.json': JSON.stringify({
        name: 'weather',
        version: '0.1.0',
        mcpServers: {
          sky: {
            command: 'node',
            args: ['${extensionPath}${/}server.js'],
            cwd: '${extensionPath}',
          },
        },
        contextFileName: 'WEATHER.md',
        excludeTools: ['run_shell_command'],
      }),
      'commands/sky/now.toml': 'description = "Looks up."\nprompt = "Say !{date}"\n',
      'WEATHER.md': 'It rains.',
      'skills/clouds/SKILL.md': '---\nname: clouds\ndescription: Names clouds.\n---\nLook up.\n',
    });
    const { effects, ...rest } = await approve(world, 'install', directory);
    expect(rest).toMatchObject({ id: 'weather@direct', format: 'gemini', installed: true });
    expect(effects).toEqual([
      'skill weather:clouds: Names clouds. (skills/clouds/SKILL.md)',
      '  instructions that the model follows: 1 line; read them in the file',
      'slash command /weather:sky:now: Looks up. (commands/sky/now.toml)',
      '  runs in the shell when you type it: date',
      '  text that is sent as your message: 1 line; read them in the file',
      'server plugin:weather:sky: runs "node" "${CLAUDE_PLUGIN_ROOT}/server.js" in the sandbox',
      'server plugin:weather:sky: sets CLAUDE_PLUGIN_ROOT',
      '! gemini-extension.json: contextFileName: this field has no effect in Muster',
      '! gemini-extension.json: excludeTools: this field has no effect in Muster',
    ]);
    expect((await world.run(['skills', 'list'])).stdout).toContain('weather:clouds\n');
  });
});
