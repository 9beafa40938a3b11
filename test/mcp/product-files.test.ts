import { expect, test } from 'vitest';
import { findProductServers, listProductFiles } from '../../src/mcp/product-files.ts';

const PLACES = { environment: {}, home: '/home/u', platform: 'linux', project: '/p' } as const;

function paths(places: Partial<Parameters<typeof listProductFiles>[0]>): readonly string[] {
  return listProductFiles({ ...PLACES, ...places }).map(
    ({ product, path, scope }) => `${product.name} ${scope} ${path}`,
  );
}

test('the files of products are those of the user and those of the project', () => {
  expect(paths({})).toEqual([
    'Claude Code user /home/u/.claude.json',
    'Claude Desktop user /home/u/.config/Claude/claude_desktop_config.json',
    'Cursor user /home/u/.cursor/mcp.json',
    'Cursor project /p/.cursor/mcp.json',
    'VS Code user /home/u/.config/Code/User/mcp.json',
    'VS Code project /p/.vscode/mcp.json',
    'Gemini CLI user /home/u/.gemini/settings.json',
    'Gemini CLI project /p/.gemini/settings.json',
    'Qwen Code user /home/u/.qwen/settings.json',
    'Qwen Code project /p/.qwen/settings.json',
    'Codex user /home/u/.codex/config.toml',
    'Codex project /p/.codex/config.toml',
    'OpenCode user /home/u/.config/opencode/opencode.json',
    'OpenCode user /home/u/.config/opencode/opencode.jsonc',
    'OpenCode project /p/opencode.json',
    'OpenCode project /p/opencode.jsonc',
    'Windsurf user /home/u/.codeium/windsurf/mcp_config.json',
    'Zed user /home/u/.config/zed/settings.json',
    'Zed project /p/.zed/settings.json',
  ]);
});

test('variables and the system change where the files of the user are', () => {
  const environment = {
    CLAUDE_CONFIG_DIR: '/c',
    CODEX_HOME: '/x',
    XDG_CONFIG_HOME: '/xdg',
  };
  expect(
    paths({ environment, platform: 'darwin' }).filter((line) => line.includes('user')),
  ).toEqual([
    'Claude Code user /c/.claude.json',
    'Claude Desktop user /home/u/Library/Application Support/Claude/claude_desktop_config.json',
    'Cursor user /home/u/.cursor/mcp.json',
    'VS Code user /home/u/Library/Application Support/Code/User/mcp.json',
    'Gemini CLI user /home/u/.gemini/settings.json',
    'Qwen Code user /home/u/.qwen/settings.json',
    'Codex user /x/config.toml',
    'OpenCode user /xdg/opencode/opencode.json',
    'OpenCode user /xdg/opencode/opencode.jsonc',
    'Windsurf user /home/u/.codeium/windsurf/mcp_config.json',
    'Zed user /xdg/zed/settings.json',
  ]);
});

const RUN = { command: 'run' };

test.each<[string, unknown, unknown]>([
  ['Cursor', { mcpServers: { s: RUN } }, [['s', RUN]]],
  ['Cursor', { mcpServers: ['run'] }, []],
  ['Cursor', 3, []],
  ['Cursor', { mcpServers: { s: 3 } }, [['s', 3]]],
  [
    'Claude Code',
    {
      mcpServers: { all: RUN },
      projects: { '/p': { mcpServers: { own: RUN } }, '/q': { mcpServers: { other: RUN } } },
    },
    [
      ['own', RUN],
      ['all', RUN],
    ],
  ],
  // Gemini CLI keeps other settings under `mcp`.
  ['Gemini CLI', { mcp: { allowed: ['s'] }, mcpServers: {} }, []],
  [
    'Gemini CLI',
    { mcpServers: { s: { ...RUN, env: { A: '$TOKEN', B: '${X} costs $5' } } } },
    [['s', { ...RUN, env: { A: '${TOKEN}', B: '${X} costs $5' } }]],
  ],
  [
    'VS Code',
    { inputs: [], servers: { s: { url: 'u', headers: { A: 'Bearer ${input:my-key}' } } } },
    [['s', { url: 'u', headers: { A: 'Bearer ${MY_KEY}' } }]],
  ],
  [
    'Codex',
    { mcp_servers: { s: { ...RUN, env: { A: 'b' }, env_vars: ['TOKEN', 3] } } },
    [['s', { ...RUN, env: { TOKEN: '${TOKEN:-}', A: 'b' } }]],
  ],
  [
    'Zed',
    {
      context_servers: {
        old: { source: 'custom', command: { path: 'run', args: ['x'], env: {} } },
        new: { source: 'custom', command: 'run', args: [] },
      },
    },
    [
      ['old', { command: 'run', args: ['x'], env: {} }],
      ['new', { command: 'run', args: [] }],
    ],
  ],
])('%s: %j has the servers %j', (name, content, servers) => {
  const file = listProductFiles(PLACES).find(({ product }) => product.name === name);
  if (file === undefined) throw new Error(`there is no product ${name}`);
  expect(findProductServers(content, file.product, '/p')).toEqual(servers);
});
