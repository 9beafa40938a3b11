import { rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Move } from './support.ts';
import { notices, results, scriptedEngine, shellEngine, taskOutput, taskStop } from './support.ts';
import type { QuestionOfServer } from '../../../src/protocol/server-message.ts';
import { LEAVE_RUNNING, type AnyTool } from '../../../src/protocol/tool.ts';
import { onAbort } from '../../../src/base/async.ts';
import type { TaskRun } from '../../../src/engine/task/task-run.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import { answerQuestion } from '../../../src/engine/questions/record-answer.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import type { EngineSetup } from '../support.ts';

/** The work of a server that has no process: it ends when a test says so. */
class Server {
  readonly cancelled: unknown[] = [];
  readonly followed: unknown[] = [];
  /** The answers to the question of the server. */
  readonly answers: unknown[] = [];
  private readonly question: QuestionOfServer | null;
  private readonly done = Promise.withResolvers<{ text: string; isLost: boolean }>();

  /** @param question the question that the server asks as soon as it is followed. Default: none */
  constructor(question: QuestionOfServer | null = null) {
    this.question = question;
  }

  end(text: string, { isLost = false } = {}): void {
    this.done.resolve({ text, isLost });
  }

  /** The tool by which the model uses the server. It has the name of a core tool, so that tasks get it. */
  get tool(): AnyTool {
    return {
      name: 'Bash',
      kind: 'execute',
      replay: 'opaque',
      description: 'works',
      inputSchema: { type: 'object' },
      parse: (input) => ({ ok: true, input }),
      describe: () => ({ reads: [], writes: [], commands: ['sleep 1'], hosts: [] }),
      run: async (input: { readonly background?: boolean }, context) => {
        const { remote } = context;
        if (remote === undefined) throw new Error('work cannot go on here');
        const inBackground = input.background === true;
        return await remote.follow({
          title: 'mcp__s__work {}',
          reference: { id: 't' },
          inBackground,
        });
      },
      follow: async (reference, { signal, report, server: port }) => {
        this.followed.push(reference);
        report('working: half of it');
        if (this.question !== null) {
          void port
            ?.ask(this.question, signal)
            .then((answer) => this.answers.push(answer), expectClosedLog);
        }
        const stopped = Promise.withResolvers<never>();
        const remove = onAbort(signal, () => {
          if (signal.reason !== LEAVE_RUNNING) this.cancelled.push(reference);
          stopped.reject(signal.reason);
        });
        const { text, isLost } = await Promise.race([this.done.promise, stopped.promise]);
        remove();
        return { output: isLost ? { text, error: 'PROVIDER_ERROR' } : { text }, isLost };
      },
    };
  }
}

const WORK = { name: 'Bash', input: {} };
const IN_BACKGROUND = { name: 'Bash', input: { background: true } };

function start(server: Server, moves: readonly Move[], setup: EngineSetup = {}) {
  const world = shellEngine(moves, { tools: [server.tool], ...setup });
  return { ...world, run: world.start('go') };
}

/**
 * Leaves the log of a run as a process that is killed leaves it. The run itself is stopped at the end of the test, so
 * that it does not reach a time limit during another test.
 */
function leaveAsKilled(run: TaskRun): void {
  run.journal.close();
  onTestFinished(async () => {
    run.stop(stopOrder('user', 'the test is over'));
    await run.end.written;
  });
}

/** Checks a fault of a run that was left: it can write nothing to its log. */
function expectClosedLog(thrown: unknown): void {
  expect(thrown).toMatchObject({
    message: expect.stringMatching(/^the log of task \w+ is closed$/),
  });
}

const idIn = (text = '') => /[Cc]all (\w{8,32})/.exec(text)?.[1] ?? '';
const withoutTimes = (text = '') => text.replace(/\[\d\d:\d\d(:\d\d)?\]/g, '[TIME]');

describe('work of a server', () => {
  it('is the result of its call, without a notice, and its id is recorded before', async () => {
    const server = new Server();
    const { run, model, events } = start(server, [[WORK], 'The end.']);
    await waitUntilPasses(() => expect(run.state.shells.size).toBe(1));
    server.end('all of it');
    await run.end.written;
    expect(results(model.requests[1])).toEqual(['all of it']);
    expect(notices(model.requests[1])).toEqual([]);
    const types = events.map(({ type }) => type).filter((type) => /^(call|shell)/.test(type));
    expect(types).toEqual(['call.started', 'shell.started', 'shell.ended', 'call.ended']);
    expect(events.find(({ type }) => type === 'shell.started')).toMatchObject({
      command: 'mcp__s__work {}',
      remote: { tool: 'Bash', reference: { id: 't' } },
    });
  });

  it('goes on in the background after the limit; the task waits for it, and its end is announced', async () => {
    const server = new Server();
    const { run, model } = start(
      server,
      [
        [WORK],
        (request) => [taskOutput(idIn(results(request)[0]), { block: false })],
        'I wait.',
        (request) => [taskOutput(idIn(notices(request).at(-1)))],
        'The end.',
      ],
      { settings: { foregroundMs: 50 } },
    );
    await waitUntilPasses(() => expect(model.requests.length).toBe(3));
    server.end('all of it');
    await run.end.written;
    const [report = ''] = results(model.requests[1]);
    const id = idIn(report);
    expect(report).toContain(
      `Call ${id} is still running: the limit default_timeout_seconds = 0.05 is reached. It goes on in the background; you are told when it ends.`,
    );
    const [running = ''] = results(model.requests[2]);
    expect(withoutTimes(running)).toContain('Call: mcp__s__work {}\nStatus: still running\n');
    expect(withoutTimes(running)).toContain('Output:\n[TIME] working: half of it\n');
    expect(notices(model.requests[3]).at(-1)).toContain(
      `- Call ${id} (mcp__s__work {}): completed. Its output: TaskOutput(task_id: "${id}")`,
    );
    const [ended] = results(model.requests[4]);
    expect(withoutTimes(ended)).toContain('Output:\n[TIME] working: half of it\nall of it');
    expect(run.outcome().status).toBe('completed');
  });

  it('runs in the background at once if the model asks for that', async () => {
    const server = new Server();
    const { run, model } = start(server, [[IN_BACKGROUND], 'I wait.', 'The end.']);
    await waitUntilPasses(() => expect(model.requests.length).toBe(2));
    expect(results(model.requests[1])[0]).toMatch(/^Call \w+ runs in the background; /);
    server.end('lost', { isLost: true });
    await run.end.written;
    expect(notices(model.requests[2]).at(-1)).toContain('lost: its outcome is unknown');
  });

  it('is cancelled by TaskStop, by a stop of the task, and by an interruption of the turn', async () => {
    const stopped = new Server();
    const first = start(stopped, [
      [IN_BACKGROUND],
      (request) => [taskStop(idIn(results(request)[0]))],
    ]);
    await first.run.end.written;
    expect(results(first.model.requests[2])[0]).toMatch(/^Call \w+ is stopped\./);
    const ended = new Server();
    const second = start(ended, [[WORK]]);
    await waitUntilPasses(() => expect(ended.followed.length).toBe(1));
    second.run.stop(stopOrder('user', 'no more'));
    await second.run.end.written;
    const interrupted = new Server();
    const third = start(interrupted, [[WORK]], { isUserPresent: true });
    await waitUntilPasses(() => expect(interrupted.followed.length).toBe(1));
    third.run.interrupt(stopOrder('user', 'Esc'));
    await third.run.end.written;
    for (const server of [stopped, ended, interrupted])
      expect(server.cancelled).toEqual([{ id: 't' }]);
  });

  it('is found again by its recorded reference after the process has ended', async () => {
    const store = openMemoryStore();
    const before = new Server();
    const old = start(before, [[WORK]], { store, onFault: expectClosedLog });
    await waitUntilPasses(() => expect(old.run.state.shells.size).toBe(1));
    leaveAsKilled(old.run);
    const after = new Server();
    const { engine, model } = scriptedEngine(
      (request, index) => {
        if (index === 0) return 'I wait.';
        if (index === 1) return [taskOutput(idIn(notices(request).at(-1)))];
        return 'The end.';
      },
      { tools: [after.tool], store },
    );
    const run = await engine.resume(old.run.spec.id, { prompt: null, maxRights: (all) => all });
    await waitUntilPasses(() => expect(after.followed).toEqual([{ id: 't' }]));
    await waitUntilPasses(() => expect(model.requests.length).toBe(1));
    expect(results(model.requests[0])[0]).toMatch(
      /^Muster was interrupted while the call ran\. The server works on it as call \w+, and you are told when it ends\./,
    );
    after.end('all of it');
    await run.end.written;
    expect(notices(model.requests[1]).at(-1)).toMatch(
      /- Call \w+ \(mcp__s__work {}\): completed\./,
    );
    expect(results(model.requests[2])[0]).toContain('all of it');
    expect(before.cancelled).toEqual([]);
  });

  it('is lost if nobody can follow it again', async () => {
    const store = openMemoryStore();
    const old = start(new Server(), [[WORK]], { store, onFault: expectClosedLog });
    await waitUntilPasses(() => expect(old.run.state.shells.size).toBe(1));
    leaveAsKilled(old.run);
    const [{ output = '' } = {}] = old.run.state.shells.values();
    rmSync(output);
    const after = new Server();
    const { engine, model } = shellEngine(['The end.'], { tools: [after.tool], store });
    const run = await engine.resume(old.run.spec.id, { prompt: null, maxRights: (all) => all });
    await run.end.written;
    expect(after.followed).toEqual([]);
    expect(JSON.stringify(model.requests)).toContain('lost: its outcome is unknown');
  });
});

const QUESTION: QuestionOfServer = { server: 's', text: 'Go on?', fields: [], url: null };

describe('a question of work', () => {
  it('stays in the inbox when its call has returned, and its answer reaches the server', async () => {
    const server = new Server(QUESTION);
    const setup = { onAsk: 'wait', settings: { foregroundMs: 50 } } as const;
    const { run, model, inbox } = start(server, [[WORK], 'I wait.', 'The end.'], setup);
    await waitUntilPasses(() => expect(model.requests.length).toBe(2));
    expect(results(model.requests[1])[0]).toContain('It goes on in the background');
    const [open] = inbox.open();
    expect(open?.question).toMatchObject({ kind: 'server', server: 's', text: 'Go on?' });
    expect(server.answers).toEqual([]);
    answerQuestion(inbox, open?.question.id ?? '', { text: 'yes' });
    await waitUntilPasses(() => expect(server.answers).toEqual([{ action: 'accept', values: {} }]));
    server.end('all of it');
    await run.end.written;
    expect(run.outcome().status).toBe('completed');
  });

  it('is withdrawn with the end of the work', async () => {
    const server = new Server(QUESTION);
    const { run, model, inbox } = start(server, [[IN_BACKGROUND], 'I wait.', 'The end.'], {
      onAsk: 'wait',
    });
    await waitUntilPasses(() => expect(model.requests.length).toBe(2));
    await waitUntilPasses(() => expect(inbox.open().length).toBe(1));
    server.end('all of it');
    await run.end.written;
    expect(server.answers).toEqual([{ action: 'cancel' }]);
    expect(inbox.open()).toEqual([]);
    expect([...run.state.closedQuestions.values()]).toEqual([
      'withdrawn: the server no longer waits for an answer',
    ]);
  });

  it('is cancelled with a warning if nobody can be asked', async () => {
    const server = new Server(QUESTION);
    const { run, model, events } = start(server, [[IN_BACKGROUND], 'I wait.', 'The end.']);
    await waitUntilPasses(() => expect(model.requests.length).toBe(2));
    await waitUntilPasses(() => expect(server.answers).toEqual([{ action: 'cancel' }]));
    server.end('all of it');
    await run.end.written;
    expect(events.filter(({ type }) => type === 'warning')).toMatchObject([
      {
        message:
          'MCP server s has a question, which was cancelled. Nobody is here to answer (--on-ask deny). The question: Go on?',
      },
    ]);
  });

  it('is withdrawn and asked again after the process has ended', async () => {
    const store = openMemoryStore();
    const old = start(new Server(QUESTION), [[WORK]], {
      store,
      onAsk: 'wait',
      onFault: expectClosedLog,
    });
    await waitUntilPasses(() => expect(old.inbox.open().length).toBe(1));
    const [before] = old.inbox.open();
    leaveAsKilled(old.run);
    const after = new Server(QUESTION);
    const { engine, inbox } = scriptedEngine(() => 'The end.', {
      tools: [after.tool],
      store,
      onAsk: 'wait',
    });
    const run = await engine.resume(old.run.spec.id, { prompt: null, maxRights: (all) => all });
    await waitUntilPasses(() => expect(inbox.open().length).toBe(1));
    const [again] = inbox.open();
    expect(again?.question.id).not.toBe(before?.question.id);
    expect(run.state.closedQuestions.get(before?.question.id ?? '')).toBe(
      'withdrawn: the server no longer waits for an answer',
    );
    answerQuestion(inbox, again?.question.id ?? '', { text: 'decline' });
    await waitUntilPasses(() => expect(after.answers).toEqual([{ action: 'decline' }]));
    after.end('all of it');
    await run.end.written;
  });
});
