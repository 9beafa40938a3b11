import { expect, it } from 'vitest';
import { TRUST_ALL } from '../../src/sys/files/project-file.ts';
import { loadConfig, readConfig } from '../../src/config/load.ts';
import { listConfigEntries } from '../../src/config/show.ts';
import { makePlace, problemsIn } from './support.ts';

const TEXT = `[models]

[mcp.files]
command = "npx"
args = ["-y", "server"]
env = { TOKEN = "secret" }

[mcp."my docs"]
url = "https://example.org/mcp"
`;

it('MCP servers are read as they are written, with their locations', async () => {
  const place = makePlace({ user: TEXT });
  const { config } = await loadConfig(place.inputs());
  const where = (line: number) => `${place.userFile}:${line}`;
  expect(config.mcp).toEqual({
    file: place.userFile,
    servers: new Map([
      [
        'files',
        {
          table: { command: 'npx', args: ['-y', 'server'], env: { TOKEN: 'secret' } },
          where: where(3),
        },
      ],
      ['my docs', { table: { url: 'https://example.org/mcp' }, where: where(8) }],
    ]),
  });
});

it('the list of settings names the variables of a server without their values', async () => {
  const place = makePlace({ user: TEXT });
  const entries = listConfigEntries(await loadConfig(place.inputs()));
  expect(entries.filter(({ key }) => key.startsWith('mcp.'))).toEqual([
    {
      key: 'mcp.files',
      value: { command: 'npx', args: ['-y', 'server'], env: ['TOKEN'] },
      default: 'none',
      source: `${place.userFile}:3`,
      acts: true,
      meaning: 'an MCP server of yours',
    },
    {
      key: 'mcp.my docs',
      value: { url: 'https://example.org/mcp' },
      default: 'none',
      source: `${place.userFile}:8`,
      acts: true,
      meaning: 'an MCP server of yours',
    },
  ]);
});

it.each([
  ['mcp = 3\n', 'write it as [mcp.NAME]'],
  ['[mcp]\nfiles = "npx"\n', 'write it as a table: [mcp.files]'],
  ['[mpc.files]\n', 'unknown section [mpc]; valid: [mcp],'],
])('%j is an error', async (text, message) => {
  const problems = await problemsIn(text);
  expect(problems.join('\n')).toContain(message);
});

it('a project cannot configure MCP servers in its configuration', async () => {
  const place = makePlace({ project: '[mcp.files]\ncommand = "npx"\n' });
  const { config, notices, problems } = await readConfig(place.inputs({ trust: TRUST_ALL }));
  expect([config.mcp, problems]).toEqual([null, []]);
  expect(notices).toEqual([
    {
      where: `${place.projectFile}:1`,
      message:
        'a project cannot configure MCP servers here; [mcp.files] is ignored. Put it into your own configuration, or into .mcp.json of the project',
    },
  ]);
});
