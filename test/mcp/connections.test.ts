import { expect, test } from 'vitest';
import type { McpProgress } from '../../src/mcp/server-data.ts';
import type { ServerCommand } from '../../src/mcp/server-process.ts';
import { startServerProgram } from '../../src/sys/processes/server-process.ts';
import { findMarked } from '../e2e/processes.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { createHost, EVERYTHING, FAULTY, firstText, FOREVER, tempDirectory } from './support.ts';

test('nothing is started before the first request, and the session has the newest revision', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  expect(host.connections.status()).toMatchObject([{ state: 'stopped', users: 1, info: null }]);
  expect(host.notes()).toEqual([]);
  expect(await server.start(FOREVER)).toEqual({
    name: 'everything',
    version: '1.2.3',
    protocolVersion: '2026-07-28',
    instructions: 'Use echo first.',
    hasTools: true,
    hasResources: true,
    hasPrompts: true,
    hasCompletion: true,
  });
  expect(host.connections.status()).toMatchObject([{ state: 'ready', failure: null }]);
  expect(host.events).toEqual([
    { type: 'started', protocolVersion: '2026-07-28', isRestart: false },
  ]);
});

test('twelve users share one process, and a call of each reaches it', async () => {
  const host = createHost();
  const entry = host.stdio(EVERYTHING);
  const users = Array.from({ length: 12 }, () => host.open(entry));
  const pids = await Promise.all(
    users.map(async (user) => firstText(await user.callTool('pid', {}, { signal: FOREVER }))),
  );
  expect(new Set(pids).size).toBe(1);
  expect(host.notes()).toEqual([`start ${pids[0]}`]);
  await Promise.all(users.map((user) => user.release()));
  expect(host.connections.status()).toMatchObject([{ state: 'ready', users: 0 }]);
});

test('a connection of one user, and one that only a definition has, end with the last use', async () => {
  const host = createHost();
  const own = host.stdio(EVERYTHING, {}, { own_connection: true });
  const defined = {
    ...host.stdio(EVERYTHING),
    origin: { scope: 'user', file: 'a.md', definition: 'a' } as const,
  };
  const users = [own, own, defined, defined].map((entry) => host.open(entry));
  const pids = await Promise.all(
    users.map(async (user) => firstText(await user.callTool('pid', {}, { signal: FOREVER }))),
  );
  expect(new Set(pids).size).toBe(3);
  for (const user of users) await user.release();
  expect(host.connections.status()).toEqual([]);
  expect(findMarked(host.mark)).toEqual([]);
});

test('a server is restarted on request, and ended until its next use', async () => {
  const host = createHost();
  const entry = host.stdio(EVERYTHING);
  const server = host.open(entry);
  const pid = async () => firstText(await server.callTool('pid', {}, { signal: FOREVER }));
  const first = await pid();
  await host.connections.restart(entry, FOREVER);
  expect(host.connections.status()).toMatchObject([{ state: 'ready' }]);
  const second = await pid();
  expect(second).not.toBe(first);
  host.connections.stop(entry);
  expect(host.connections.status()).toMatchObject([{ state: 'stopped', failure: null }]);
  expect(await pid()).not.toBe(second);
  // An equal server of another place is another one.
  await host.connections.restart({ ...entry, name: 'other' }, FOREVER);
});

test('tools are listed with their annotations, without those that the entry leaves out', async () => {
  const host = createHost();
  const server = host.open(
    host.stdio(EVERYTHING, {}, { tools: ['echo', 'pid'], disabled_tools: ['pid'] }),
  );
  expect(await server.listTools(FOREVER)).toEqual({
    items: [
      {
        name: 'echo',
        title: 'Echo',
        description: 'Returns the text.',
        inputSchema: expect.objectContaining({ type: 'object', required: ['text'] }),
        annotations: { readOnly: true },
      },
    ],
    isComplete: true,
  });
});

test('every kind of content of a result is kept', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  const call = (tool: string) => server.callTool(tool, {}, { signal: FOREVER });
  expect([await call('all-content'), await call('structured'), await call('fail')]).toEqual([
    {
      content: [
        { type: 'text', text: 'one' },
        { type: 'image', data: 'aW1n', mediaType: 'image/png' },
        { type: 'audio', data: 'c25k', mediaType: 'audio/wav' },
        { type: 'resource', uri: 'test://text', mediaType: 'text/plain', text: 'inside' },
        { type: 'resource', uri: 'test://blob', data: 'YmxvYg==' },
        { type: 'resource_link', uri: 'test://link', name: 'link', description: 'a link' },
      ],
      isError: false,
    },
    { content: [{ type: 'text', text: '{"sum":3}' }], structured: { sum: 3 }, isError: false },
    { content: [{ type: 'text', text: 'it went wrong' }], isError: true },
  ]);
});

test('resources, templates, prompts and completion', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  expect({
    resources: await server.listResources(FOREVER),
    templates: await server.listResourceTemplates(FOREVER),
    text: await server.readResource('test://text', FOREVER),
    page: await server.readResource('test://page/7', FOREVER),
    prompts: await server.listPrompts(FOREVER),
    prompt: await server.getPrompt('review', { file: 'a.ts' }, FOREVER),
    files: await server.complete(
      { of: { prompt: 'review' }, argument: 'file', value: 'b' },
      FOREVER,
    ),
    numbers: await server.complete(
      { of: { uriTemplate: 'test://page/{number}' }, argument: 'number', value: '1' },
      FOREVER,
    ),
  }).toEqual({
    resources: {
      items: [{ uri: 'test://text', name: 'text', mediaType: 'text/plain' }],
      isComplete: true,
    },
    templates: {
      items: [{ uriTemplate: 'test://page/{number}', name: 'page', description: 'A page.' }],
      isComplete: true,
    },
    text: [{ uri: 'test://text', mediaType: 'text/plain', text: 'the content' }],
    page: [{ uri: 'test://page/7', text: 'page 7' }],
    prompts: {
      items: [
        {
          name: 'review',
          description: 'Reviews a file.',
          arguments: [{ name: 'file', isRequired: true }],
        },
      ],
      isComplete: true,
    },
    prompt: { messages: [{ role: 'user', content: { type: 'text', text: 'Review a.ts.' } }] },
    files: ['b.ts'],
    numbers: ['1', '12'],
  });
});

test('progress is passed on', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  const seen: McpProgress[] = [];
  const onProgress = (progress: McpProgress) => void seen.push(progress);
  const controller = new AbortController();
  const { signal } = controller;
  // Progress that arrives together with the result is not passed on, so the call has many more steps than are read.
  const call = server.callTool('slow', { steps: 1000, ms: 20 }, { signal, onProgress });
  await waitUntilPasses(() => expect(seen.length).toBeGreaterThan(1));
  controller.abort();
  await expect(call).rejects.toThrow('cancelled');
  expect(seen.slice(0, 2)).toEqual([
    { progress: 1, total: 1000, message: 'step 1' },
    { progress: 2, total: 1000, message: 'step 2' },
  ]);
});

test('progress keeps a call alive beyond the limit for silence', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING, {}, { call_seconds: 1.5 }));
  const result = await server.callTool('slow', { steps: 5, ms: 500 }, { signal: FOREVER });
  expect(firstText(result)).toBe('done');
});

test('an abort cancels the call in the server, and others go on', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  const controller = new AbortController();
  const call = server.callTool('slow', { steps: 1000, ms: 50 }, { signal: controller.signal });
  await waitUntilPasses(() => expect(host.notes()).toContain('slow started'));
  controller.abort();
  await expect(call).rejects.toMatchObject({
    message: 'MCP server s: the request was cancelled',
    kind: 'cancelled',
    code: 'CANCELLED',
    isOutcomeUnknown: true,
  });
  await waitUntilPasses(() => expect(host.notes()).toContain('slow cancelled'));
  const echo = await server.callTool('echo', { text: 'still there' }, { signal: FOREVER });
  expect(firstText(echo)).toBe('echo: still there');
});

test('log messages of a server are events', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  await server.callTool('log', {}, { signal: FOREVER });
  await waitUntilPasses(() =>
    expect(host.events).toContainEqual({
      type: 'log',
      level: 'warning',
      text: 'part: {"what":"happened"}',
      callIds: [],
    }),
  );
});

test('a changed list of tools is reported, and the next list has the new tool', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  const names = async () => (await server.listTools(FOREVER)).items.map(({ name }) => name);
  expect(await names()).not.toContain('added');
  await server.callTool('add-tool', {}, { signal: FOREVER });
  await waitUntilPasses(() =>
    expect(host.events).toContainEqual({ type: 'list-changed', list: 'tools' }),
  );
  expect(await names()).toContain('added');
});

test('500 tools with names of 200 characters are listed and called', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING, { TOOL_COUNT: '500' }));
  const { items, isComplete } = await server.listTools(FOREVER);
  const long = items.filter(({ name }) => name.length > 200).map(({ name }) => name);
  expect([long.length, isComplete]).toEqual([500, true]);
  const result = await server.callTool(long[499] ?? '', {}, { signal: FOREVER });
  expect(firstText(result)).toBe('tool 499');
});

test('a result of 10 MB arrives', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  const result = await server.callTool('big', { bytes: 10_000_000 }, { signal: FOREVER });
  expect(firstText(result).length).toBe(10_000_000);
});

test('an idle server is stopped, and the next request starts it again', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING, {}, { idle_seconds: 0.3 }));
  const pid = async () => firstText(await server.callTool('pid', {}, { signal: FOREVER }));
  const first = await pid();
  await waitUntilPasses(() =>
    expect(host.events).toContainEqual({ type: 'stopped', reason: 'idle' }),
  );
  await waitUntilPasses(() => expect(findMarked(host.mark)).toEqual([]));
  expect(await pid()).not.toBe(first);
  // Nothing was lost, so the second start is no restart.
  expect(host.events.filter(({ type }) => type === 'started')).toEqual([
    { type: 'started', protocolVersion: '2026-07-28', isRestart: false },
    { type: 'started', protocolVersion: '2026-07-28', isRestart: false },
  ]);
});

test('a server gets a clean environment, its own variables and its directory', async () => {
  const directory = tempDirectory();
  const values: string[] = [];
  const environment = {
    PATH: `relative:${process.env['PATH']}`,
    HOME: '/home/u',
    SECRET_TOKEN: 'no',
    GIVEN: 'yes',
    HTTPS_PROXY: 'http://proxy:1',
    NODE_OPTIONS: '--no-such-option',
  };
  const host = createHost({
    variables: { environment, ownSecrets: new Set(), project: directory, home: '/home/u' },
    onVariables: (used) => values.push(...used.values()),
  });
  const server = host.open(
    host.stdio(EVERYTHING, { TOKEN: '${GIVEN}' }, { cwd: '${workspaceFolder}' }),
  );
  const env: unknown = JSON.parse(firstText(await server.callTool('env', {}, { signal: FOREVER })));
  expect(env).toMatchObject({ HOME: '/home/u', TOKEN: 'yes', HTTPS_PROXY: 'http://proxy:1' });
  expect(env).not.toHaveProperty('SECRET_TOKEN');
  expect(env).not.toHaveProperty('GIVEN');
  expect(env).not.toHaveProperty('NODE_OPTIONS');
  expect((env as { PATH: string }).PATH.split(':')).not.toContain('relative');
  expect(firstText(await server.callTool('cwd', {}, { signal: FOREVER }))).toBe(directory);
  expect(values.toSorted()).toEqual([directory, 'yes'].toSorted());
});

test('a program of the caller can start the process, for example in a sandbox', async () => {
  const commands: ServerCommand[] = [];
  const host = createHost({
    startProcess: async (command) => {
      commands.push(command);
      const [file, ...args] = command.argv;
      return startServerProgram({
        file: '/usr/bin/env',
        args: ['WRAPPED=1', file, ...args],
        cwd: command.cwd,
        env: command.env,
      });
    },
  });
  const entry = host.stdio(EVERYTHING);
  const server = host.open(entry);
  const env: unknown = JSON.parse(firstText(await server.callTool('env', {}, { signal: FOREVER })));
  expect(env).toMatchObject({ WRAPPED: '1' });
  expect(commands).toMatchObject([{ entry, argv: [process.execPath, EVERYTHING] }]);
});

test('after the end of all connections, every request fails', async () => {
  const host = createHost();
  const server = host.open(host.stdio(EVERYTHING));
  const running = server.callTool('slow', { steps: 1000, ms: 50 }, { signal: FOREVER });
  const failed = expect(running).rejects.toMatchObject({ kind: 'closed' });
  await waitUntilPasses(() => expect(host.notes()).toContain('slow started'));
  await host.connections.close();
  await failed;
  expect(findMarked(host.mark)).toEqual([]);
  await expect(server.listTools(FOREVER)).rejects.toThrow(
    'MCP server s: all connections were closed',
  );
  await expect(host.open(host.stdio(EVERYTHING)).start(FOREVER)).rejects.toMatchObject({
    kind: 'closed',
  });
});

test('a process that is closed while it starts does not stay', async () => {
  const host = createHost();
  const server = host.open(host.stdio(FAULTY, { FAULT: 'silent' }));
  const starting = expect(server.start(FOREVER)).rejects.toMatchObject({ kind: 'closed' });
  await waitUntilPasses(() => expect(host.notes().length).toBe(1));
  await host.connections.close();
  await starting;
  expect(findMarked(host.mark)).toEqual([]);
});
