import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import {
  agreeInBrowser,
  startAuthorizationServer,
  startProtectedServer,
} from '../mcp/servers/authorization.ts';
import { finishedSoon, reach } from './ending.ts';
import { Sandbox, type Finished, type Running } from './muster.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld, type World } from './world.ts';

/** Writes the file of servers. */
function configure({ home }: Sandbox, url: string): void {
  const config = join(home, '.config/muster');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'mcp.json'), JSON.stringify({ mcpServers: { issues: { url } } }));
}

/** Waits until a login shows the address of its page, and returns it. */
async function readPage(login: Running): Promise<string> {
  let text = '';
  const shown = new Promise<string>((resolve) => {
    login.process.stderr?.on('data', (piece: string) => {
      text += piece;
      const [page] = /http\S+\/authorize\S+(?=\n)/.exec(text) ?? [];
      if (page !== undefined) resolve(page);
    });
  });
  await reach(login, shown);
  return await shown;
}

/** Returns what a run has written to stderr, except for a line that depends on the speed of the machine. */
function readProblems({ stderr }: Finished): string {
  return stderr.replace(/^muster: waiting for the MCP server .*\n/, '');
}

/** Returns all files of the data directory except the one of the logins. */
function readDataFiles({ sandbox: { data } }: World): string {
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'mcp-credentials.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

it('a server that demands a login: the run goes on, the user logs in, and the tokens stay hidden', async () => {
  const issuer = await startAuthorizationServer();
  const server = await startProtectedServer(issuer);
  await using world = await openWorld({
    script: ({ messages }) =>
      messages.length === 1 && JSON.stringify(messages).includes('Say hello')
        ? { toolCalls: [{ name: 'mcp__issues__echo', input: { text: 'hello' } }] }
        : { text: 'The end.' },
  });
  configure(world.sandbox, server.mcp);
  const before = await world.run(['-p', 'Go on']);
  expect([before.code, before.stdout, readProblems(before)]).toEqual([
    0,
    'The end.\n',
    'muster: MCP server issues: it requires a login: run "muster mcp login issues"\n',
  ]);
  const list = async () => (await world.run(['mcp', 'list'])).stdout;
  expect(await list()).toBe(
    `issues  user · not used yet · needs a login: muster mcp login issues · ${server.mcp}\n`,
  );

  const login = world.start(['mcp', 'login', 'issues', '--store', 'file']);
  const answer = await agreeInBrowser(await readPage(login));
  expect([answer.status, await answer.text()]).toEqual([
    200,
    expect.stringContaining('You can close this page.'),
  ]);
  expect(await login.finished).toMatchObject({
    code: 0,
    stdout: [
      `Logged in to issues at ${issuer.url} with the scopes read.`,
      'Muster renews the tokens by itself.',
      `The tokens are in ${join(world.sandbox.data, 'mcp-credentials.json')}, which only you can read. Try them: muster mcp test issues`,
      '',
    ].join('\n'),
  });
  expect(await list()).toContain('issues  user · not used yet · logged in · ');
  const after = await world.run(['-p', 'Say hello', '--allow', 'mcp__issues']);
  expect([after.code, after.stdout, readProblems(after)]).toEqual([0, 'The end.\n', '']);
  expect(JSON.stringify(world.model.requests)).toContain('echo: hello');
  expect(readDataFiles(world)).not.toMatch(/access-[\da-f]{8}|refresh-[\da-f]{8}/);

  // A server of the project at the same address does not get the user's login.
  const theirs = { mcpServers: { theirs: { url: server.mcp } } };
  writeFileSync(join(world.sandbox.workspace, '.mcp.json'), JSON.stringify(theirs));
  await world.run(['trust', 'add', '--yes']);
  expect(await world.run(['mcp', 'test', 'theirs'])).toMatchObject({
    code: 1,
    stderr:
      'muster: PERMISSION_DENIED: MCP server theirs: it requires a login: run "muster mcp login theirs"\n',
  });

  const logout = await world.run(['mcp', 'logout', 'issues']);
  expect([logout.code, logout.stdout, logout.stderr]).toEqual([
    0,
    'Logged out of issues: the tokens are revoked and deleted.\n',
    '',
  ]);
  expect(issuer.accessTokens.size).toBe(0);

  // Ctrl+C ends a login, and an agent cannot begin one.
  const stopped = world.start(['mcp', 'login', 'issues']);
  const back = new URL(new URL(await readPage(stopped)).searchParams.get('redirect_uri') ?? '');
  stopped.process.kill('SIGINT');
  expect(await finishedSoon(stopped.finished)).toMatchObject({ signal: 'SIGINT', stdout: '' });
  await expect(fetch(back)).rejects.toThrow('fetch failed');
  const agent = await world.run(['mcp', 'login', 'issues'], { env: { MUSTER_TASK: 'x' } });
  expect(agent).toMatchObject({ code: 2, stdout: '' });
});

it('a login to a server that nobody serves names the URL, the reason and what to do', async () => {
  await using world = await openWorld();
  configure(world.sandbox, 'http://127.0.0.1:9/mcp');
  expect(await world.run(['mcp', 'login', 'issues'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'muster: PROVIDER_ERROR: MCP server issues: no connection to http://127.0.0.1:9/mcp: no server accepts connections there (ECONNREFUSED); start the server, or correct the host and the port\n',
  });
});

it.runIf(needs('tmux', 'tmux'))(
  'a login on a terminal takes the address that a browser elsewhere could not open',
  async () => {
    const issuer = await startAuthorizationServer();
    const server = await startProtectedServer(issuer);
    using sandbox = new Sandbox();
    configure(sandbox, server.mcp);
    const args = ['mcp', 'login', 'issues', '--store', 'file'];
    const size = [200, 45] as const;
    using terminal = new TmuxTerminal(sandbox, args, { env: {}, size });
    const shown = await terminal.sees('could not open:');
    const page = /http\S+\/authorize[^]*?(?=\nIf)/.exec(shown)?.[0].replaceAll('\n', '') ?? '';
    terminal.type('nonsense');
    terminal.press('Enter');
    await terminal.sees('This address does not belong to this login.');
    const { headers } = await fetch(page, { redirect: 'manual' });
    terminal.paste(`${headers.get('location') ?? ''}\n`);
    expect(await terminal.sees('exit 0')).toContain('Logged in to issues');
    using stopped = new TmuxTerminal(sandbox, args, { env: {}, size });
    await stopped.sees('could not open:');
    stopped.press('C-c');
    await stopped.sees('exit 130');
  },
);
