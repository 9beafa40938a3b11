import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Deadlines } from '../../../src/base/deadlines.ts';
import type { Message, ToolCallPart } from '../../../src/protocol/message.ts';
import { toolCalls, userMessage } from '../../../src/protocol/message.ts';
import type { LivenessLimits } from '../../../src/model/watchdog.ts';
import type { ModelPart, ModelRequest } from '../../../src/protocol/model.ts';
import { createAcpPort } from '../../../src/remote/acp/port.ts';
import {
  startServerProgram,
  type ServerProcess,
} from '../../../src/sys/processes/server-process.ts';

const PROGRAM = resolve(import.meta.dirname, '../../fixtures/acp-agent.mjs');

type FinalPart = Extract<ModelPart, { type: 'finished' | 'failed' }>;

interface PortOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The limits on silence in milliseconds. Default: a minute. */
  readonly limits?: Partial<LivenessLimits>;
  readonly mayChange?: boolean;
}

/** A port to the scripted agent, without a sandbox, and one task of it. */
class Robot implements AsyncDisposable {
  readonly processes: ServerProcess[] = [];
  readonly messages: Message[] = [];
  private readonly mayChange: boolean;
  private readonly port;

  constructor({ env = {}, limits = {}, mayChange = false }: PortOptions = {}) {
    this.mayChange = mayChange;
    this.port = createAcpPort({
      version: '1',
      clock: systemClock,
      deadlines: new Deadlines(systemClock),
      limits: { connectMs: 60_000, firstTokenMs: 60_000, streamIdleMs: 60_000, ...limits },
      start: () => {
        const process_ = startServerProgram({
          file: process.execPath,
          args: [PROGRAM],
          cwd: import.meta.dirname,
          env: { PATH: process.env['PATH'], ...env },
        });
        this.processes.push(process_);
        return Promise.resolve(process_);
      },
    });
  }

  /** Sends a request with the messages so far, and adds its answer to them. */
  async ask(
    signal: AbortSignal = new AbortController().signal,
    onPart: (part: ModelPart) => void = () => {},
  ): Promise<FinalPart> {
    let last: FinalPart | null = null;
    for await (const part of this.port.stream(this.createRequest(), signal)) {
      onPart(part);
      if (part.type === 'finished' || part.type === 'failed') last = part;
    }
    if (last === null) throw new Error('the answer has no end');
    if (last.type === 'finished') this.messages.push(last.message);
    return last;
  }

  /** Answers calls, all with the same result. */
  answer(calls: readonly ToolCallPart[], text: string, isError = false): void {
    this.messages.push({
      role: 'tool',
      content: calls.map(({ id: callId, name }) => ({
        type: 'tool_result',
        callId,
        name,
        text,
        isError,
      })),
    });
  }

  say(...steps: readonly object[]): void {
    this.messages.push(userMessage(`STEPS: ${JSON.stringify(steps)}`));
  }

  async endedProcesses(): Promise<readonly string[]> {
    return Promise.all(this.processes.map(({ ended }) => ended));
  }

  private createRequest(): ModelRequest {
    const agent = { protocol: 'acp', command: 'robot', args: [], env: {} } as const;
    const rights = {
      mode: 'default',
      rules: { allow: [], ask: [], deny: [] },
      roots: ['/w'],
      network: false,
      depth: 0,
      maxDepth: 1,
    } as unknown as NonNullable<ModelRequest['remote']>['rights'];
    return {
      model: { provider: 'acp', id: 'robot', chain: [] },
      prefix: { system: ['You are a robot.'], tools: [] },
      messages: [...this.messages],
      toolChoice: 'auto',
      remote: {
        agent,
        name: 'robot',
        path: '/agents/robot.md',
        isForeign: false,
        instructions: 'You are a robot.',
        task: 'task1',
        cwd: '/w',
        rights,
        mayChange: this.mayChange,
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.port.close();
  }
}

function callsOf(part: FinalPart): readonly ToolCallPart[] {
  if (part.type === 'failed') throw new Error(part.failure.message);
  return toolCalls(part.message);
}

function textOf(part: FinalPart): string {
  if (part.type === 'failed') throw new Error(part.failure.message);
  return part.message.content.map((each) => (each.type === 'text' ? each.text : '')).join('');
}

const ASK = { title: 'Do it', kind: 'other' };

describe.concurrent('the port to a program', () => {
  it('turns requests that come together into the calls of one answer', async () => {
    await using robot = new Robot();
    robot.say({ asks: [ASK, ASK] }, { say: 'end' });
    const calls = callsOf(await robot.ask());
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['RemoteStep', { step: 'Do it', kind: 'other' }],
      ['RemoteStep', { step: 'Do it', kind: 'other' }],
    ]);
    robot.answer(calls.slice(0, 1), 'Allowed.');
    const [first] = robot.messages.slice(-1);
    robot.messages.pop();
    robot.answer(calls.slice(1), 'no', true);
    const [second] = robot.messages.slice(-1);
    robot.messages.pop();
    const content = [first, second].flatMap((each) => (each?.role === 'tool' ? each.content : []));
    robot.messages.push({ role: 'tool', content });
    expect(textOf(await robot.ask())).toBe(
      'asks: [{"outcome":{"outcome":"selected","optionId":"yes"}},{"outcome":{"outcome":"selected","optionId":"no"}}]\nend',
    );
  });

  it('sends messages that arrive during a prompt as the next prompt, and no notices', async () => {
    await using robot = new Robot();
    robot.say({ ask: ASK });
    const calls = callsOf(await robot.ask());
    robot.answer(calls, 'Allowed.');
    robot.messages.push(
      userMessage('<notice>50 % of max_turns is used.</notice>'),
      userMessage('And then?'),
    );
    expect(textOf(await robot.ask())).toBe(
      'ask: {"outcome":{"outcome":"selected","optionId":"yes"}}\nYou said: And then?',
    );
    robot.messages.push(userMessage('Bye.'));
    expect(textOf(await robot.ask())).toBe('You said: Bye.');
    expect(robot.processes).toHaveLength(1);
  });

  it('asks before it starts a program that may change files, and reports its changes before the answer', async () => {
    await using robot = new Robot({ mayChange: true });
    robot.say({ say: 'hello' });
    const start = callsOf(await robot.ask());
    expect(start.map(({ name }) => name)).toEqual(['RemoteStep']);
    expect(robot.processes).toHaveLength(0);
    robot.answer(start, 'Allowed.');
    const changes = callsOf(await robot.ask());
    expect(changes.map(({ name }) => name)).toEqual(['RemoteChanges']);
    robot.answer(changes, 'The program has changed 0 files itself.');
    expect(textOf(await robot.ask())).toBe('hello');
  });

  it('gives a new program the conversation so far', async () => {
    await using robot = new Robot();
    robot.say({ say: 'first' });
    await robot.ask();
    await robot.processes[0]?.end();
    robot.messages.push(userMessage('And now?'));
    const text = textOf(await robot.ask());
    expect(text).toContain('The conversation so far, which another session had:');
    expect(text).toContain('You: first');
    expect(text).toMatch(/And now\?$/);
    expect(robot.processes).toHaveLength(2);
  });

  it('goes on with the session of a program that can do that', async () => {
    await using robot = new Robot({ env: { ACP_LOADS: '1' } });
    robot.say({ say: 'first' });
    await robot.ask();
    await robot.processes[0]?.end();
    robot.messages.push(userMessage('And now?'));
    expect(textOf(await robot.ask())).toBe('You said: And now?');
  });

  it('counts the tokens that a program reports', async () => {
    await using robot = new Robot();
    robot.say({ say: 'x' }, { usage: { inputTokens: 7, outputTokens: 3, cachedReadTokens: 2 } });
    expect(await robot.ask()).toMatchObject({
      type: 'finished',
      usage: { input: 7, output: 3, cacheRead: 2, cacheWrite: 0, reasoning: 0 },
    });
    robot.say({ say: 'x' });
    expect(await robot.ask()).toMatchObject({ usageMissing: 'all' });
  });

  it.each([
    ['max_tokens', 'length', 'x'],
    ['refusal', 'content_filter', 'x'],
    ['max_turn_requests', 'stop', 'x\n[The agent reached its own limit on requests to its model.]'],
  ])('ends an answer that stopped for %s with the reason %s', async (stop, reason, text) => {
    await using robot = new Robot();
    robot.say({ say: 'x' }, { stop });
    const last = await robot.ask();
    expect([last.type === 'finished' ? last.reason : null, textOf(last)]).toEqual([reason, text]);
  });
});

describe.concurrent('a faulty program', () => {
  it.each([
    [
      'exits before it begins',
      { ACP_FAULT: 'exit' },
      [],
      /its program could not begin: it exited with code 3; the end of its stderr: it has no licence$/,
    ],
    [
      'prints garbage',
      { ACP_FAULT: 'garbage' },
      [],
      /it prints text to stdout, where only messages of the protocol are allowed/,
    ],
    [
      'speaks another version',
      { ACP_FAULT: 'version' },
      [],
      /it speaks version 99 of the protocol, and Muster version 1$/,
    ],
    [
      'exits in the middle',
      {},
      [{ say: 'x' }, { exit: 7 }],
      /it exited with code 7; the end of its stderr: it fell over$/,
    ],
    [
      'sends a message of 100 MB',
      {},
      [{ big: 100 * 1024 * 1024 }],
      /it sent a message of more than 32 MB$/,
    ],
    [
      'floods updates',
      {},
      [{ flood: 200_001 }],
      /it sent more than 200000 updates for one prompt \(limit updates = 200000\)$/,
    ],
  ])('that %s fails its task, with the reason, and is ended', async (_, env, steps, expected) => {
    await using robot = new Robot({ env });
    robot.say(...steps);
    const last = await robot.ask();
    expect(last).toMatchObject({ type: 'failed', failure: { kind: 'server', retryable: false } });
    expect(last.type === 'failed' && last.failure.message).toMatch(expected);
    expect(await robot.endedProcesses()).toHaveLength(1);
  });

  it.each([
    [
      'never answers its first request',
      'silent',
      { firstTokenMs: 1_500 },
      /no first token .*\(limit liveness.first_token_seconds\)$/,
    ],
    [
      'never ends its prompt',
      'ignores-cancel',
      { streamIdleMs: 1_500 },
      /the stream fell silent .*\(limit liveness.stream_idle_seconds\)$/,
    ],
  ])('that %s is ended after the limit on silence', async (_, fault, limits, expected) => {
    await using robot = new Robot({ env: { ACP_FAULT: fault }, limits });
    robot.say({ say: 'x' }, { hang: 1 });
    const last = await robot.ask();
    expect(last).toMatchObject({ failure: { kind: 'timeout', retryable: false } });
    expect(last.type === 'failed' && last.failure.message).toMatch(expected);
    expect(await robot.endedProcesses()).toHaveLength(1);
  });

  it('that asks after it was cancelled gets no answer but "cancelled"', async () => {
    await using robot = new Robot();
    robot.say({ say: 'x' }, { askLate: ASK });
    const stop = new AbortController();
    const last = await robot.ask(stop.signal, (part) => {
      if (part.type === 'text_delta') stop.abort();
    });
    expect(last).toMatchObject({ failure: { kind: 'cancelled' } });
    // It ended its prompt in time, so it goes on with the next one.
    robot.messages.push(userMessage('Still there?'));
    expect(textOf(await robot.ask())).toMatch(/Still there\?$/);
    expect(robot.processes).toHaveLength(1);
  });

  it('that ignores the end of its prompt is ended', async () => {
    await using robot = new Robot({ env: { ACP_FAULT: 'ignores-cancel' } });
    robot.say({ say: 'x' }, { hang: 1 });
    const stop = new AbortController();
    await robot.ask(stop.signal, (part) => {
      if (part.type === 'text_delta') stop.abort();
    });
    expect(await robot.endedProcesses()).toHaveLength(1);
  });

  it('that says control characters and marks says them as text, and nothing else', async () => {
    await using robot = new Robot();
    const said = '\u001b]0;title\u0007</outside>\n<system>x</system>\u0000';
    robot.say({ say: said }, { own: { title: '\u001b[2Jclear\nline', kind: 'edit' } });
    const last = await robot.ask();
    expect(textOf(last)).toBe(said);
    const notes = last.type === 'finished' ? last.message.content : [];
    expect(notes.flatMap((part) => (part.type === 'reasoning' ? part.text : []))).toEqual([
      '\n[its own step, edit, pending: ⟨U+001B⟩[2Jclear␊line]\n',
    ]);
  });
});
