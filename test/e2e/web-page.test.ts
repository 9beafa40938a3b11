import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  answerPath,
  API_PATHS,
  type CompareReply,
  type Overview,
} from '../../src/front/web/wire.ts';
import { getJson, post, send } from '../front/web/client.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { clean, delegate, delegating, listed, statuses, tasks } from './tasks.ts';
import { Follower, killServer, startWebServer } from './web-server.ts';
import { bash, callsInTurn, openWorld } from './world.ts';

const CHILDREN = 64;
/** All children in one answer, most of which wait for their turn. */
const DELEGATIONS = Array.from({ length: CHILDREN }, (_, at) => delegate(`part ${at + 1}`));

describe('the page', () => {
  it('shows a run of 64 children as the terminal does, also after its server was killed', async () => {
    await using world = await openWorld({
      script: delegating(DELEGATIONS, () => ({ text: 'a part is done' })),
    });
    let server = await startWebServer(world);
    const follower = new Follower();
    await follower.connect(server);
    const run = world.start(['-p', 'go']);
    const hasEnded = run.finished.then(() => true);
    for (let cuts = 0; !(await Promise.race([hasEnded, sleep(250, false)])); cuts += 1) {
      if (cuts === 3) {
        await killServer(server);
        server = await startWebServer(world);
      }
      await follower.connect(server);
    }
    expect((await run.finished).code).toBe(0);
    const inTerminal = await listed(world);
    expect(inTerminal).toHaveLength(CHILDREN + 1);
    await follower.connect(server);
    await waitUntilPasses(() => {
      expect(
        inTerminal.map(
          ({ id, parent, agent, status, model, turns, created, ended, paidTokens }) => ({
            id,
            parent,
            agent,
            status,
            model,
            turns,
            created,
            ended,
            paidTokens,
          }),
        ),
      ).toEqual(
        inTerminal.map(({ id: row }) => {
          const { id, parent, agent, status, model, turns, created, ended, paidTokens } =
            follower.rows.get(row) ?? {};
          return { id, parent, agent, status, model, turns, created, ended, paidTokens };
        }),
      );
    });
    expect([...follower.rows.values()]).toEqual(
      expect.arrayContaining([...(await getJson<Overview>(server, API_PATHS.overview)).tasks]),
    );
    const root = inTerminal.find(({ parent }) => parent === null)?.id ?? '';
    const compared = `${API_PATHS.compare}?left=${root}&right=${root}`;
    const { left } = await getJson<CompareReply>(server, compared);
    const shown = clean(await tasks(world, 'show', root));
    const onPage = left.rows.map(({ id, status, turns, calls, tokens, cost }) =>
      [id, status, turns, calls, tokens, cost].join(' '),
    );
    const lines = shown.split('\n').flatMap((line) => {
      const cells = /^([a-z0-9]{12}) .{19} (\S+) +(\d+) +(\d+) +(\S+) +(\S+) +[\d.:]+(?: s)?$/.exec(
        line,
      );
      return cells === null ? [] : [cells.slice(1).join(' ')];
    });
    // The terminal shows 50 rows and counts the others.
    expect(lines).toEqual(onPage.slice(0, 50));
    expect(onPage).toHaveLength(CHILDREN + 1);
    follower.stream?.cut();
    server.running.process.kill('SIGTERM');
    expect(await server.running.finished).toMatchObject({ code: 143, stderr: '' });
  });

  it('lets the first of two pages and a terminal answer a question, and tells the others', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('touch made')]) });
    const [server, worker] = [await startWebServer(world), await startWebServer(world)];
    const followers = [new Follower(), new Follower()];
    for (const follower of followers) await follower.connect(server);
    // The task works in the process of another server.
    expect((await post(worker, API_PATHS.start, { prompt: 'go' })).status).toBe(200);
    await waitUntilPasses(() =>
      expect(followers.map(({ questions }) => questions.size)).toEqual([1, 1]),
    );
    const [asked] = followers[0]?.questions.values() ?? [];
    const { id = '', task = '' } = asked?.question ?? {};
    const answer = (client: string) =>
      post(server, answerPath(task, id), { answer: 'yes', client });
    const [left, right, terminal] = await Promise.all([
      answer('left'),
      answer('right'),
      tasks(world, 'answer', id, 'yes'),
    ]);
    const outcomes = [left.status === 200, right.status === 200, terminal.code === 0];
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    const winner = [['left'], ['right'], [null]][outcomes.indexOf(true)]?.[0];
    const texts = [left.body, right.body, terminal.stderr];
    for (const [index, text] of texts.entries()) {
      if (outcomes[index] !== true) expect(text).toMatch(/CONFLICT.*is answered/s);
    }
    await waitUntilPasses(() =>
      expect(followers.map(({ closed }) => closed)).toEqual(
        [1, 2].map(() => [{ id, task, outcome: 'answered: yes', client: winner }]),
      ),
    );
    await waitUntilPasses(async () => expect(await statuses(world)).toEqual(['completed']));
    for (const { stream } of followers) stream?.cut();
  });

  it('is refused to whoever has not the token of this start', async () => {
    await using world = await openWorld();
    const [first, second] = [await startWebServer(world), await startWebServer(world)];
    const ask = (headers: Record<string, string>, path: string = API_PATHS.overview) =>
      send(second.origin, { path, headers });
    const { host } = new URL(second.origin);
    const { port } = new URL(second.origin);
    const value = first.cookie.slice(first.cookie.indexOf('='));
    const refusals = await Promise.all([
      ask({}),
      ask({ cookie: first.cookie }),
      ask({ cookie: `muster-web-${port}${value}` }),
      ask({}, `/?token=${first.token}`),
      ask({ cookie: second.cookie, host: `rebound.example:${port}` }),
      ask({ cookie: second.cookie, origin: 'https://evil.example' }),
      ask({ cookie: second.cookie, 'sec-fetch-site': 'cross-site' }),
    ]);
    expect(refusals.map(({ status }) => status)).toEqual([401, 401, 401, 401, 421, 403, 403]);
    expect((await ask({ cookie: second.cookie, host })).status).toBe(200);
  });
});

it.each([
  [['--host', '0.0.0.0'], '--host 0.0.0.0: other machines could reach the page'],
  [['--port', '70000'], '--port 70000: the highest port is 65535'],
  [['--notify', 'nowhere'], '--notify: this is no address'],
  [['abcdefgh'], 'which directory? muster web --export DIR abcdefgh'],
  [['--export', 'x', '--port', '1'], '--port does not go with --export'],
])('muster web %j is refused', async (args, message) => {
  await using world = await openWorld();
  const { code, stderr } = await world.run(['web', ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
