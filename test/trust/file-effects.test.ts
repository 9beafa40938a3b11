import { expect, test } from 'vitest';
import { serverEffects } from '../../src/trust/file-effects.ts';

test('the effects of a project name the variables and headers of its servers, and commands for headers', async () => {
  const mcpServers = {
    web: {
      url: 'https://x.dev/${TENANT}',
      headers: { Authorization: 'Bearer ${GITHUB_PAT}' },
      headersHelper: './headers.sh',
    },
    local: {
      command: 'run',
      args: ['${workspaceFolder}', '${env:A:-b}'],
      env: { T: '${A}' },
      sandbox: false,
    },
  };
  expect(await serverEffects(Buffer.from(JSON.stringify({ mcpServers })))).toEqual({
    lines: [
      'server web: connects to https://x.dev/${TENANT}',
      'server web: sends the headers Authorization',
      'server web: runs a command for headers in the sandbox before each connection: ./headers.sh',
      'server web: reads the variables TENANT, GITHUB_PAT',
      'server local: runs "run" "${workspaceFolder}" "${env:A:-b}" in the sandbox',
      'server local: sets T',
      'server local: reads the variables A',
      "! .mcp.json: server local: sandbox: a project's server runs in the sandbox; only a file of yours can say false",
    ],
    problems: [],
  });
});
