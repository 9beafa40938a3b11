import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  API_PATHS,
  answerPath,
  actionPath,
  diffPath,
  eventsPath,
  KEY_HEADER,
  reportPath,
  textPath,
  timelinePath,
  usagePath,
  type ClosedQuestion,
  type CompareReply,
  type DiffReply,
  type LoggedEvent,
  type Overview,
  type SearchReply,
  type StartForm,
  type TaskReportReply,
  type TaskRow,
  type TextPiece,
  type TimelineReply,
  type UsageReply,
  type WebQuestion,
} from '../../../src/front/web/wire.ts';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../../src/testing/index.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { getJson, post, send, StreamClient, type PageServer } from './client.ts';
import { openPageWorld } from './support.ts';

/** A model that calls Bash once, and then answers. */
function asking(request: RecordedRequest): Answer {
  if (toolResultRounds(request) === 0)
    return { toolCalls: [{ name: 'Bash', input: { command: 'touch made' } }] };
  return { text: 'done' };
}

const overviewOf = (server: PageServer) => getJson<Overview>(server, API_PATHS.overview);

async function followChanges(server: PageServer): Promise<StreamClient> {
  const { cursor } = await overviewOf(server);
  return StreamClient.open(server, `${API_PATHS.changes}?after=${cursor}`);
}

/** Waits for the first question of all tasks. */
async function firstQuestion(server: PageServer): Promise<WebQuestion> {
  const stream = await followChanges(server);
  const { questions } = await overviewOf(server);
  const data = questions[0] ?? (await stream.find(({ event }) => event === 'question')).data;
  stream.cut();
  return data as WebQuestion;
}

describe('the page', () => {
  it('is served with its policy, and nothing else of the disk is', async () => {
    const world = await openPageWorld();
    mkdirSync(join(world.directory, 'page'));
    writeFileSync(join(world.directory, 'page/index.html'), '<!doctype html>');
    writeFileSync(join(world.directory, 'page/page-1.js'), '1');
    writeFileSync(join(world.directory, 'secret.js'), 'canary');
    const server = await world.serve();
    const { cookie } = server;
    const get = (path: string) => send(server.origin, { path, headers: { cookie } });
    expect(await get('/')).toMatchObject({
      status: 200,
      body: '<!doctype html>',
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': expect.stringContaining(
          "default-src 'none'; script-src 'self';",
        ),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      },
    });
    expect(await get('/page-1.js')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/javascript; charset=utf-8' },
    });
    for (const path of [
      '/../secret.js',
      '/page/../../secret.js',
      '/%2e%2e/secret.js',
      '/..%2fsecret.js',
      '/page/%2e%2e%2f%2e%2e%2fsecret.js',
      '/secret.js%00.html',
      '/.env',
      '/api/nothing',
      `/${'a'.repeat(5000)}.js`,
      `/${'a/'.repeat(2000)}page-1.js`,
    ]) {
      const { status, body } = await get(path);
      expect([path, status, body.includes('canary')]).toEqual([path, 404, false]);
    }
  });

  it.each([
    ['a wrong host', 'GET /api/overview', { host: 'evil.example' }, 421],
    ['no cookie', 'GET /api/overview', { cookie: '' }, 401],
    ['an old token', 'GET /?token=old', { cookie: '' }, 401],
    ['another origin', 'GET /api/changes', { origin: 'https://evil.example' }, 403],
    ['an action with a cookie alone', 'POST /api/start', { [KEY_HEADER]: '' }, 403],
    ['a form', 'POST /api/start', { 'content-type': 'text/plain' }, 415],
    ['an action as a link', 'GET /api/tasks/abcdefghijkl/stop', {}, 405],
    ['an answer as a link', 'GET /api/questions/abcdefghijkl/abcdefghijklq1/answer', {}, 405],
    ['a path with another host', 'GET //evil.example/api/overview', {}, 400],
    ['an address of another host', 'GET http://evil.example/api/overview', {}, 400],
    ['a body that is no JSON', 'POST /api/start', { body: '{' }, 400],
    ['a body that is no object', 'POST /api/start', { body: '[]' }, 400],
    ['an empty prompt', 'POST /api/start', { body: '{"prompt":" "}' }, 400],
    ['a prompt that is no text', 'POST /api/start', { body: '{"prompt":1}' }, 400],
    ['a large body', 'POST /api/start', { body: 'x'.repeat(1024 * 1024 + 1) }, 413],
    ['a task that does not exist', 'GET /api/tasks/abcdefghijkl/report', {}, 404],
    ['an id that is none', 'GET /api/tasks/a..b/report', {}, 400],
  ])('refuses %s', async (_name, line, { body, ...changed }: Record<string, string>, status) => {
    const world = await openPageWorld();
    const server = await world.serve();
    const [method = '', path = ''] = line.split(' ');
    const headers = {
      cookie: server.cookie,
      ...(method === 'POST'
        ? { origin: server.origin, 'content-type': 'application/json', [KEY_HEADER]: server.key }
        : {}),
      ...changed,
    };
    const refused = await send(server.origin, { method, path, headers, body: body ?? '' });
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      status,
      { error: { code: expect.any(String), message: expect.any(String) } },
    ]);
    expect(refused.headers['content-security-policy']).toContain("default-src 'none'");
    expect(world.notices).toEqual([]);
  });
});

describe('the list of tasks', () => {
  it('follows tasks of another process, and continues where a connection broke', async () => {
    const world = await openPageWorld({ script: () => ({ text: 'done' }) });
    const server = await world.serve();
    const session = await world.openSession();
    const uninterrupted = await followChanges(server);
    let stream = await followChanges(server);
    const received: unknown[] = [];
    for (let round = 0; round < 5; round += 1) {
      const run = session.start({ prompt: `task ${round}` });
      await run.result;
      await stream.find(({ data }) =>
        (data as readonly TaskRow[]).some(({ id, ended }) => id === run.id && ended !== null),
      );
      const { lastId } = stream;
      stream.cut();
      await stream.ended;
      received.push(...stream.messages);
      stream = await StreamClient.open(server, API_PATHS.changes, lastId);
    }
    await waitUntilPasses(() =>
      expect([...received, ...stream.messages]).toEqual(uninterrupted.messages),
    );
    const { tasks } = await overviewOf(server);
    expect(tasks.map(({ title, status }) => [title, status])).toEqual(
      [4, 3, 2, 1, 0].map((round) => [`task ${round}`, 'completed']),
    );
    uninterrupted.cut();
    stream.cut();
  });

  it('says that a page must load it again after the server was restarted', async () => {
    const world = await openPageWorld();
    const first = await world.serve();
    const { cursor } = await overviewOf(first);
    await first.stop();
    const second = await world.serve();
    const stream = await StreamClient.open(second, `${API_PATHS.changes}?after=${cursor}`);
    await stream.ended;
    expect(stream.messages).toEqual([
      {
        event: 'reset',
        id: null,
        data: { reason: 'the cursor is of another run of the server' },
      },
    ]);
  });

  it('is followed by 64 streams at most', async () => {
    const world = await openPageWorld();
    const server = await world.serve();
    const { cursor } = await overviewOf(server);
    const path = `${API_PATHS.changes}?after=${cursor}`;
    const streams = await Promise.all(
      Array.from({ length: 64 }, () => StreamClient.open(server, path)),
    );
    const { cookie } = server;
    const refused = await send(server.origin, { path, headers: { cookie } });
    expect([refused.status, JSON.parse(refused.body).error.message]).toEqual([
      429,
      '64 streams are open, which is the limit: close pages that you do not need',
    ]);
    streams.pop()?.cut();
    await waitUntilPasses(async () => void (await StreamClient.open(server, path)).cut());
    for (const stream of streams) stream.cut();
  });

  it('does not name deleted tasks', async () => {
    const world = await openPageWorld({ script: () => ({ text: 'done' }) });
    const server = await world.serve();
    const session = await world.openSession();
    const run = session.start({ prompt: 'go' });
    await run.result;
    const stream = await followChanges(server);
    await waitUntilPasses(async () => expect((await overviewOf(server)).tasks).toHaveLength(1));
    await session.close();
    await world.openTasks().delete([run.id]);
    await waitUntilPasses(async () => expect((await overviewOf(server)).tasks).toEqual([]));
    expect((await stream.find(({ event }) => event === 'gone')).data).toEqual([run.id]);
    stream.cut();
  });
});

describe('the events of a task', () => {
  it('are sent from the beginning and then live, with long texts in pieces', async () => {
    const long = 'long'.repeat(10_000);
    const world = await openPageWorld({
      script: (request) => (toolResultRounds(request) === 0 ? asking(request) : { text: long }),
    });
    const server = await world.serve();
    const session = await world.openSession();
    const run = session.start({ prompt: 'go' });
    const { question } = await firstQuestion(server);
    const live = await StreamClient.open(server, eventsPath(run.id));
    await live.find(({ event }) => event === 'live');
    session.answer({ question: question.id, text: 'no' });
    await run.result;
    const ended = await live.find(({ data }) => (data as LoggedEvent).event?.type === 'task.ended');
    const stored = [];
    for await (const event of server.tasks.events(run.id)) stored.push(event);
    const logged = live.messages.filter(({ event }) => event === 'log');
    expect(logged.map(({ id }) => Number(id))).toEqual(stored.map(({ seq }) => seq));
    const { cut } = ended.data as LoggedEvent;
    expect(cut).toEqual([{ pointer: '/result', length: long.length }]);
    let text = '';
    while (text.length < long.length) {
      const path = `${textPath(run.id, Number(ended.id))}?pointer=/result&from=${text.length}`;
      text += (await getJson<TextPiece>(server, path)).text;
    }
    expect(text).toBe(long);
    live.cut();
    const rest = await StreamClient.open(server, eventsPath(run.id), String(stored.length - 3));
    await rest.find(({ event }) => event === 'live');
    expect(rest.messages.map(({ id }) => id)).toEqual([
      String(stored.length - 2),
      String(stored.length - 1),
      null,
    ]);
    rest.cut();
  });
});

describe('a question', () => {
  it('is answered once: the others are told who was first', async () => {
    const world = await openPageWorld({ script: asking });
    const asked: string[] = [];
    const onAsked = (each: WebQuestion) => void asked.push(each.question.id);
    const [server, session] = [await world.serve({ onAsked }), await world.openSession()];
    const run = session.start({ prompt: 'go' });
    const { question } = await firstQuestion(server);
    const streams = [await followChanges(server), await followChanges(server)];
    const path = answerPath(question.task, question.id);
    const answer = (client: string) => post(server, path, { answer: 'yes', client });
    const replies = await Promise.all([answer('left'), answer('right')]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const winner = replies[0]?.status === 200 ? 'left' : 'right';
    const lost = replies.find(({ status }) => status === 409);
    expect(JSON.parse(lost?.body ?? '')).toEqual({
      error: { code: 'CONFLICT', message: expect.stringContaining(`question ${question.id} is`) },
    });
    for (const stream of streams) {
      const { data } = await stream.find(({ event }) => event === 'closed');
      expect(data).toEqual({
        id: question.id,
        task: run.id,
        outcome: 'answered: yes',
        client: winner,
      } satisfies ClosedQuestion);
      stream.cut();
    }
    expect((await run.result).data.result).toBe('done');
    expect(asked).toEqual([question.id]);
    expect((await overviewOf(server)).questions).toEqual([]);
  });

  it('that a terminal has answered is closed on the page', async () => {
    const world = await openPageWorld({ script: asking });
    const [server, session] = [await world.serve(), await world.openSession()];
    const run = session.start({ prompt: 'go' });
    const { question } = await firstQuestion(server);
    const stream = await followChanges(server);
    await world.openTasks().answer(question.id, { text: 'no', reason: 'not here' });
    const { data } = await stream.find(({ event }) => event === 'closed');
    expect(data).toMatchObject({ outcome: 'answered: no (not here)', client: null });
    const late = await post(server, answerPath(run.id, question.id), { answer: 'yes' });
    expect(late.status).toBe(409);
    stream.cut();
    await run.result;
  });

  it('that is put off keeps waiting', async () => {
    const world = await openPageWorld({ script: asking });
    const [server, session] = [await world.serve(), await world.openSession()];
    const run = session.start({ prompt: 'go' });
    const { question } = await firstQuestion(server);
    const path = answerPath(question.task, question.id);
    expect((await post(server, path, { answer: 'later' })).status).toBe(200);
    const [open] = (await overviewOf(server)).questions;
    expect(open).toMatchObject({ isPutOff: true, question: { id: question.id } });
    expect((await post(server, path, { answer: 'perhaps' })).status).toBe(400);
    expect((await post(server, path, { answer: 'yes' })).status).toBe(200);
    await run.result;
  });

  it('of a parked task is answered on the page, where the task then continues', async () => {
    const world = await openPageWorld({ script: asking });
    const session = await world.openSession({ questions: 'park' });
    const run = session.start({ prompt: 'go' });
    await run.result;
    await session.close();
    const asked: WebQuestion[] = [];
    const server = await world.serve({ onAsked: (question) => asked.push(question) });
    const [open] = (await overviewOf(server)).questions;
    expect(open).toMatchObject({ pid: null, root: run.id });
    // Nobody is notified of what was asked before the server.
    expect(asked).toEqual([]);
    const id = open?.question.id ?? '';
    const replies = await Promise.all(
      ['yes', 'yes'].map((answer) => post(server, answerPath(run.id, id), { answer })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    await waitUntilPasses(async () =>
      expect((await overviewOf(server)).tasks[0]?.status).toBe('completed'),
    );
  });
});

describe('a task', () => {
  it('is started, sent a message, stopped and continued', async () => {
    const waiting = Promise.withResolvers<void>();
    const world = await openPageWorld({
      script: async ({ messages }) => {
        if (messages.length === 1) await waiting.promise;
        return { text: `answer ${messages.length}` };
      },
    });
    const server = await world.serve();
    onTestFinished(() => waiting.resolve());
    const form = await getJson<StartForm>(server, API_PATHS.start);
    expect(form).toMatchObject({ cwd: world.directory, defaultMode: 'default' });
    expect(form.agents.map(({ name }) => name)).toContain('Explore');
    const refused = await post(server, API_PATHS.start, { prompt: 'x', mode: 'anything' });
    expect(refused.status).toBe(400);
    const started = await post(server, API_PATHS.start, { prompt: 'go', mode: 'plan' });
    const { id } = JSON.parse(started.body);
    await waitUntilPasses(async () => expect((await overviewOf(server)).tasks).toHaveLength(1));
    const act = (action: Parameters<typeof actionPath>[1], body: object) =>
      post(server, actionPath(id, action), body);
    expect((await act('send', { text: ' ' })).status).toBe(400);
    expect((await act('send', { text: 'more' })).status).toBe(200);
    expect((await act('stop', { text: 'enough' })).body).toContain('stopped: enough');
    expect((await act('background', {})).status).toBe(400);
    waiting.resolve();
    expect((await act('resume', { text: 'go on' })).status).toBe(200);
    await waitUntilPasses(async () =>
      expect((await overviewOf(server)).tasks[0]).toMatchObject({ id, status: 'completed' }),
    );
    const { report } = await getJson<TaskReportReply>(server, reportPath(id));
    expect(report).toMatchObject({ id, status: 'completed', prompt: 'go' });
  });

  it('gets no wider mode than that of the server', async () => {
    const world = await openPageWorld({ script: () => ({ text: 'done' }) });
    const session = await world.openSession();
    const run = session.start({ prompt: 'go', mode: 'acceptEdits' });
    await run.result;
    await session.close();
    const server = await world.serve();
    const { modes } = await getJson<StartForm>(server, API_PATHS.start);
    expect(modes).toEqual(['plan', 'default']);
    const started = await post(server, API_PATHS.start, { prompt: 'go', mode: 'autonomous' });
    expect([started.status, JSON.parse(started.body).error.message]).toEqual([
      403,
      'the mode autonomous allows more than default, the mode of this server. Start the server with: muster web --permission-mode autonomous',
    ]);
    expect(server.tasks.state(run.id).spec.rights.mode).toBe('acceptEdits');
    const continued = await post(server, actionPath(run.id, 'send'), { text: 'more' });
    expect([continued.status, JSON.parse(continued.body)]).toEqual([
      200,
      {
        text: `task ${run.id} continues in the process of muster web, in the mode default, because the server has no wider one`,
      },
    ]);
    expect(server.tasks.state(run.id).spec.rights.mode).toBe('default');
    expect((await overviewOf(server)).tasks).toHaveLength(1);
  });

  it('is reported, searched and compared', async () => {
    const world = await openPageWorld({
      script: (request) => {
        if (toolResultRounds(request) > 0) return { text: 'the canary sings' };
        const input = { file_path: join(world.directory, 'song.txt'), content: 'one\ntwo\n' };
        return { toolCalls: [{ name: 'Write', input }] };
      },
    });
    const session = await world.openSession();
    const runs = [];
    for (const prompt of ['first song', 'second song']) {
      const run = session.start({ prompt, mode: 'acceptEdits' });
      await run.result;
      runs.push(run.id);
    }
    const [first = '', second = ''] = runs;
    const server = await world.serve();
    const diff = await getJson<DiffReply>(server, diffPath(first));
    expect(diff).toEqual({
      files: [
        {
          path: 'song.txt',
          from: null,
          kind: 'added',
          added: 2,
          deleted: 0,
          hunks: [{ oldStart: 0, newStart: 1, lines: ['+one', '+two'] }],
          note: null,
        },
      ],
      hasLanded: false,
      note: null,
    });
    const timeline = await getJson<TimelineReply>(server, timelinePath(first));
    expect(timeline.rows).toMatchObject([{ id: first, level: 0, title: 'first song' }]);
    const usage = await getJson<UsageReply>(server, usagePath(first));
    expect(usage.points.map(({ task, turn }) => [task, turn])).toEqual([
      [first, 1],
      [first, 2],
    ]);
    const search = await getJson<SearchReply>(server, `${API_PATHS.search}?q=CANARY%20sings`);
    expect(search.hits.map(({ id, where }) => [id, where])).toEqual([
      [second, 'result'],
      [first, 'result'],
    ]);
    const path = `${API_PATHS.compare}?left=${first}&right=${second}`;
    const { left, right, pairs } = await getJson<CompareReply>(server, path);
    expect([left.rows[0]?.title, right.rows[0]?.title, pairs]).toEqual([
      'first song',
      'second song',
      [{ left: 0, right: 0 }],
    ]);
  });
});
