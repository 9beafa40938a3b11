import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openSession } from '../../../src/api/open-session.ts';
import type { Session, SessionOptions, WaitingQuestion } from '../../../src/api/index.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import type { Question } from '../../../src/protocol/question.ts';
import { startFakeModel, toolResultRounds, type FakeModel } from '../../../src/testing/index.ts';
import { expectNoViolations } from '../../no-violations.ts';

const ASKER = join(import.meta.dirname, '../../mcp/servers/asker.cjs');

const ALLOW = { kind: 'add', list: 'allow', rule: 'mcp__demo', scope: 'task' } as const;

const opened: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

interface Call {
  readonly tool: string;
  readonly args?: JsonObject;
}

/** Opens a session whose main agent makes one call of each message to the server, and then says `done`. */
async function open(calls: readonly Call[], options: SessionOptions = {}): Promise<Opened> {
  const model = await startFakeModel({
    script: (request) => {
      if (toolResultRounds(request) > 0) return { text: 'done' };
      return {
        toolCalls: calls.map(({ tool, args = {} }) => ({
          name: `mcp__demo__${tool}`,
          input: args,
        })),
      };
    },
  });
  const directory = mkdtempSync(join(tmpdir(), 'muster-test-'));
  const config = join(directory, '.config/muster');
  mkdirSync(config, { recursive: true });
  const demo = { command: process.execPath, args: [ASKER], call_seconds: 20 };
  writeFileSync(join(config, 'mcp.json'), JSON.stringify({ mcpServers: { demo } }));
  const session = await openSession({
    cwd: directory,
    dataDir: join(directory, 'data'),
    environment: { HOME: directory, ...model.env('anthropic') },
    questions: 'wait',
    ...options,
  });
  opened.push(
    () => rmSync(directory, { recursive: true, force: true }),
    () => model.close().then(() => expectNoViolations(model)),
    () => session.close(),
  );
  return { model, session };
}

interface Opened {
  readonly model: FakeModel;
  readonly session: Session;
}

/**
 * Runs the session to its end, and answers each question with the next of these texts, once the log has what is
 * waited for.
 */
async function run(
  { session, model }: Opened,
  answers: readonly string[],
  waitFor: (events: readonly TaskEvent[]) => boolean = () => true,
) {
  const events: TaskEvent[] = [];
  const asked: Question[] = [];
  const left = [...answers];
  const forget = session.watchQuestions(() => {
    for (const { question } of session.questions()) {
      if (asked.some(({ id }) => id === question.id)) continue;
      asked.push(question);
      const text = left.shift();
      if (text === undefined) continue;
      const answer = (): void => {
        if (waitFor(events)) session.answer({ question: question.id, text });
        else setTimeout(answer, 1);
      };
      setTimeout(answer, 1);
    }
  });
  const task = session.start({ prompt: 'go', rules: [ALLOW] }, (event) => void events.push(event));
  const { data } = await task.result;
  forget();
  const results =
    model.requests
      .at(-1)
      ?.messages.at(-1)
      ?.toolResults.map(({ text }) => text) ?? [];
  return { status: data.status, events, asked, results: results.map(parse) };
}

function parse(text: string): unknown {
  const json = /[[{"].*[\]}"]/s.exec(text)?.[0];
  return json === undefined ? text : JSON.parse(json);
}

function textsOf(events: readonly TaskEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'warning') return [event.message];
    return event.type === 'server.logged' ? [`${event.level} ${event.text}`] : [];
  });
}

describe('a question of a server', () => {
  it('is a question of the task whose call is running, and the server gets what the user fills in', async () => {
    const opened = await open([{ tool: 'book' }]);
    const { asked, results, events } = await run(opened, ['city: Oslo\nbreakfast: yes']);
    expect(results).toEqual([
      {
        action: 'accept',
        content: { city: 'Oslo', nights: 2, room: 'single', breakfast: true },
      },
    ]);
    expect(asked).toMatchObject([
      {
        kind: 'server',
        server: 'demo',
        tool: 'mcp__demo__book',
        chain: ['main'],
        text: 'Which room do you want?',
        url: null,
        fields: [
          { name: 'city', title: 'City', type: 'text', isRequired: true, minimum: 2 },
          { name: 'nights', type: 'integer', minimum: 1, maximum: 30, default: 2 },
          { name: 'room', type: 'choice', options: [{ value: 'single' }, { value: 'double' }] },
          { name: 'breakfast', type: 'boolean', isRequired: false },
        ],
      },
    ]);
    const answered = events.find(({ type }) => type === 'question.answered');
    expect(answered).toMatchObject({ by: 'user', answer: { kind: 'filled' } });
  });

  it.each([
    ['no', { action: 'decline' }],
    ['cancel', { action: 'cancel' }],
  ])('may be answered with %s', async (text, result) => {
    expect((await run(await open([{ tool: 'book' }]), [text])).results).toEqual([result]);
  });

  it('may be about a page, whose address is shown and not opened', async () => {
    const { asked, results } = await run(await open([{ tool: 'sign-in' }]), ['yes']);
    expect([results, asked]).toMatchObject([
      [{ action: 'accept' }],
      [{ url: 'https://login.example.org/start?x=1', fields: [] }],
    ]);
  });

  it('waits for the one before it in the same call, and the sixth is cancelled', async () => {
    const opened = await open([{ tool: 'ask', args: { count: 6 } }]);
    const answers = ['city: a1', 'city: a2', 'city: a3', 'city: a4', 'no'];
    // The first answer makes room for another question.
    const isCancelled = (log: readonly TaskEvent[]) => textsOf(log).length > 0;
    const { asked, results, events } = await run(opened, answers, isCancelled);
    expect(asked.map(({ id }) => id.replace(/.*q/, 'q'))).toEqual(['q1', 'q2', 'q3', 'q4', 'q5']);
    const actions = (results[0] as readonly { action: string }[]).map(({ action }) => action);
    expect(actions).toEqual(['accept', 'accept', 'accept', 'accept', 'decline', 'cancel']);
    expect(textsOf(events)).toEqual([
      'A question of MCP server demo was cancelled: 5 others are open.',
    ]);
  });

  it.each([
    [
      'a form that is too long',
      { tool: 'ask', args: { schema: longForm() } },
      'its form has 21 fields',
    ],
    [
      'an address with a name in it',
      { tool: 'sign-in', args: { url: 'https://a@b.c/' } },
      'it is about an address',
    ],
    ['a file', { tool: 'sign-in', args: { url: 'file:///etc/passwd' } }, 'it is about an address'],
  ])('is cancelled with a warning if it has %s', async (_, call, reason) => {
    const { asked, events } = await run(await open([call]), []);
    expect([asked, textsOf(events)]).toEqual([[], [expect.stringContaining(reason)]]);
  });

  it.each(['deny', 'park'] as const)(
    'is cancelled at once in a run that may %s',
    async (questions) => {
      const { results, events, status } = await run(
        await open([{ tool: 'book' }], { questions }),
        [],
      );
      expect([status, results, textsOf(events)]).toEqual([
        'completed',
        [{ action: 'cancel' }],
        [
          `MCP server demo has a question, which was cancelled. Nobody is here to answer (--on-ask ${questions}). The question: Which room do you want?`,
        ],
      ]);
    },
  );

  it('is withdrawn when the task is stopped', async () => {
    const { session } = await open([{ tool: 'book' }]);
    const task = session.start({ prompt: 'go', rules: [ALLOW] });
    await new Promise<void>((resolve) => {
      const forget = session.watchQuestions(() => {
        if (session.questions().length === 0) return;
        forget();
        resolve();
      });
    });
    task.stop('the test says so');
    expect((await task.result).data.status).toBe('stopped');
    expect(session.questions()).toEqual([]);
  });
});

function longForm() {
  const names = Array.from({ length: 21 }, (_, index) => [`f${index}`, { type: 'string' }]);
  return { type: 'object', properties: Object.fromEntries(names) };
}

it('the question about a call shows the hints of the server, which allow nothing', async () => {
  const { session } = await open([{ tool: 'book' }]);
  const task = session.start({ prompt: 'go' });
  const { question } = await new Promise<WaitingQuestion>((resolve) => {
    const forget = session.watchQuestions(() => {
      const [first] = session.questions();
      if (first === undefined) return;
      forget();
      resolve(first);
    });
  });
  task.stop('the test has seen it');
  await task.result;
  expect(question).toMatchObject({
    kind: 'permission',
    tool: 'mcp__demo__book',
    serverSays:
      'The server says, unchecked: “Book a room”, read-only, idempotent, reaches no other systems.',
  });
});

describe('a log message of a server', () => {
  it('is in the log of the task, and the model does not see it', async () => {
    const opened = await open([{ tool: 'log', args: { count: 2 } }]);
    const { events } = await run(opened, []);
    expect(textsOf(events)).toEqual(['warning disk is 90 % full', 'warning disk is 91 % full']);
    expect(JSON.stringify(opened.model.requests.map(({ body }) => body))).not.toContain('disk is');
  });

  it('is left out if it is for developers, and cut if it is long', async () => {
    const calls = [
      { tool: 'log', args: { level: 'debug' } },
      { tool: 'log', args: { level: 'info', text: 'x'.repeat(2_000) } },
    ];
    const { events } = await run(await open(calls), []);
    expect(textsOf(events)).toEqual([`info ${'x'.repeat(1_000)} [cut after 1000 characters]`]);
  });
});
