import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { callsInTurn, lastResults, openWorld } from './world.ts';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** A web server of this machine that counts its connections. */
async function serveWeb(respond: Respond) {
  const server = createServer(respond);
  let connections = 0;
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    port,
    countConnections: () => connections,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const PAGE = `<!doctype html><title>Release notes</title><body><nav>Home | Blog</nav><main><h1>Version 24</h1>
<p>${'The release fixes many things. '.repeat(200)}</p><p>The code name is Krypton.</p></main></body>`;

const servePage: Respond = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(PAGE);
};

const fetchCall = (url: string, more: object = {}) => ({
  name: 'WebFetch',
  input: { url, ...more },
});

const JSON_OUTPUT = ['--output-format', 'json'];
const ALLOW_LOCALHOST = ['--allow', 'WebFetch(domain:localhost)'];

describe.concurrent('WebFetch', () => {
  it('returns a page as text under a rule for its host, marked as outside text', async () => {
    await using web = await serveWeb(servePage);
    const url = `http://localhost:${web.port}/notes`;
    await using world = await openWorld({ script: callsInTurn([fetchCall(url)]) });
    await world.run(['-p', 'go', ...ALLOW_LOCALHOST]);
    const [result] = lastResults(world.model);
    expect(result?.isError).toBe(false);
    expect(result?.text).toMatch(/^\[http:\/\/localhost:\d+\/notes: Release notes\]\n/);
    expect(result?.text).toContain('# Version 24');
    expect(result?.text).toContain('The code name is Krypton.');
    expect(result?.text).not.toContain('Home | Blog');
  });

  it('lets a small model answer from a large page, and counts that request', async () => {
    await using web = await serveWeb(servePage);
    const url = `http://localhost:${web.port}/notes`;
    const script = (request: RecordedRequest): Answer => {
      if (request.tools.length === 0) return { text: 'Krypton' };
      return toolResultRounds(request) === 0
        ? { toolCalls: [fetchCall(`${url}?key=secret`, { prompt: 'What is the code name?' })] }
        : { text: 'done' };
    };
    await using world = await openWorld({ script });
    const run = await world.run(['-p', 'go', ...ALLOW_LOCALHOST, '--output-format', 'stream-json']);
    const [result] = lastResults(world.model);
    expect(result?.text).toMatch(/\nKrypton$/);
    expect(result?.text).not.toContain('fixes many things');
    const asked = world.model.requests.find(({ tools }) => tools.length === 0);
    expect(asked?.model).toContain('haiku');
    const ended = eventsOf(run).find(({ type }) => type === 'request.ended');
    expect(ended).toMatchObject({
      purpose: `answer from ${url}?…`,
      failure: null,
      usage: { output: expect.any(Number) },
    });
  });

  it('returns the page itself if the small model answers nothing', async () => {
    await using web = await serveWeb(servePage);
    const url = `http://localhost:${web.port}/notes`;
    const script = (request: RecordedRequest): Answer => {
      if (request.tools.length === 0) return { text: ' ' };
      return toolResultRounds(request) === 0
        ? { toolCalls: [fetchCall(url, { prompt: 'What is the code name?' })] }
        : { text: 'done' };
    };
    await using world = await openWorld({ script });
    await world.run(['-p', 'go', ...ALLOW_LOCALHOST]);
    const [result] = lastResults(world.model);
    expect(result?.text).toMatch(/\[no answer from the page: .+\. This is the page itself\]/);
    expect(result?.text).toContain('The code name is Krypton.');
  });

  it('is refused without a rule, and no connection is made', async () => {
    await using web = await serveWeb(servePage);
    const url = `http://localhost:${web.port}/`;
    await using world = await openWorld({ script: callsInTurn([fetchCall(url)]) });
    for (const rules of [[], ['--allow', 'WebFetch'], ['--permission-mode', 'autonomous']]) {
      // oxlint-disable-next-line no-await-in-loop -- one run after another
      const run = await world.run(['-p', 'go', ...rules, ...JSON_OUTPUT]);
      expect(envelopeOf(run).data.status).toBe('completed');
      expect(lastResults(world.model)[0]?.text).toContain(
        "A user can allow it with --allow 'WebFetch(domain:localhost)'.",
      );
    }
    expect(web.countConnections()).toBe(0);
  });

  it('names the new address if a page has moved to another host', async () => {
    await using web = await serveWeb((_, response) => {
      response.writeHead(302, { location: 'https://example.org/new' }).end();
    });
    const url = `http://localhost:${web.port}/`;
    await using world = await openWorld({ script: callsInTurn([fetchCall(url)]) });
    await world.run(['-p', 'go', ...ALLOW_LOCALHOST]);
    expect(lastResults(world.model)[0]?.text).toContain(
      '[redirected to another host: call WebFetch again with https://example.org/new]',
    );
  });

  it('is shared by all children of a tree for a while', async () => {
    let requests = 0;
    await using web = await serveWeb((request, response) => {
      requests += 1;
      servePage(request, response);
    });
    const url = `http://localhost:${web.port}/notes`;
    const script = (request: RecordedRequest): Answer => {
      const isChild = !request.tools.some(({ name }) => name === 'AskUser');
      if (toolResultRounds(request) > 0) return { text: 'done' };
      if (isChild) return { toolCalls: [fetchCall(url)] };
      const task = {
        name: 'Task',
        input: { prompt: 'look', description: 'look', subagent_type: 'Explore' },
      };
      return { toolCalls: [task, task, task] };
    };
    await using world = await openWorld({ script });
    await world.run(['-p', 'go', ...ALLOW_LOCALHOST]);
    expect(requests).toBe(1);
  });
});

describe.concurrent('WebSearch', () => {
  const searchCall = { name: 'WebSearch', input: { query: 'latest AI papers' } };

  it('is not offered without a service', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    await world.run(['-p', 'go'], { env: { MUSTER_WEB_SEARCH: 'off' } });
    const names = world.model.requests[0]?.tools.map(({ name }) => name);
    expect(names).toContain('WebFetch');
    expect(names).not.toContain('WebSearch');
  });

  it('asks the configured service', async () => {
    await using web = await serveWeb((_, response) => {
      response.end(
        JSON.stringify({
          results: [{ url: 'https://arxiv.org/abs/1', title: 'A paper', content: 'About agents.' }],
        }),
      );
    });
    await using world = await openWorld({ script: callsInTurn([searchCall]) });
    const env = { SEARXNG_URL: `http://localhost:${web.port}` };
    await world.run(['-p', 'go', '--allow', 'WebSearch'], { env });
    expect(lastResults(world.model)[0]?.text).toContain(
      '1. A paper\nhttps://arxiv.org/abs/1\nAbout agents.',
    );
  });
});
