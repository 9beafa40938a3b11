import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { openSession } from '../../../src/api/open-session.ts';
import { ServerCompletions } from '../../../src/front/tui/terminal/server-completions.ts';
import { startFakeModel, toolResultRounds } from '../../../src/testing/index.ts';
import { buildMcpToolNames } from '../../../src/mcp/tool-names.ts';
import { convertToolSchema } from '../../../src/mcp/tool-schema.ts';
import type { McpServer } from '../../../src/mcp/server-use.ts';
import type { McpProgress } from '../../../src/mcp/server-data.ts';
import { readForm, type FormResult } from '../../../src/mcp/read-form.ts';
import { findMarked } from '../../e2e/processes.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { createHost, firstText, FOREVER, readEntry, tempDirectory, type Host } from '../support.ts';
import { installPackages } from './install.ts';

const VERSION = '2026.8.31';
const options = { signal: FOREVER };
let bin = '';

beforeAll(async () => {
  const names = ['everything', 'filesystem', 'memory', 'sequential-thinking'];
  const packages = names.map((name) => [`@modelcontextprotocol/server-${name}`, VERSION]);
  bin = join(await installPackages(Object.fromEntries(packages)), 'node_modules/.bin');
});

/** Describes one of the installed servers over stdio. */
function installed(host: Host, name: string, args: readonly string[] = [], env = {}) {
  const entry = host.stdio(join(bin, `mcp-server-${name}`), env);
  if (entry.transport.type !== 'stdio') throw new Error('the entry is not for a process');
  return { ...entry, transport: { ...entry.transport, args: [...entry.transport.args, ...args] } };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts the server "everything" over HTTP, and ends it after the test. */
async function startEverything(transport: 'streamableHttp' | 'sse'): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [join(bin, 'mcp-server-everything'), transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const path = transport === 'sse' ? 'sse' : 'mcp';
  const url = `http://127.0.0.1:${port}/${path}`;
  await waitUntilReachable(port);
  return url;
}

async function waitUntilReachable(port: number): Promise<void> {
  const { connect } = await import('node:net');
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Uses every feature of the server "everything". */
async function exercise(server: McpServer): Promise<void> {
  const tools = (await server.listTools(FOREVER)).items.map(({ name }) => name);
  expect(tools).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-tiny-image']));
  const sum = await server.callTool('get-sum', { a: 2, b: 3 }, options);
  expect(firstText(sum)).toContain('5');
  const image = await server.callTool('get-tiny-image', {}, options);
  expect(image.content).toContainEqual({
    type: 'image',
    data: expect.stringMatching(/^iVBOR/),
    mediaType: 'image/png',
  });
  const structured = await server.callTool(
    'get-structured-content',
    { location: 'Chicago' },
    options,
  );
  expect(structured.structured).toMatchObject({ conditions: expect.any(String) });
  const links = await server.callTool('get-resource-links', { count: 2 }, options);
  expect(links.content.filter(({ type }) => type === 'resource_link').length).toBe(2);
  const reference = await server.callTool(
    'get-resource-reference',
    { resourceType: 'Text', resourceId: 1 },
    options,
  );
  expect(reference.content.some(({ type }) => type === 'resource')).toBe(true);

  const progress: McpProgress[] = [];
  const long = await server.callTool(
    'trigger-long-running-operation',
    { duration: 0.4, steps: 4 },
    { signal: FOREVER, onProgress: (each) => void progress.push(each) },
  );
  expect(firstText(long)).toContain('completed');
  expect(progress.slice(0, 3)).toEqual([1, 2, 3].map((step) => ({ progress: step, total: 4 })));

  const controller = new AbortController();
  const cancelled = server.callTool(
    'trigger-long-running-operation',
    { duration: 60, steps: 600 },
    { signal: controller.signal, onProgress: () => controller.abort() },
  );
  await expect(cancelled).rejects.toMatchObject({ kind: 'cancelled' });

  const { items: resources } = await server.listResources(FOREVER);
  expect(resources.length).toBeGreaterThan(1);
  const [content] = await server.readResource(resources[0]?.uri ?? '', FOREVER);
  expect(content?.text?.length).toBeGreaterThan(10);
  const { items: templates } = await server.listResourceTemplates(FOREVER);
  expect(templates.length).toBe(2);
  const { items: prompts } = await server.listPrompts(FOREVER);
  expect(prompts.map(({ name }) => name)).toContain('args-prompt');
  const prompt = await server.getPrompt('args-prompt', { city: 'Oslo', state: '' }, FOREVER);
  expect(JSON.stringify(prompt.messages)).toContain('Oslo');
  const departments = await server.complete(
    { of: { prompt: 'completable-prompt' }, argument: 'department', value: 'E' },
    FOREVER,
  );
  expect(departments).toEqual(['Engineering']);
}

test('everything over stdio', async () => {
  const host = createHost();
  await exercise(host.open(installed(host, 'everything')));
});

test('everything over streamable HTTP', async () => {
  const host = createHost();
  const url = await startEverything('streamableHttp');
  await exercise(host.open(readEntry({ type: 'http', url })));
});

test('everything over the transport before streamable HTTP', async () => {
  const host = createHost();
  const url = await startEverything('sse');
  await exercise(host.open(readEntry({ type: 'sse', url })));
});

test('everything asks the user, logs, and learns of no sampling', async () => {
  const forms: FormResult[] = [];
  const host = createHost({
    ask: (question) => {
      if (question.mode !== 'form') return Promise.resolve({ action: 'decline' });
      forms.push(readForm(question.schema));
      return Promise.resolve({ action: 'accept', content: { name: 'Ada' } });
    },
  });
  const server = host.open(installed(host, 'everything'));
  const tools = (await server.listTools(FOREVER)).items.map(({ name }) => name);
  expect(tools).not.toContain('trigger-sampling-request');
  const asked = await server.callTool('trigger-elicitation-request', {}, options);
  expect(JSON.stringify(asked.content)).toContain('Ada');
  const types = forms.flatMap((form) => (form.ok ? form.fields.map(({ type }) => type) : []));
  expect(new Set(types)).toEqual(
    new Set(['text', 'boolean', 'number', 'integer', 'choice', 'choices']),
  );
  await server.callTool('toggle-simulated-logging', {}, options);
  await waitUntilPasses(() => expect(host.events.some(({ type }) => type === 'log')).toBe(true));
});

test('everything carries out a call as a task, and asks the user while it works', async () => {
  const host = createHost({
    ask: () => Promise.resolve({ action: 'accept', content: { interpretation: 'snake' } }),
  });
  const server = host.open(installed(host, 'everything'));
  const { items } = await server.listTools(FOREVER);
  const tool = 'simulate-research-query';
  expect(items.find(({ name }) => name === tool)?.taskSupport).toBe('required');
  const started = await server.startCall(tool, { topic: 'python', ambiguous: true }, options);
  if (started.kind !== 'task') throw new Error('it is no task');
  expect(started.task.revision).toBe('2025-11-25');
  const statuses: string[] = [];
  const onStatus = (status: string, message: string) => void statuses.push(`${status}: ${message}`);
  const result = await server.followTask(started.task, { ...options, onStatus });
  expect(firstText(result)).toContain('# Research Report: python (snake)');
  expect(statuses.find((status) => status.startsWith('input_required'))).toContain('python');
  // The server cancels a task when it is asked to, and then knows no result of it.
  const other = await server.startCall(tool, { topic: 'cats' }, options);
  if (other.kind !== 'task') throw new Error('it is no task');
  await server.cancelTask(other.task);
  await expect(server.followTask(other.task, { ...options, onStatus })).rejects.toThrow(
    'the server has cancelled the task',
  );
});

test('everything is killed in the middle of a call, and the next call starts it again', async () => {
  const host = createHost();
  const server = host.open(installed(host, 'everything'));
  const killed = server.callTool(
    'trigger-long-running-operation',
    { duration: 60, steps: 600 },
    {
      signal: FOREVER,
      onProgress: () => {
        for (const pid of findMarked(host.mark)) process.kill(pid, 'SIGKILL');
      },
    },
  );
  await expect(killed).rejects.toMatchObject({ kind: 'lost', isOutcomeUnknown: true });
  expect(firstText(await server.callTool('echo', { message: 'again' }, options))).toBe(
    'Echo: again',
  );
});

test('everything returns 10 MB in one result', async () => {
  const host = createHost();
  const message = 'é'.repeat(5_000_000);
  const server = host.open(installed(host, 'everything'));
  expect(firstText(await server.callTool('echo', { message }, options))).toBe(`Echo: ${message}`);
});
test('the resources and prompts of everything reach agents and users', async () => {
  const home = realpathSync(tempDirectory());
  mkdirSync(join(home, '.config/muster'), { recursive: true });
  mkdirSync(join(home, 'project'));
  const command = join(bin, 'mcp-server-everything');
  const mcpServers = { everything: { command: process.execPath, args: [command] } };
  writeFileSync(join(home, '.config/muster/mcp.json'), JSON.stringify({ mcpServers }));
  const toolCalls = ['', 'demo://resource/dynamic/text/1', 'demo://resource/dynamic/blob/1'].map(
    (uri) => ({ name: 'McpResource', input: { server: 'everything', ...(uri && { uri }) } }),
  );
  const model = await startFakeModel({
    script: (request) => (toolResultRounds(request) === 0 ? { toolCalls } : { text: 'done' }),
  });
  onTestFinished(() => model.close());
  const muster = await openSession({
    cwd: join(home, 'project'),
    dataDir: join(home, 'data'),
    environment: { HOME: home, PATH: process.env['PATH'] ?? '', ...model.env('anthropic') },
    flags: [{ key: 'permissions.allow', text: 'mcp__everything', flag: '--allow' }],
  });
  onTestFinished(() => muster.close());
  const words = '/everything:args-prompt Oslo and see @everything:demo://resource/dynamic/text/2';
  const enclosed = await muster.enclose({ to: null, words, outputs: [], images: [] });
  expect(enclosed.problems).toEqual([]);
  await muster.start({ prompt: words, enclosed }).result;
  const [first, second] = model.requests;
  const said = first?.messages.at(0)?.text ?? '';
  expect(said).toMatch(/<prompt (\w+)>\n[^<]*Oslo[^<]*\n<\/prompt \1>/);
  expect(said).toMatch(/<outside (\w+)>\n[^<]*Resource 2[^<]*\n<\/outside \1>/);
  const results = second?.messages.at(-1)?.toolResults.map(({ text }) => text) ?? [];
  expect(results[0]).toContain('demo://resource/dynamic/text/{resourceId} (template)');
  expect(results[1]).toContain('Resource 1');
  expect(results[2]).toMatch(/^\[resource demo:\/\/\S+ \(\S+, \d+ bytes\) is not shown\]$/);

  const content = muster.serverContent;
  if (content === null) throw new Error('there are no servers');
  const [server] = content.servers;
  expect(server?.prompts.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'simple-prompt',
      'args-prompt',
      'completable-prompt',
      'resource-prompt',
    ]),
  );
  const complete = (argument: string, value: string, known = {}) =>
    content.complete('everything', {
      of: { prompt: 'completable-prompt' },
      argument,
      value,
      known,
    });
  expect(await complete('department', 'E')).toEqual(['Engineering']);
  expect((await complete('name', '', { department: 'Engineering' })).length).toBeGreaterThan(1);
  const completions = new ServerCompletions(content, {
    now: () => 0,
    signal: FOREVER,
  });
  const typed = await completions.completeArgument('/everything:completable-prompt E', FOREVER);
  expect(typed?.items.map(({ value }) => value)).toContain('Engineering');
  const uris = await completions.completeResource('everything:demo://resource/dy', FOREVER);
  expect(uris.map(({ value }) => value)).toContain('@everything:demo://resource/dynamic/text/');
}, 60_000);

test('twelve users of everything share one process', async () => {
  const host = createHost();
  const entry = installed(host, 'everything');
  const users = Array.from({ length: 12 }, () => host.open(entry));
  const echoes = await Promise.all(
    users.map((user, index) => user.callTool('echo', { message: `user ${index}` }, options)),
  );
  expect(echoes.map(firstText)).toEqual(users.map((_, index) => `Echo: user ${index}`));
  expect(findMarked(host.mark).length).toBe(1);
});

test('filesystem works on the directories of its arguments', async () => {
  const host = createHost();
  const directory = realpathSync(tempDirectory());
  mkdirSync(join(directory, 'sub'));
  writeFileSync(join(directory, 'sub/a.txt'), 'inside');
  const server = host.open(installed(host, 'filesystem', [directory]));
  const read = await server.callTool(
    'read_text_file',
    { path: join(directory, 'sub/a.txt') },
    options,
  );
  expect(firstText(read)).toBe('inside');
  await server.callTool('write_file', { path: join(directory, 'b.txt'), content: 'new' }, options);
  expect(readFileSync(join(directory, 'b.txt'), 'utf8')).toBe('new');
  const outside = await server.callTool('read_text_file', { path: '/etc/passwd' }, options);
  expect(outside.isError).toBe(true);
  expect(firstText(outside)).toContain('Access denied');
});

test('memory keeps what it is told', async () => {
  const host = createHost();
  const file = join(tempDirectory(), 'memory.jsonl');
  const server = host.open(installed(host, 'memory', [], { MEMORY_FILE_PATH: file }));
  const entities = [{ name: 'Muster', entityType: 'program', observations: ['delegates'] }];
  await server.callTool('create_entities', { entities }, options);
  const found = await server.callTool('search_nodes', { query: 'delegates' }, options);
  expect(JSON.stringify(found.content)).toContain('Muster');
});

test('sequential-thinking takes a thought', async () => {
  const host = createHost();
  const server = host.open(installed(host, 'sequential-thinking'));
  const thought = {
    thought: 'First.',
    nextThoughtNeeded: false,
    thoughtNumber: 1,
    totalThoughts: 1,
  };
  const result = await server.callTool('sequentialthinking', thought, options);
  expect(JSON.parse(firstText(result))).toMatchObject({ thoughtNumber: 1 });
});

test('the tools of all servers get names and schemas without losing a property', async () => {
  const host = createHost();
  const names = ['everything', 'filesystem', 'memory', 'sequential-thinking'];
  const lists = await Promise.all(
    names.map(async (server) => {
      const args = server === 'filesystem' ? [tempDirectory()] : [];
      const { items } = await host.open(installed(host, server, args)).listTools(FOREVER);
      return { server, items };
    }),
  );
  const table = buildMcpToolNames(
    lists.map(({ server, items }) => ({
      server,
      isOfProject: false,
      tools: items.map(({ name }) => name),
    })),
  );
  for (const { server, items } of lists) {
    expect(items.length).toBeGreaterThan(0);
    for (const { name: tool, inputSchema } of items) {
      const name = table.toName({ server, tool }) ?? '';
      expect(name).toBe(`mcp__${server}__${tool}`);
      const keys = (schema: object) =>
        Object.keys((schema as { properties?: object }).properties ?? {});
      expect(keys(convertToolSchema(inputSchema).schema)).toEqual(keys(inputSchema));
    }
  }
});
