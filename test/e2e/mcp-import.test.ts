import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openWorld, type World } from './world.ts';

const KEY = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

function write(directory: string, files: Readonly<Record<string, unknown>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** Writes the files of several products, and returns the path of the user's file of servers. */
function configureProducts({ sandbox: { home, workspace } }: World): string {
  write(home, {
    '.claude.json': {
      mcpServers: { github: { command: 'gh-server', env: { GITHUB_TOKEN: KEY } } },
      projects: { [workspace]: { mcpServers: { local: { command: 'local-server' } } } },
    },
    '.cursor/mcp.json': `{
      // The same server as in Claude Code, and another one of the name of an existing server.
      "mcpServers": {
        "local": { "command": "local-server" },
        "docs": { "url": "https://example.org/mcp" },
      }
    }`,
    '.codex/config.toml': `[mcp_servers.files]\ncommand = "files-server"\nstartup_timeout_sec = 5\n`,
    '.codeium/windsurf/mcp_config.json': {
      mcpServers: { old: { url: 'ws://example.org' }, 'bad\u001b[31m': 3 },
    },
    '.qwen/settings.json': '{ not JSON',
    '.config/muster/mcp.json': { mcpServers: { docs: { command: 'docs-server' } } },
  });
  write(workspace, { '.vscode/mcp.json': { servers: { theirs: { command: './run.sh' } } } });
  return join(home, '.config/muster/mcp.json');
}

describe.concurrent('muster mcp import', () => {
  it('lists what other products have, and adds the new servers of the user', async () => {
    await using world = await openWorld();
    const file = configureProducts(world);
    const { home, workspace } = world.sandbox;
    const run = await world.run(['mcp', 'import', '--yes']);
    expect(run.stderr).toBe(`muster: ${home}/.qwen/settings.json: it is not valid JSON\n`);
    expect(run.stdout).toBe(
      [
        `Claude Code (${home}/.claude.json)`,
        '  new       local: local-server',
        '  new       github: gh-server',
        '            ! env.GITHUB_TOKEN looks secret and is copied as it is; a variable such as ${TOKEN} is safer',
        `Cursor (${home}/.cursor/mcp.json)`,
        `  exists    local: it is in ${home}/.claude.json already`,
        `  left out  docs: another server of this name is in ${file}`,
        `VS Code (${workspace}/.vscode/mcp.json, a file of this project)`,
        '  new       theirs: ./run.sh (in the sandbox)',
        `Codex (${home}/.codex/config.toml)`,
        '  new       files: files-server',
        `Windsurf (${home}/.codeium/windsurf/mcp_config.json)`,
        '  left out  old: url: it must be a URL that begins with http:// or https://',
        '  left out  bad⟨U+001B⟩[31m: the name must be one line of at most 100 visible characters',
        `Added 3 servers to ${file}. Try them: muster mcp test NAME`,
        'The servers of this project were not added: to look at them and be asked, run it without --yes.',
        '',
      ].join('\n'),
    );
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      mcpServers: {
        local: { command: 'local-server', args: [] },
        github: { command: 'gh-server', args: [], env: { GITHUB_TOKEN: KEY } },
        files: { command: 'files-server', args: [], startSeconds: 5 },
        docs: { command: 'docs-server' },
      },
    });
    const second = await world.run(['mcp', 'import', '--yes']);
    expect(second.stdout).toContain(`exists    github: it is in ${file} already`);
    expect(second.stdout).toContain('Nothing was added.');
  });

  it('with --json only lists, and prints no secret', async () => {
    await using world = await openWorld();
    const file = configureProducts(world);
    const before = readFileSync(file, 'utf8');
    const run = await world.run(['mcp', 'import', '--json']);
    expect(run.stdout).not.toContain(KEY);
    const report = JSON.parse(run.stdout) as { servers: readonly { name: string }[] };
    expect(report).toMatchObject({ file, added: [] });
    expect(report.servers.find(({ name }) => name === 'github')).toEqual({
      name: 'github',
      product: 'Claude Code',
      file: join(world.sandbox.home, '.claude.json'),
      scope: 'user',
      state: 'new',
      reason: null,
      target: 'gh-server',
      isSandboxed: false,
      secrets: ['env.GITHUB_TOKEN'],
      notes: [],
    });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it('masks keys among the arguments and in URLs', async () => {
    await using world = await openWorld();
    const mcpServers = {
      flags: { command: 'run', args: ['--api-key', 'short', '--token=x', '--name', 'me'] },
      words: { command: 'run', args: [KEY] },
      url: { url: 'https://example.org/mcp?api_key=abc&user=me' },
    };
    write(world.sandbox.home, { '.cursor/mcp.json': { mcpServers } });
    const run = await world.run(['mcp', 'import', '--json']);
    const { servers } = JSON.parse(run.stdout) as {
      servers: readonly { target: string; secrets: readonly string[] }[];
    };
    expect(servers.map(({ target, secrets }) => [target, secrets])).toEqual([
      ['run --api-key [key] --token=[key] --name me', ['args']],
      ['run [key]', ['args']],
      ['https://example.org/mcp?api_key=[key]&user=me', ['url']],
    ]);
  });

  it('adds nothing without an answer, and says if there is nothing', async () => {
    await using world = await openWorld();
    expect((await world.run(['mcp', 'import'])).stdout).toBe(
      'No other product has MCP servers for you or this project.\n',
    );
    const { home } = world.sandbox;
    write(home, { '.cursor/mcp.json': { mcpServers: { docs: { command: 'run' } } } });
    const run = await world.run(['mcp', 'import']);
    expect([run.code, run.stderr]).toEqual([
      2,
      'muster: there is no terminal to ask on; to add what is shown, add --yes\n',
    ]);
    expect(existsSync(join(home, '.config/muster/mcp.json'))).toBe(false);
  });
});
