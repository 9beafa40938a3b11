import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createStarter } from '../../src/api/mcp/server-starter.ts';
import { parseRules } from '../../src/policy/rules/rules.ts';
import { readMcpServers } from '../../src/mcp/read-servers.ts';
import { startServerProgram } from '../../src/sys/processes/server-process.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { findMarked, waitForMarked } from '../e2e/processes.ts';
import { createMachineSandbox, createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
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

const source = { kind: 'flag', where: '--deny' } as const;
const NO_RULES = { allow: [], ask: [], deny: [] };
const denyRules = (...texts: readonly string[]) =>
  parseRules({ ...NO_RULES, deny: texts.map((text) => ({ text, source })) }).rules;

function readProjectEntry(entry: object): McpServerEntry {
  const [read] = readMcpServers({ s: entry }, { scope: 'project', file: '.mcp.json' }).entries;
  return read!;
}

test.runIf(HAS_BUBBLEWRAP)("a project's command for headers runs in the sandbox", async () => {
  const place = new Place();
  const { url, requests } = await startStreamingServer();
  const outside = join(tempDirectory(), 'outside');
  const startProcess = createStarter({
    sandbox: place.sandbox(),
    home: place.home,
    rules: NO_RULES,
  });
  const host = createHost({ cwd: place.root, roots: [place.root], startProcess });
  const headersHelper = `touch ${outside}; touch inside; echo '{"X-Helped": "yes"}'`;
  await host.open(readProjectEntry({ url, headersHelper })).start(FOREVER);
  expect(requests[0]?.headers).toMatchObject({ 'x-helped': 'yes' });
  expect([existsSync(join(place.root, 'inside')), existsSync(outside)]).toEqual([true, false]);
});

test("a project's command for headers is refused without a sandbox", async () => {
  const sandbox = createUnavailableSandbox('it is missing', '');
  const directory = tempDirectory();
  const startProcess = createStarter({
    sandbox,
    home: directory,
    rules: NO_RULES,
  });
  const host = createHost({ cwd: directory, roots: [directory], startProcess });
  const entry = readProjectEntry({ url: 'http://127.0.0.1:9', headersHelper: 'touch inside' });
  await expect(host.open(entry).start(FOREVER)).rejects.toThrow(
    'its headersHelper failed: MCP server s should run in the sandbox, but there is none: it is missing. To run it without, add a server of the same name with the same command to a file of your own: muster mcp add s -- COMMAND…',
  );
  expect(existsSync(join(directory, 'inside'))).toBe(false);
});

test.runIf(HAS_BUBBLEWRAP)(
  'a server in the sandbox does not see or change what rules deny',
  async () => {
    const place = new Place();
    place.write('work/secret/s', 'denied');
    place.write('work/asked', 'asked');
    place.write('work/kept', 'kept');
    const { url, requests } = await startStreamingServer();
    const startProcess = createStarter({
      sandbox: place.sandbox(),
      home: place.home,
      rules: {
        ...denyRules('Read(./secret/**)', 'Edit(./kept)'),
        ask: parseRules({ ...NO_RULES, ask: [{ text: 'Read(./asked)', source }] }).rules.ask,
      },
    });
    const host = createHost({ cwd: place.root, roots: [place.root], startProcess });
    const headersHelper = `exec 2>&-; seen=$(cat secret/s asked); (echo x > kept); (echo x > free); echo "{\\"X-Seen\\": \\"seen $seen\\"}"`;
    await host.open(readProjectEntry({ url, headersHelper })).start(FOREVER);
    expect(requests[0]?.headers).toMatchObject({ 'x-seen': 'seen' });
    const texts = ['kept', 'free'].map((name) => readFileSync(join(place.root, name), 'utf8'));
    expect(texts).toEqual(['kept', 'x\n']);
  },
);

test.runIf(HAS_BUBBLEWRAP)(
  'protected files that a running server creates are taken away and reported',
  async () => {
    const place = new Place();
    const notices: string[] = [];
    const startProcess = createStarter({
      sandbox: place.sandbox(),
      home: place.home,
      rules: NO_RULES,
      onNotice: (line) => notices.push(line),
    });
    const make = 'mkdir $1; echo x > $1/f; echo made';
    const server = await startProcess({
      entry: readProjectEntry({ command: 'sh' }),
      place: { cwd: place.root, roots: [place.root], workspace: null },
      argv: ['/bin/sh', '-c', `f() { ${make}; }; f .vscode; read line; f .husky; cat`],
      cwd: place.root,
      env: { PATH: process.env['PATH'] },
    });
    const vscode = join(place.root, '.vscode');
    // oxlint-disable-next-line unicorn/consistent-function-scoping -- it is about this server
    const taken = (name: string) =>
      `MCP server s: [the sandbox took ${name} out of the workspace, since commands may not make protected files.`;
    await waitUntilPasses(() => {
      expect(notices).toEqual([expect.stringContaining(taken('.vscode'))]);
      expect(existsSync(vscode)).toBe(false);
    });
    server.stdin.write('next\n');
    await server.end();
    expect(existsSync(join(place.root, '.husky'))).toBe(false);
  },
);

test('where the machine itself is the sandbox, a server of a project runs as it is', async () => {
  const directory = tempDirectory();
  const startProcess = createStarter({
    sandbox: createMachineSandbox(),
    home: directory,
    rules: NO_RULES,
  });
  const server = await startProcess({
    entry: readProjectEntry({ command: 'sh' }),
    place: { cwd: directory, roots: [directory], workspace: null },
    argv: ['/bin/sh', '-c', 'echo > made'],
    cwd: directory,
    env: {},
  });
  await server.ended;
  await server.end();
  expect(existsSync(join(directory, 'made'))).toBe(true);
});
