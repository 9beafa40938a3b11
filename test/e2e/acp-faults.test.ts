import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { waitForMarked } from './processes.ts';
import { RawAcpClient } from './raw-acp-client.ts';
import { bash, openWorld, type World } from './world.ts';

const ASKING = ['--permission-mode', 'default'];
const DONE = { result: { stopReason: 'end_turn' } };

const isMain = ({ systemParts }: RecordedRequest) =>
  systemParts.join('\n').includes('You are Muster,');

const touches = (request: RecordedRequest) =>
  toolResultRounds(request) === 0
    ? { toolCalls: [bash('touch made')] }
    : { text: `said: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` };

/** Returns the text of the answers that a client got. */
function textOf({ messages }: RawAcpClient): string {
  return messages
    .flatMap(({ params }) => {
      const { update }: { update?: { sessionUpdate: string; content: { text: string } } } =
        Object(params);
      return update?.sessionUpdate === 'agent_message_chunk' ? [update.content.text] : [];
    })
    .join('');
}

async function expectNothingRuns(world: World): Promise<void> {
  await waitForMarked(world.mark, (pids) => pids.length === 0);
}

describe('messages that are no messages', () => {
  it('names the limit of a message that is too large, and ends', async () => {
    await using world = await openWorld({ script: () => ({ text: 'fine' }) });
    const editor = new RawAcpClient(world);
    const sessionId = await editor.begin(world);
    void editor.prompt(sessionId, 'x'.repeat(100 * 1024 * 1024)).catch(() => {});
    expect(await editor.ended).toEqual({ code: 1, signal: null });
    expect(editor.stderr).toContain('a message of the editor has more than 32 MB');
    await expectNothingRuns(world);
  });

  it('ends without an error at the end of the input, in the middle of a message too', async () => {
    await using world = await openWorld();
    const editor = new RawAcpClient(world);
    await editor.begin(world);
    editor.write('{"jsonrpc":"2.0","id":9,"method":"session/pro');
    editor.child.stdin?.end();
    expect(await editor.ended).toEqual({ code: 0, signal: null });
    expect(editor.messages.at(-1)).toMatchObject({ id: null, error: { code: -32_700 } });
  });

  it('reads a message that comes in pieces', async () => {
    await using world = await openWorld({ script: () => ({ text: 'fine' }) });
    const editor = new RawAcpClient(world);
    const sessionId = await editor.begin(world);
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id: 5,
      method: 'session/prompt',
      params: { sessionId, prompt: [{ type: 'text', text: 'Grüße' }] },
    });
    for (const byte of Buffer.from(`${text}\n`)) editor.child.stdin?.write(Buffer.of(byte));
    expect(await editor.find(({ id }) => id === 5)).toMatchObject(DONE);
    expect(lastUserText(world.model.requests.at(-1) ?? never())).toBe('Grüße');
  });
});

function never(): never {
  throw new Error('there was no request');
}

describe('a client that vanishes', () => {
  it.each(['before initialize', 'after session/new'])('%s', async (state) => {
    await using world = await openWorld();
    const editor = new RawAcpClient(world);
    if (state === 'after session/new') await editor.begin(world);
    editor.vanish();
    await editor.ended;
    await expectNothingRuns(world);
  });

  const hangs = { text: 'never read', delayMs: 60_000 };
  const states: Readonly<Record<string, (request: RecordedRequest) => object>> = {
    'in a turn': () => hangs,
    'in a command': () => ({ toolCalls: [bash('sleep 300')] }),
    'in a child': (request) =>
      isMain(request)
        ? { toolCalls: [{ name: 'Task', input: { prompt: 'x', subagent_type: 'Explore' } }] }
        : hangs,
    'in a question': () => ({ toolCalls: [{ name: 'AskUser', input: { question: 'Which?' } }] }),
    'between turns with work in the background': (request) => {
      if (!isMain(request)) return hangs;
      if (toolResultRounds(request) > 0) return { text: 'Started.' };
      const task = { prompt: 'x', subagent_type: 'Explore', run_in_background: true };
      return {
        toolCalls: [
          { name: 'Task', input: task },
          { name: 'Bash', input: { command: 'sleep 300', run_in_background: true } },
        ],
      };
    },
  };

  it.each(Object.keys(states))('%s', async (state) => {
    await using world = await openWorld({
      script: (request) =>
        lastUserText(request).includes('Go on')
          ? { text: 'continued' }
          : (states[state]?.(request) ?? hangs),
    });
    const editor = new RawAcpClient(world, { args: ['--permission-mode', 'autonomous'] });
    const sessionId = await editor.begin(world, { elicitation: { form: {} } });
    const turn = editor.prompt(sessionId, 'Work.');
    turn.catch(() => {});
    await waitUntilPasses(() => expect(world.model.requests.length).toBeGreaterThan(0));
    if (state === 'in a question') await editor.findRequest('elicitation/create');
    if (state === 'in a command')
      await editor.find((each) => JSON.stringify(each).includes('"in_progress"'));
    if (state.startsWith('between')) await turn;
    editor.vanish();
    await editor.ended;
    await expectNothingRuns(world);
    const continued = await world.run(['-p', 'Go on', '--resume', sessionId]);
    expect(continued).toMatchObject({ code: 0, stdout: 'continued\n' });
  });
});

describe('a turn', () => {
  it('reads a prompt that arrives while it runs, and both prompts end', async () => {
    const second = Promise.withResolvers<void>();
    await using world = await openWorld({
      script: async (request) => {
        if (toolResultRounds(request) === 0 && !lastUserText(request).includes('Second')) {
          await second.promise;
          return { toolCalls: [bash('touch made')] };
        }
        return { text: `read: ${lastUserText(request)}` };
      },
    });
    const editor = new RawAcpClient(world, { args: ['--permission-mode', 'autonomous'] });
    const sessionId = await editor.begin(world);
    const first = editor.prompt(sessionId, 'First.');
    await waitUntilPasses(() => expect(world.model.requests).toHaveLength(1));
    const then = editor.prompt(sessionId, 'Second.');
    second.resolve();
    expect(await Promise.all([first, then])).toMatchObject([DONE, DONE]);
    expect(textOf(editor)).toContain('Second.');
    editor.child.stdin?.end();
    await editor.ended;
    expect(
      world.model.requests.filter((each) => JSON.stringify(each.messages).includes('Second.')),
    ).not.toEqual([]);
  });

  it('loses none of two prompts that are sent at once', async () => {
    await using world = await openWorld({
      script: (request) => ({ text: `read: ${JSON.stringify(request.messages)}` }),
    });
    const editor = new RawAcpClient(world);
    const sessionId = await editor.begin(world);
    const both = [editor.prompt(sessionId, 'First.'), editor.prompt(sessionId, 'Second.')];
    expect(await Promise.all(both)).toMatchObject([DONE, DONE]);
    const last = JSON.stringify(world.model.requests.at(-1)?.messages);
    expect([last.includes('First.'), last.includes('Second.')]).toEqual([true, true]);
  });

  it('is continued by another process after kill -9', async () => {
    let isKilled = false;
    await using world = await openWorld({
      script: (request) =>
        isKilled
          ? { text: `continued, ${lastUserText(request)}` }
          : toolResultRounds(request) === 0
            ? { toolCalls: [bash('touch made')] }
            : { text: 'never read', delayMs: 60_000 },
    });
    const killed = new RawAcpClient(world, { args: ['--permission-mode', 'autonomous'] });
    const sessionId = await killed.begin(world);
    killed.prompt(sessionId, 'Work.').catch(() => {});
    await waitUntilPasses(() => expect(world.model.requests).toHaveLength(2));
    killed.child.kill('SIGKILL');
    isKilled = true;
    await once(killed.child, 'exit');
    await expectNothingRuns(world);
    const editor = new RawAcpClient(world);
    await editor.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
    const place = { cwd: world.sandbox.workspace, mcpServers: [] };
    expect(await editor.request('session/load', { sessionId, ...place })).toMatchObject({
      result: { modes: {} },
    });
    const told = JSON.stringify(editor.messages);
    expect([told.includes('Work.'), told.includes('touch made')]).toEqual([true, true]);
    expect(await editor.prompt(sessionId, 'Go on.')).toMatchObject(DONE);
    expect(textOf(editor)).toContain('continued, Go on.');
    editor.child.stdin?.end();
    expect(await editor.ended).toEqual({ code: 0, signal: null });
  });
});

describe('an answer to a question', () => {
  const REFUSALS: Readonly<Record<string, object>> = {
    'an option that was not offered': {
      result: { outcome: { outcome: 'selected', optionId: 'yolo' } },
    },
    'an error': { error: { code: -32_603, message: 'no window' } },
    'a result without an outcome': { result: {} },
    'an outcome that is a number': { result: { outcome: 5 } },
    'no object': { result: 'yes' },
    'neither a result nor an error': {},
  };

  it.each(Object.keys(REFUSALS))('that is %s refuses', async (name) => {
    await using world = await openWorld({ script: touches });
    const editor = new RawAcpClient(world, { args: ASKING });
    const sessionId = await editor.begin(world);
    const turn = editor.prompt(sessionId, 'Make it.');
    const id = await editor.findRequest('session/request_permission');
    editor.send({ id, ...REFUSALS[name] });
    expect(await turn).toMatchObject({ result: { stopReason: expect.any(String) } });
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
    expect(await editor.prompt(sessionId, 'Well?')).toMatchObject({ result: {} });
    editor.child.stdin?.end();
    expect(await editor.ended).toEqual({ code: 0, signal: null });
  });

  it('counts once if it comes twice', async () => {
    await using world = await openWorld({ script: touches });
    const editor = new RawAcpClient(world, { args: ASKING });
    const sessionId = await editor.begin(world);
    const turn = editor.prompt(sessionId, 'Make it.');
    const id = await editor.findRequest('session/request_permission');
    const answer = (optionId: string): JsonObject => ({
      id,
      result: { outcome: { outcome: 'selected', optionId } },
    });
    editor.send(answer('once'));
    editor.send(answer('reject'));
    expect(await turn).toMatchObject(DONE);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(true);
    expect(textOf(editor)).toContain('[exit code 0]');
  });

  it('may never come: the turn can be cancelled', async () => {
    await using world = await openWorld({ script: touches });
    const editor = new RawAcpClient(world, { args: ASKING });
    const sessionId = await editor.begin(world);
    const turn = editor.prompt(sessionId, 'Make it.');
    await editor.findRequest('session/request_permission');
    editor.send({ method: 'session/cancel', params: { sessionId } });
    expect(await turn).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
  });
});

describe('stdout', () => {
  it('carries only the protocol, whatever a library or Node prints', async () => {
    await using world = await openWorld({ script: touches });
    const noise = join(world.sandbox.root, 'noise.mjs');
    const start = join(world.sandbox.root, 'start');
    // The noise begins when the test says so: whatever is printed before Muster has begun does not come from Muster.
    writeFileSync(
      noise,
      `import { existsSync, writeFileSync } from 'node:fs';
setInterval(() => {
  if (!existsSync(${JSON.stringify(start)})) return;
  console.log('noise of a library');
  process.stdout.write('noise without an end');
  process.emitWarning('noise of Node');
}, 5).unref();
`,
    );
    const editor = new RawAcpClient(world, {
      args: ['--permission-mode', 'autonomous'],
      environment: { NODE_OPTIONS: `--import=${noise}` },
    });
    const sessionId = await editor.begin(world);
    writeFileSync(start, '');
    await waitUntilPasses(() => expect(editor.stderr).toContain('noise of a library'));
    // A line that is no message makes the client fail.
    expect(await editor.prompt(sessionId, 'Make it.')).toMatchObject(DONE);
    expect(editor.stderr).toContain('noise without an end');
    expect(editor.stderr).toContain('noise of Node');
    editor.child.stdin?.end();
    expect(await editor.ended).toEqual({ code: 0, signal: null });
  });
});
