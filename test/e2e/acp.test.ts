import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { lastUserText, toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { waitUntilPasses } from '../wait-until-passes.ts';
import { AcpClient, type AcpClientOptions } from './acp-client.ts';
import { findSchemaErrors } from './acp-schema.ts';
import { runMuster } from './muster.ts';
import { bash, openWorld, type World } from './world.ts';

const clients: AcpClient[] = [];
afterEach(async () => {
  for (const each of clients.splice(0)) await each.close();
});

async function connect(world: World, options: AcpClientOptions = {}): Promise<AcpClient> {
  const connected = await AcpClient.start(world, options);
  clients.push(connected);
  return connected;
}

const isMain = ({ systemParts }: RecordedRequest) =>
  systemParts.join('\n').includes('You are Muster,');

/** Runs one command and then says what came back. */
const touches = (request: RecordedRequest) =>
  toolResultRounds(request) === 0
    ? { toolCalls: [bash('touch made')] }
    : { text: `said: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` };

/** A main agent that delegates once, to a subagent with this script. */
const delegates =
  (child: (request: RecordedRequest) => object | Promise<object>, input: object = {}) =>
  (request: RecordedRequest) => {
    if (!isMain(request)) return child(request);
    if (toolResultRounds(request) > 0) return { text: 'Delegated.' };
    const task = {
      prompt: 'Look.',
      subagent_type: 'general-purpose',
      description: 'Look',
      ...input,
    };
    return { toolCalls: [{ name: 'Task', input: task }] };
  };

const ASKING = ['--permission-mode', 'default'];

describe('muster acp', () => {
  it('answers a prompt, and tells what it can do', async () => {
    await using world = await openWorld({ script: () => ({ text: 'It is in a.ts.' }) });
    const editor = await connect(world);
    expect(editor.initialized).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: 'muster' },
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true, audio: false } },
    });
    const created = await editor.newSession(world);
    expect(created.modes?.availableModes.map(({ id }) => id)).toEqual([
      'plan',
      'default',
      'acceptEdits',
      'autonomous',
    ]);
    const { sessionId } = created;
    expect(await editor.prompt(sessionId, 'Where is it?')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(sessionId)).toBe('It is in a.ts.');
    expect(await editor.close()).toBe(0);
    const stored = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
    expect(JSON.parse(stored.stdout)).toMatchObject([
      { id: sessionId, source: 'acp', status: 'completed' },
    ]);
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('asks before a command, and runs it after the answer', async () => {
    await using world = await openWorld({ script: touches });
    const editor = await connect(world, { args: ASKING });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Make it.');
    expect(editor.permissions).toMatchObject([
      {
        sessionId,
        toolCall: { title: expect.stringContaining('touch made'), kind: 'execute' },
        options: [
          { optionId: 'once', kind: 'allow_once' },
          { optionId: 'always:task', kind: 'allow_always' },
          { optionId: 'always:project', kind: 'allow_always' },
          { optionId: 'reject', kind: 'reject_once' },
          { optionId: 'words', kind: 'reject_once' },
        ],
      },
    ]);
    const calls = editor.updates(sessionId, 'tool_call', 'tool_call_update');
    expect(calls.map(({ status }) => status)).toEqual(['pending', 'in_progress', 'completed']);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(true);
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('ends the turn after a no to the main agent, and takes the next message as the words', async () => {
    await using world = await openWorld({ script: touches });
    const editor = await connect(world, { args: ASKING, choose: () => 'words' });
    const { sessionId } = await editor.newSession(world);
    expect(await editor.prompt(sessionId, 'Make it.')).toEqual({ stopReason: 'end_turn' });
    expect(await editor.prompt(sessionId, 'Not here: in src.')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(sessionId)).toContain('Not here: in src.');
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
  });

  it('shows the calls of a subagent with their origin, and its progress in the call that waits', async () => {
    await using world = await openWorld({ script: delegates(touches) });
    const editor = await connect(world, { args: ASKING });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Delegate.');
    const started = editor.updates(sessionId, 'tool_call');
    const [delegation, call] = started;
    expect(started).toMatchObject([
      { name: 'Task', status: 'pending' },
      {
        name: 'Bash',
        title: 'touch made',
        _meta: {
          muster: {
            agent: 'general-purpose',
            depth: 1,
            parentToolCallId: delegation?.toolCallId,
          },
          claudeCode: { toolName: 'Bash', parentToolUseId: delegation?.toolCallId },
        },
      },
    ]);
    expect(editor.permissions).toMatchObject([
      {
        toolCall: {
          toolCallId: call?.toolCallId,
          title: expect.stringMatching(/ > general-purpose: Bash: touch made/),
        },
      },
    ]);
    const states = editor
      .updates(sessionId, 'tool_call_update')
      .filter(({ toolCallId }) => toolCallId === delegation?.toolCallId)
      .flatMap(({ status }) => status ?? []);
    expect(states).toEqual(['in_progress', 'in_progress', 'completed', 'completed']);
    expect(editor.text(sessionId)).toBe('Delegated.');
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('shows a subagent as a session of its own to a client that has declared it', async () => {
    await using world = await openWorld({ script: delegates(touches) });
    const editor = await connect(world, { args: ASKING, capabilities: { subagents: {} } });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Delegate.');
    const announced = editor.updates(sessionId, 'subagent_update');
    const [child] = announced;
    const id = child?.sessionId ?? '';
    expect(announced.map(({ state }) => state?.state)).toEqual([
      'running',
      'requires_action',
      'running',
      'idle',
    ]);
    expect(child).toMatchObject({ title: 'general-purpose: Look', capabilities: { cancel: {} } });
    expect(editor.updates(id, 'session_message')).toMatchObject([
      { senderSessionId: sessionId, recipientSessionId: id },
    ]);
    expect(editor.updates(id, 'tool_call')).toMatchObject([{ name: 'Bash' }]);
    expect(editor.text(id)).toContain('said: ');
    expect(editor.permissions).toMatchObject([{ sessionId: id }]);
    expect(findSchemaErrors(editor, 'unstable')).toEqual([]);
  });

  it('leaves tasks in the background alone when a turn ends, is cancelled or follows, and tells their result once', async () => {
    const finish = Promise.withResolvers<void>();
    await using world = await openWorld({
      script: async (request) => {
        if (!isMain(request)) {
          await finish.promise;
          return { text: 'Found it in the background.' };
        }
        if (toolResultRounds(request) === 0) {
          const input = { prompt: 'Look.', subagent_type: 'Explore', run_in_background: true };
          return { toolCalls: [{ name: 'Task', input }] };
        }
        const told = request.messages.filter((each) =>
          JSON.stringify(each).includes('Found it in the background.'),
        );
        return { text: `main: ${told.length} results, ${lastUserText(request).slice(0, 12)}` };
      },
    });
    const editor = await connect(world);
    const { sessionId } = await editor.newSession(world);
    expect(await editor.prompt(sessionId, 'Delegate.')).toEqual({ stopReason: 'end_turn' });
    await editor.cancel(sessionId);
    expect(await editor.prompt(sessionId, 'And now?')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(sessionId)).toContain('main: 0 results, And now?');
    finish.resolve();
    await waitUntilPasses(() => {
      const states = editor.updates(sessionId, 'session_info_update').map(({ _meta }) => _meta);
      expect(states.at(-1)).toEqual({ muster: { state: 'idle' } });
    });
    expect(editor.text(sessionId).match(/main: 1 results/g)).toHaveLength(1);
    const [delegation] = editor.updates(sessionId, 'tool_call');
    const last = editor
      .updates(sessionId, 'tool_call_update')
      .findLast(({ toolCallId }) => toolCallId === delegation?.toolCallId);
    expect(last).toMatchObject({ status: 'completed' });
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('cancels a turn in the middle of a subagent, and goes on with the next prompt', async () => {
    const begun = Promise.withResolvers<void>();
    await using world = await openWorld({
      script: async (request) => {
        if (lastUserText(request).includes('And now?')) return { text: 'All is well.' };
        if (isMain(request))
          return {
            toolCalls: [{ name: 'Task', input: { prompt: 'x', subagent_type: 'Explore' } }],
          };
        begun.resolve();
        return { text: 'never read', delayMs: 20_000 };
      },
    });
    const editor = await connect(world);
    const { sessionId } = await editor.newSession(world);
    const turn = editor.prompt(sessionId, 'Delegate.');
    await begun.promise;
    await editor.cancel(sessionId);
    expect(await turn).toEqual({ stopReason: 'cancelled' });
    expect(await editor.prompt(sessionId, 'And now?')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(sessionId)).toBe('All is well.');
  });

  it('loads a conversation in a new process, with its subagents, and goes on', async () => {
    await using world = await openWorld({ script: delegates(touches) });
    const first = await connect(world, { args: ['--permission-mode', 'autonomous'] });
    const { sessionId } = await first.newSession(world);
    await first.prompt(sessionId, 'Delegate.');
    await first.close();
    const editor = await connect(world);
    const place = { cwd: world.sandbox.workspace, mcpServers: [] };
    const { sessions } = await editor.agent.request('session/list', {
      cwd: world.sandbox.workspace,
    });
    expect(sessions).toMatchObject([{ sessionId, cwd: world.sandbox.workspace }]);
    const loaded = await editor.agent.request('session/load', { sessionId, ...place });
    expect(loaded.modes?.currentModeId).toBe('autonomous');
    const told = editor.updates(sessionId, 'user_message_chunk', 'agent_message_chunk');
    expect(told.map(({ content }) => content)).toEqual([
      { type: 'text', text: 'Delegate.' },
      { type: 'text', text: 'Delegated.' },
    ]);
    expect(editor.updates(sessionId, 'tool_call').map(({ name }) => name)).toEqual([
      'Task',
      'Bash',
    ]);
    await editor.prompt(sessionId, 'Thanks.');
    expect(editor.text(sessionId)).toBe('Delegated.Delegated.');
    await expect(
      editor.agent.request('session/load', { sessionId: 'nothere00000', ...place }),
    ).rejects.toMatchObject({ code: -32_002 });
    await expect(
      editor.agent.request('session/load', { sessionId, cwd: world.sandbox.home, mcpServers: [] }),
    ).rejects.toThrow(/cwd: the conversation .* belongs to the directory/);
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('resumes, forks, closes and deletes conversations', async () => {
    await using world = await openWorld({
      script: ({ messages }) => ({ text: `${messages.length} messages` }),
    });
    const editor = await connect(world);
    const place = { cwd: world.sandbox.workspace, mcpServers: [] };
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'One.');
    await editor.agent.request('session/close', { sessionId });
    await expect(editor.prompt(sessionId, 'Two.')).rejects.toMatchObject({ code: -32_002 });
    await editor.agent.request('session/resume', { sessionId, ...place });
    await editor.prompt(sessionId, 'Two.');
    const fork = await editor.agent.request('session/fork', { sessionId, ...place });
    await editor.prompt(fork.sessionId, 'Three.');
    await editor.prompt(fork.sessionId, 'Four.');
    expect([editor.text(sessionId), editor.text(fork.sessionId)]).toEqual([
      '1 messages3 messages',
      '5 messages7 messages',
    ]);
    // The SDK takes the error for success. The beginning of an id deletes nothing.
    await editor.agent.request('session/delete', { sessionId: sessionId.slice(0, 8) });
    const stored = await editor.agent.request('session/list', {});
    expect(stored.sessions).toHaveLength(2);
    await editor.agent.request('session/delete', { sessionId });
    const { sessions } = await editor.agent.request('session/list', {});
    expect(sessions.map((each) => each.sessionId)).toEqual([fork.sessionId]);
    expect(findSchemaErrors(editor, 'unstable')).toEqual([]);
  });

  it('begins a fork in the mode that the user has chosen, with the texts of the editor', async () => {
    await using world = await openWorld({
      script: ({ messages }) => ({ text: JSON.stringify(messages) }),
    });
    const editor = await connect(world);
    const place = { cwd: world.sandbox.workspace, mcpServers: [] };
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'One.');
    await editor.agent.request('session/set_mode', { sessionId, modeId: 'acceptEdits' });
    await editor.prompt(sessionId, 'Two.');
    const fork = await editor.agent.request('session/fork', { sessionId, ...place });
    expect(fork.modes?.currentModeId).toBe('acceptEdits');
    await editor.agent.request('session/set_mode', { sessionId: fork.sessionId, modeId: 'plan' });
    await editor.prompt(fork.sessionId, [
      { type: 'text', text: 'Three' },
      { type: 'resource', resource: { uri: 'file:///b.ts', text: 'not saved' } },
    ]);
    expect(editor.text(fork.sessionId)).toContain('not saved');
    const { configOptions } = await editor.agent.request('session/set_config_option', {
      sessionId: fork.sessionId,
      configId: 'effort',
      value: 'default',
    });
    expect(configOptions).toMatchObject([{ id: 'mode', currentValue: 'plan' }, {}, {}, {}]);
    expect(findSchemaErrors(editor, 'unstable')).toEqual([]);
  });

  it('sets the mode and options, and reports changes', async () => {
    await using world = await openWorld({ script: touches });
    const editor = await connect(world, { args: ASKING });
    const { sessionId, configOptions } = await editor.newSession(world);
    expect(configOptions?.map(({ id }) => id)).toEqual(['mode', 'model', 'effort', 'agent']);
    await editor.agent.request('session/set_mode', { sessionId, modeId: 'plan' });
    const set = async (configId: string, value: string) =>
      await editor.agent.request('session/set_config_option', { sessionId, configId, value });
    const { configOptions: changed } = await set('agent', 'Explore');
    expect(changed.map((each) => ('currentValue' in each ? each.currentValue : null))).toEqual([
      'plan',
      expect.stringContaining('/'),
      'default',
      'Explore',
    ]);
    await expect(set('agent', 'nobody')).rejects.toThrow(/there is no agent "nobody"/);
    await expect(set('volume', '11')).rejects.toThrow(/set mode, model, effort or agent/);
    await expect(
      editor.agent.request('session/set_mode', { sessionId, modeId: 'yolo' }),
    ).rejects.toThrow(/choose plan, default, acceptEdits, autonomous/);
    await editor.prompt(sessionId, 'Make it.');
    // The mode that was set stays, although the command line names another one.
    await editor.prompt(sessionId, 'Make it.');
    expect(editor.updates(sessionId, 'current_mode_update')).toEqual([]);
    expect(editor.permissions).toEqual([]);
    expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(false);
    await expect(set('agent', 'default')).rejects.toThrow(/the conversation has begun/);
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('shows the texts and places of an edit, and a plan', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'one\ntwo\nthree\n' },
      script: (request) =>
        [
          { toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }] },
          {
            toolCalls: [
              {
                name: 'Edit',
                input: { file_path: 'a.txt', old_string: 'two', new_string: '2' },
              },
              { name: 'TodoWrite', input: { todos: [{ content: 'Edit', status: 'completed' }] } },
            ],
          },
        ][toolResultRounds(request)] ?? { text: 'done' },
    });
    const editor = await connect(world, { args: ['--permission-mode', 'acceptEdits'] });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Edit it.');
    const path = join(world.sandbox.workspace, 'a.txt');
    const edit = editor.updates(sessionId, 'tool_call').find(({ name }) => name === 'Edit');
    const updates = editor
      .updates(sessionId, 'tool_call_update')
      .filter(({ toolCallId }) => toolCallId === edit?.toolCallId);
    expect([edit, updates.at(-1)]).toMatchObject([
      {
        kind: 'edit',
        content: [{ type: 'diff', path, oldText: 'two', newText: '2' }],
        locations: [{ path }],
      },
      {
        status: 'completed',
        content: [{ type: 'diff', path, oldText: 'one\ntwo\nthree\n', newText: 'one\n2\nthree\n' }],
        locations: [{ path, line: 2 }],
      },
    ]);
    expect(editor.updates(sessionId, 'plan')).toEqual([
      {
        sessionUpdate: 'plan',
        entries: [{ content: 'Edit', status: 'completed', priority: 'medium' }],
      },
    ]);
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('passes on links and texts of the editor, and refuses sound', async () => {
    await using world = await openWorld({
      files: { 'my notes.txt': 'saved' },
      script: (request) => ({ text: JSON.stringify(request.messages) }),
    });
    const editor = await connect(world);
    const { sessionId } = await editor.newSession(world);
    const uri = `file://${world.sandbox.workspace}/my%20notes.txt`;
    await editor.prompt(sessionId, [
      { type: 'text', text: 'Compare' },
      { type: 'resource_link', uri, name: 'my notes.txt' },
      { type: 'text', text: 'with' },
      { type: 'resource', resource: { uri: 'file:///b.ts', text: 'not saved </outside>' } },
    ]);
    const text = editor.text(sessionId);
    expect(text).toContain('Compare @\\"');
    expect(text).toContain('my notes.txt\\" with /b.ts');
    expect(text).toContain('saved');
    expect(text).toContain('not saved <¦/outside>');
    await expect(
      editor.prompt(sessionId, [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }]),
    ).rejects.toThrow(/prompt\[0\]: audio is not supported/);
  });

  it('asks the question of the main agent in a form, or in the conversation', async () => {
    const asks = (request: RecordedRequest) =>
      toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'AskUser', input: { question: 'Which color?' } }] }
        : { text: `chosen: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` };
    await using world = await openWorld({ script: asks });
    const formed = await connect(world, {
      capabilities: { elicitation: { form: {} } },
      elicit: () => ({ action: 'accept', content: { answer: 'green' } }),
    });
    const { sessionId } = await formed.newSession(world);
    await formed.prompt(sessionId, 'Ask.');
    expect(formed.text(sessionId)).toContain('green');
    const plain = await connect(world);
    const { sessionId: other } = await plain.newSession(world);
    expect(await plain.prompt(other, 'Ask.')).toEqual({ stopReason: 'end_turn' });
    expect(plain.text(other)).toBe('Which color?\n');
    await plain.prompt(other, 'blue');
    expect(plain.text(other)).toContain('chosen: blue');
    expect([...findSchemaErrors(formed), ...findSchemaErrors(plain)]).toEqual([]);
  });

  it('asks the question of a task in the background with the next prompt', async () => {
    await using world = await openWorld({
      script: (request) => {
        if (!isMain(request)) return touches(request);
        if (request.messages.length > 1) return { text: 'Delegated.' };
        const input = { prompt: 'x', subagent_type: 'general-purpose', run_in_background: true };
        return { toolCalls: [{ name: 'Task', input }] };
      },
    });
    const editor = await connect(world, { args: ASKING });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Delegate.');
    expect(editor.permissions).toEqual([]);
    await waitUntilPasses(() => {
      const contents = editor.updates(sessionId, 'tool_call_update').map(({ content }) => content);
      expect(JSON.stringify(contents)).toContain('Waits for an answer: Bash touch made');
    });
    // The task may ask only after the next prompt has ended, and then with the one after it.
    await waitUntilPasses(async () => {
      await editor.prompt(sessionId, 'And?');
      expect(editor.permissions).toHaveLength(1);
    });
    await waitUntilPasses(() =>
      expect(existsSync(join(world.sandbox.workspace, 'made'))).toBe(true),
    );
  });

  it('runs three sessions at once', async () => {
    await using world = await openWorld({
      script: (request) => ({ text: `to ${lastUserText(request)}`, delayMs: 100 }),
    });
    const editor = await connect(world);
    const ids = await Promise.all(
      ['a', 'b', 'c'].map(async (word) => {
        const { sessionId } = await editor.newSession(world);
        await editor.prompt(sessionId, word);
        return sessionId;
      }),
    );
    expect(ids.map((id) => editor.text(id))).toEqual(['to a', 'to b', 'to c']);
  });

  it('says that it needs a model, and works without one if the user wants that', async () => {
    await using world = await openWorld({ files: { 'a.ts': 'export const answer = 42;\n' } });
    const keyless = { ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '' };
    const editor = await connect(world, {
      environment: keyless,
      capabilities: { auth: { terminal: true } },
    });
    expect(editor.initialized.authMethods?.map(({ id }) => id)).toEqual([
      'terminal',
      'configured',
      'offline',
    ]);
    await expect(editor.newSession(world)).rejects.toMatchObject({ code: -32_000 });
    await expect(
      editor.agent.request('authenticate', { methodId: 'configured' }),
    ).rejects.toMatchObject({ code: -32_000 });
    await editor.agent.request('authenticate', { methodId: 'offline' });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Where is the answer?');
    expect(editor.text(sessionId)).toContain('a.ts');
  });

  it('stops everything when the client goes, and the conversation can be continued', async () => {
    const begun = Promise.withResolvers<void>();
    await using world = await openWorld({
      script: (request) => {
        if (lastUserText(request).includes('Go on')) return { text: 'continued' };
        begun.resolve();
        return { text: 'never read', delayMs: 20_000 };
      },
    });
    const editor = await connect(world);
    const { sessionId } = await editor.newSession(world);
    const turn = editor.prompt(sessionId, 'Work.').catch(() => 'gone');
    await begun.promise;
    expect(await editor.close()).toBe(0);
    await turn;
    const continued = await world.run(['-p', 'Go on', '--resume', sessionId]);
    expect(continued).toMatchObject({ code: 0, stdout: 'continued\n' });
  });

  it('answers garbage with errors, and goes on', async () => {
    await using world = await openWorld({ script: () => ({ text: 'fine' }) });
    const editor = await connect(world);
    const { sessionId } = await editor.newSession(world);
    editor.child.stdin?.write('this is no JSON\n{"jsonrpc":"2.0","id":77,"method":"nothing"}\n');
    editor.child.stdin?.write(
      '[]\n{"half": \n{"jsonrpc":"2.0","id":78,"method":"session/prompt","params":{}}\n',
    );
    await waitUntilPasses(() => {
      const errors = editor.wire.flatMap(({ from, message }) =>
        from === 'agent' && 'error' in message ? [message.id] : [],
      );
      expect(errors).toEqual(expect.arrayContaining([77, 78]));
    });
    expect(await editor.prompt(sessionId, 'Well?')).toEqual({ stopReason: 'end_turn' });
    expect(editor.text(sessionId)).toBe('fine');
  });

  it('shows notices to a client that has declared them', async () => {
    await using world = await openWorld({
      files: { '.muster/agents/own.md': '---\ndescription: Own.\n---\nYou are own.\n' },
      script: () => ({ text: 'fine' }),
    });
    const editor = await connect(world, { capabilities: { session: { notices: {} } } });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Well?');
    const notices = editor.updates(sessionId, 'notice').map(({ title }) => title);
    expect(notices.join('\n')).toContain('muster trust');
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('prints nothing but the protocol on stdout, whatever happens', async () => {
    await using world = await openWorld({ script: () => ({ text: 'fine' }) });
    const { workspace } = world.sandbox;
    writeFileSync(join(workspace, 'CLAUDE.md'), 'x\n');
    const editor = await connect(world, { args: ['--verbose', '--debug'] });
    const lines: string[] = [];
    editor.child.stdout?.on('data', (chunk) => lines.push(...String(chunk).split('\n')));
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Well?');
    const isMessage = (line: string) => line === '' || line.startsWith('{"jsonrpc":"2.0"');
    expect(lines.filter((line) => !isMessage(line))).toEqual([]);
    const exited = once(editor.child, 'exit');
    editor.child.kill('SIGINT');
    expect(await exited).toEqual([130, null]);
    expect(readFileSync(join(workspace, 'CLAUDE.md'), 'utf8')).toBe('x\n');
  });

  it('keeps the call of a command in the background open until the command ends', async () => {
    await using world = await openWorld({
      script: (request) =>
        [
          {
            toolCalls: [
              {
                name: 'Bash',
                input: { command: 'sleep 0.5; exit 3', run_in_background: true },
              },
            ],
          },
        ][toolResultRounds(request)] ?? { text: 'Started.', delayMs: 1_500 },
    });
    const editor = await connect(world, { args: ['--permission-mode', 'autonomous'] });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Start it.');
    await waitUntilPasses(() => {
      const updates = editor.updates(sessionId, 'tool_call_update');
      expect(updates.flatMap(({ status }) => status ?? [])).toEqual(['in_progress', 'failed']);
      expect(JSON.stringify(updates.at(-1)?.content)).toContain('ended with exit code 3');
    });
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('asks whether a plan may be carried out, and reports the mode that follows', async () => {
    await using world = await openWorld({
      script: (request) =>
        [{ toolCalls: [{ name: 'ExitPlanMode', input: { plan: '# Plan\n\nDo it.' } }] }][
          toolResultRounds(request)
        ] ?? { text: 'Done.' },
    });
    const editor = await connect(world, {
      args: ['--permission-mode', 'plan'],
      choose: ({ options }) => options[1]?.optionId ?? '',
    });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Plan it.');
    expect(editor.permissions).toMatchObject([
      {
        toolCall: { kind: 'switch_mode', content: [{ content: { text: '# Plan\n\nDo it.' } }] },
        options: [
          { optionId: 'approve' },
          { optionId: 'approve-edits' },
          { optionId: 'reject' },
          { optionId: 'words' },
        ],
      },
    ]);
    expect(editor.updates(sessionId, 'current_mode_update')).toEqual([
      { sessionUpdate: 'current_mode_update', currentModeId: 'acceptEdits' },
    ]);
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('reads and changes the text that the editor has, which is not saved', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'one\r\ntwo\r\n', 'b.txt': 'same\n' },
      script: (request) =>
        [
          {
            toolCalls: [
              { name: 'Read', input: { file_path: 'a.txt' } },
              { name: 'Read', input: { file_path: 'b.txt' } },
              bash('cat a.txt'),
            ],
          },
          {
            toolCalls: [
              {
                name: 'Edit',
                input: { file_path: 'a.txt', old_string: 'changed', new_string: 'edited' },
              },
            ],
          },
        ][toolResultRounds(request)] ?? {
          text: request.messages
            .flatMap(({ toolResults }) => toolResults.map(({ text }) => text))
            .join('\n'),
        },
    });
    const path = join(world.sandbox.workspace, 'a.txt');
    const files = new Map([
      [path, 'one\nchanged\n'],
      [join(world.sandbox.workspace, 'b.txt'), 'same\n'],
    ]);
    const editor = await connect(world, { files, args: ['--permission-mode', 'acceptEdits'] });
    const { sessionId } = await editor.newSession(world);
    await editor.prompt(sessionId, 'Edit it.');
    const text = editor.text(sessionId);
    expect(text).toContain(
      "2\tchanged\n[this is the text in the user's editor, which is not saved: commands and searches see the file on the disk]",
    );
    expect(text).toContain('1\tsame\n');
    expect(text.match(/which is not saved/g)).toHaveLength(1);
    expect(text).toContain('two');
    expect(readFileSync(path, 'utf8')).toBe('one\r\nedited\r\n');
    const receipt = await world.run(['tasks', 'show', sessionId, '--json']);
    expect(receipt.stdout).toContain(path);
    expect(findSchemaErrors(editor)).toEqual([]);
  });

  it('has the tools of the MCP servers of the client', async () => {
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) === 0
          ? { toolCalls: [{ name: 'mcp__notes__ping', input: {} }] }
          : { text: `said: ${request.messages.at(-1)?.toolResults?.[0]?.text ?? ''}` },
    });
    const editor = await connect(world, { args: ['--allow', 'mcp__notes__ping'] });
    const { sessionId } = await editor.agent.request('session/new', {
      cwd: world.sandbox.workspace,
      mcpServers: [
        {
          name: 'notes',
          command: process.execPath,
          args: [join(import.meta.dirname, '../mcp/servers/content.mjs')],
          env: [],
        },
      ],
    });
    await editor.prompt(sessionId, 'Echo.');
    expect(editor.text(sessionId)).toContain('pong');
  });
});
