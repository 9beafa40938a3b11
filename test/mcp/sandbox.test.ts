import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createStarter } from '../../src/api/mcp/open-servers.ts';
import { readMcpServers } from '../../src/mcp/read-servers.ts';
import { startServerProgram } from '../../src/mcp/server-process.ts';
import { findMarked, waitForMarked } from '../e2e/processes.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import { HAS_BUBBLEWRAP, Place } from '../sys/sandbox/support.ts';
import type { McpServerEntry } from '../../src/mcp/server-entry.ts';
import { startStreamingServer } from './servers/http.ts';
import { createHost, FAULTY, firstText, FOREVER, readEntry, tempDirectory } from './support.ts';

test.runIf(HAS_BUBBLEWRAP)('a server runs in the sandbox, and nothing is left of it', async () => {
  const place = new Place();
  const node = place.node();
  copyFileSync(FAULTY, join(place.root, 'faulty.mjs'));
  const sandbox = place.sandbox();
  expect(await sandbox.state()).toMatchObject({ on: true });
  const host = createHost({
    startProcess: async ({ argv, cwd, env }) => {
      const confinement = { access: 'workspace', roots: [place.root], network: true } as const;
      const confined = sandbox.confine({ argv, cwd, env, confinement, stderr: 'command' });
      const process = startServerProgram({ ...confined, cwd });
      const cleanUp = async (): Promise<void> => {
        await process.ended;
        await confined.settle();
        confined.release();
      };
      void cleanUp();
      return process;
    },
  });
  const { mark } = host;
  const [name = '', value = ''] = mark.split('=');
  const server = host.open(
    readEntry({
      command: node,
      args: ['faulty.mjs'],
      cwd: place.root,
      env: { [name]: value, FAULT: 'forks' },
    }),
  );
  const result = await server.callTool('x', {}, { signal: FOREVER });
  expect(firstText(result)).toBe('called x');
  expect(findMarked(mark).length).toBeGreaterThanOrEqual(3);
  // The sandbox ends with the connection, and with it whatever the server has started.
  await host.connections.close();
  await waitForMarked(mark, (pids) => pids.length === 0);
});

function readProjectEntry(entry: object): McpServerEntry {
  const [read] = readMcpServers({ s: entry }, { scope: 'project', file: '.mcp.json' }).entries;
  return read!;
}

test.runIf(HAS_BUBBLEWRAP)("a project's command for headers runs in the sandbox", async () => {
  const place = new Place();
  const { url, requests } = await startStreamingServer();
  const outside = join(tempDirectory(), 'outside');
  const roots = [place.root] as const;
  const startProcess = createStarter({ sandbox: place.sandbox(), roots });
  const host = createHost({ cwd: place.root, startProcess });
  const headersHelper = `touch ${outside}; touch inside; echo '{"X-Helped": "yes"}'`;
  await host.open(readProjectEntry({ url, headersHelper })).start(FOREVER);
  expect(requests[0]?.headers).toMatchObject({ 'x-helped': 'yes' });
  expect([existsSync(join(place.root, 'inside')), existsSync(outside)]).toEqual([true, false]);
});

test("a project's command for headers is refused without a sandbox", async () => {
  const sandbox = createUnavailableSandbox('it is missing', '');
  const directory = tempDirectory();
  const startProcess = createStarter({ sandbox, roots: [directory] });
  const host = createHost({ cwd: directory, startProcess });
  const entry = readProjectEntry({ url: 'http://127.0.0.1:9', headersHelper: 'touch inside' });
  await expect(host.open(entry).start(FOREVER)).rejects.toThrow(
    'its headersHelper failed: MCP server s should run in the sandbox, but there is none: it is missing. To run it without, set "sandbox": false for it in a file of your own',
  );
  expect(existsSync(join(directory, 'inside'))).toBe(false);
});
