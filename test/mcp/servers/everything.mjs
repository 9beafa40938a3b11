/**
 * A server over stdio that is written with the SDK. `MODE=legacy` answers no request of the revision 2026-07-28.
 */
import {
  McpServer,
  ResourceTemplate,
  completable,
  inputRequired,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const { LOG_FILE, TOOL_COUNT, MODE } = process.env;
export function note(text) {
  if (LOG_FILE) appendFileSync(LOG_FILE, `${text}\n`);
}

export function createServer() {
  const server = new McpServer(
    { name: 'everything', version: '1.2.3' },
    { instructions: 'Use echo first.', capabilities: { logging: {} } },
  );
  server.registerTool(
    'echo',
    {
      title: 'Echo',
      description: 'Returns the text.',
      inputSchema: z.object({ text: z.string() }),
      annotations: { readOnlyHint: true },
    },
    ({ text }) => ({ content: [{ type: 'text', text: `echo: ${text}` }] }),
  );
  server.registerTool('pid', { description: 'Returns the process id.' }, () => ({
    content: [{ type: 'text', text: String(process.pid) }],
  }));
  server.registerTool('env', { description: 'Returns the environment.' }, () => ({
    content: [{ type: 'text', text: JSON.stringify(process.env) }],
  }));
  server.registerTool('cwd', { description: 'Returns the directory.' }, () => ({
    content: [{ type: 'text', text: process.cwd() }],
  }));
  server.registerTool('all-content', { description: 'Returns every kind of content.' }, () => ({
    content: [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'aW1n', mimeType: 'image/png' },
      { type: 'audio', data: 'c25k', mimeType: 'audio/wav' },
      {
        type: 'resource',
        resource: { uri: 'test://text', mimeType: 'text/plain', text: 'inside' },
      },
      { type: 'resource', resource: { uri: 'test://blob', blob: 'YmxvYg==' } },
      { type: 'resource_link', uri: 'test://link', name: 'link', description: 'a link' },
    ],
  }));
  server.registerTool(
    'structured',
    { description: 'Returns data.', outputSchema: z.object({ sum: z.number() }) },
    () => ({ content: [{ type: 'text', text: '{"sum":3}' }], structuredContent: { sum: 3 } }),
  );
  server.registerTool('fail', { description: 'Fails.' }, () => ({
    content: [{ type: 'text', text: 'it went wrong' }],
    isError: true,
  }));
  server.registerTool(
    'slow',
    { description: 'Takes long.', inputSchema: z.object({ steps: z.number(), ms: z.number() }) },
    async ({ steps, ms }, { mcpReq }) => {
      note('slow started');
      mcpReq.signal.addEventListener('abort', () => note('slow cancelled'));
      const progressToken = mcpReq._meta?.progressToken;
      for (let step = 1; step <= steps && !mcpReq.signal.aborted; step += 1) {
        await sleep(ms);
        if (progressToken === undefined) continue;
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: step, total: steps, message: `step ${step}` },
        });
      }
      return { content: [{ type: 'text', text: 'done' }] };
    },
  );
  server.registerTool(
    'big',
    { description: 'Returns a long text.', inputSchema: z.object({ bytes: z.number() }) },
    ({ bytes }) => ({ content: [{ type: 'text', text: 'x'.repeat(bytes) }] }),
  );
  server.registerTool('log', { description: 'Logs.' }, async ({ mcpReq }) => {
    await mcpReq.log('warning', { what: 'happened' }, 'part');
    return { content: [{ type: 'text', text: 'logged' }] };
  });
  server.registerTool('add-tool', { description: 'Adds a tool.' }, () => {
    server.registerTool('added', { description: 'New.' }, () => ({ content: [] }));
    return { content: [{ type: 'text', text: 'added' }] };
  });
  server.registerTool('ask', { description: 'Asks for a name.' }, ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.name;
    if (answer !== undefined) return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
    const name = inputRequired.elicit({ message: 'Your name?', requestedSchema });
    return inputRequired({ inputRequests: { name } });
  });
  server.registerTool('visit', { description: 'Opens a page.' }, ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.page;
    if (answer !== undefined) return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
    const page = inputRequired.elicitUrl({ message: 'Log in.', url: 'https://x.dev/login' });
    return inputRequired({ inputRequests: { page } });
  });
  server.registerTool('die', { description: 'Kills the server.' }, () => {
    process.kill(process.pid, 'SIGKILL');
    return { content: [] };
  });
  for (let count = 0; count < Number(TOOL_COUNT ?? 0); count += 1) {
    server.registerTool(
      `${'long-name-'.repeat(20)}${count}`,
      { description: 'One of many.' },
      () => ({
        content: [{ type: 'text', text: `tool ${count}` }],
      }),
    );
  }
  server.registerResource('text', 'test://text', { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'the content' }],
  }));
  server.registerResource(
    'page',
    new ResourceTemplate('test://page/{number}', {
      list: undefined,
      complete: { number: (value) => ['1', '12', '2'].filter((each) => each.startsWith(value)) },
    }),
    { description: 'A page.' },
    ({ href }, { number }) => ({ contents: [{ uri: href, text: `page ${number}` }] }),
  );
  server.registerPrompt(
    'review',
    {
      description: 'Reviews a file.',
      argsSchema: z.object({
        file: completable(z.string(), (value) =>
          ['a.ts', 'b.ts'].filter((each) => each.startsWith(value)),
        ),
      }),
    },
    ({ file }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Review ${file}.` } }],
    }),
  );
  return server;
}

if (process.argv[1] === import.meta.filename) {
  note(`start ${process.pid}`);
  if (process.env.STDERR) process.stderr.write(process.env.STDERR);
  serveStdio(createServer, MODE === 'modern' ? { legacy: 'reject' } : {});
}
