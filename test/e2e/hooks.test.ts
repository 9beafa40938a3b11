import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { toolResultRounds } from '../../src/testing/index.ts';
import { needs } from '../needs.ts';
import { expectNothingLeft } from './ending.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { delegating } from './tasks.ts';
import { bash, callsInTurn, lastResults, openWorld, type World } from './world.ts';

const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');
const EDIT = { name: 'Write', input: { file_path: 'a.txt', content: 'a' } };
const FLAGS = ['--permission-mode', 'acceptEdits', '--output-format', 'json'];

/** Writes the hooks of the user or of the project: for each event a command, and optionally a matcher before `:`. */
function writeHooks(world: World, scope: 'user' | 'project', hooks: JsonObject): void {
  const { home, workspace } = world.sandbox;
  const file = join(scope === 'user' ? home : workspace, '.claude/settings.json');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ hooks }));
}

/** One hook that runs a command. */
function onEvent(command: string, matcher = ''): readonly JsonObject[] {
  return [{ matcher, hooks: [{ type: 'command', command }] }];
}

function readLines(world: World, name: string): readonly JsonObject[] {
  const path = join(world.sandbox.workspace, name);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line)).filter(isJsonObject);
}

/** An MCP server with the tool `look`, which says about each path what its environment says, and refuses by default. */
const JUDGE_SERVER = `
let rest = '';
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
function answer({ id, method, params }) {
  if (id === undefined) return;
  const send = (result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  if (method === 'initialize') return send({
    protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'judge', version: '1' },
  });
  if (method === 'tools/list') return send({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] });
  const said = JSON.parse(process.env.SAID ?? '{"decision":"block"}');
  said.reason = 'judged ' + params.arguments.path;
  send({ content: [{ type: 'text', text: JSON.stringify(said) }] });
}
`;

describe.concurrent('hooks', () => {
  it('of the user see a call before and after it, and what they say reaches the model', async () => {
    await using world = await openWorld({ script: callsInTurn([EDIT]) });
    writeHooks(world, 'user', {
      SessionStart: onEvent('echo "use tabs"'),
      PreToolUse: onEvent('cat >> "$CLAUDE_PROJECT_DIR/calls.jsonl"', 'Write|Edit'),
      PostToolUse: onEvent('echo "format a.txt" >&2; exit 2', 'Write'),
      SessionEnd: onEvent('cat >> "$CLAUDE_PROJECT_DIR/end.jsonl"'),
    });
    const run = await world.run(['-p', 'go', ...FLAGS]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(JSON.stringify(world.model.requests[0]?.body)).toContain('A hook says: use tabs');
    expect(lastResults(world.model)[0]?.text).toContain('[A hook says: format a.txt]');
    expect(readLines(world, 'calls.jsonl')).toMatchObject([
      {
        hook_event_name: 'PreToolUse',
        session_id: envelopeOf(run).data.task_id,
        tool_name: 'Write',
        tool_input: { file_path: 'a.txt', content: 'a' },
        permission_mode: 'acceptEdits',
      },
    ]);
    expect(readLines(world, 'end.jsonl')).toMatchObject([{ hook_event_name: 'SessionEnd' }]);
    expectNothingLeft(world);
  });

  it('of the user may refuse, and may answer the question that a tool asks by default', async () => {
    await using world = await openWorld({
      script: callsInTurn([EDIT, { ...EDIT, input: { ...EDIT.input, file_path: 'b.txt' } }]),
    });
    const script = `case "$(cat)" in
*b.txt*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"b is closed"}}';;
*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}';; esac`;
    writeHooks(world, 'user', { PreToolUse: onEvent(script) });
    const run = await world.run(['-p', 'go', '--output-format', 'json']);
    expect(run.code).toBe(0);
    const texts = lastResults(world.model).map(({ text }) => text);
    expect(texts[0]).toContain('a.txt');
    expect(texts[1]).toContain('refuses this call: b is closed.');
    expect(existsSync(join(world.sandbox.workspace, 'a.txt'))).toBe(true);
    expect(existsSync(join(world.sandbox.workspace, 'b.txt'))).toBe(false);
  });

  it.runIf(HAS_BUBBLEWRAP)('of a project run only if it is trusted, in the sandbox', async () => {
    await using world = await openWorld({ script: callsInTurn([EDIT]) });
    writeHooks(world, 'project', {
      PreToolUse: onEvent(
        `cat > seen.json; echo x > "${world.sandbox.home}/outside"; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`,
      ),
    });
    const untrusted = await world.run(['-p', 'go', ...FLAGS]);
    expect(untrusted.stderr).toContain('1 file of this project was not used');
    expect(existsSync(join(world.sandbox.workspace, 'seen.json'))).toBe(false);

    const list = await world.run(['trust', 'list']);
    expect(list.stdout).toMatch(/^new {2}hooks +\.claude\/settings\.json /m);

    const trusted = await world.run(['-p', 'go', '--trust-project', '--output-format', 'json']);
    expect(existsSync(join(world.sandbox.workspace, 'seen.json'))).toBe(true);
    expect(existsSync(join(world.sandbox.home, 'outside'))).toBe(false);
    // A project cannot allow anything.
    expect(lastResults(world.model)[0]?.text).toContain('Refused, nothing was done');
    expect(trusted.code).toBe(0);
  });

  it.runIf(HAS_BUBBLEWRAP)('of a project write nothing in plan mode', async () => {
    await using world = await openWorld({ script: callsInTurn([bash('ls')]) });
    const command = `echo x > written; echo x > "$CLAUDE_PROJECT_DIR/written"; cat > seen 2>/dev/null; exit 0`;
    writeHooks(world, 'project', { PreToolUse: onEvent(command), Stop: onEvent(command) });
    const run = async (mode: string) => {
      const ran = await world.run(['-p', 'go', '--trust-project', '--permission-mode', mode]);
      expect(ran.code).toBe(0);
      return ['written', 'seen'].map((name) => existsSync(join(world.sandbox.workspace, name)));
    };
    expect(await run('plan')).toEqual([false, false]);
    expect(await run('acceptEdits')).toEqual([true, true]);
  });

  it('that nobody waits for tell the next request what they say, and report that they failed', async () => {
    const said = { hookEventName: 'PostToolUse', additionalContext: '3 tests fail' };
    const answer = JSON.stringify({ hookSpecificOutput: said });
    // The model goes on until it is told.
    await using world = await openWorld({
      script: (request) => {
        if (JSON.stringify(request.messages).includes('A hook says: 3 tests fail'))
          return { text: 'done' };
        const round = toolResultRounds(request);
        return { toolCalls: [round === 0 ? EDIT : bash(`echo ${round}; sleep 0.2`)] };
      },
    });
    const slow = { type: 'command', command: `echo '${answer}'`, async: true };
    const failing = { type: 'command', command: 'exit 3', async: true };
    writeHooks(world, 'user', {
      PostToolUse: [{ matcher: 'Write', hooks: [slow] }],
      Stop: [{ hooks: [failing] }],
    });
    const run = await world.run(['-p', 'go', '--permission-mode', 'autonomous', ...FLAGS.slice(2)]);
    expect(run.code).toBe(0);
    expect(JSON.stringify(world.model.requests.at(-1)?.body)).toContain(
      'A hook says: 3 tests fail',
    );
    expect(run.stderr).toMatch(/Stop hook of \S+ \(exit 3\) failed: it exited with code 3/);
    expectNothingLeft(world);
  });

  it('that hang, print garbage or cannot be read are reported, and hold up nothing', async () => {
    await using world = await openWorld({ bare: true, script: callsInTurn([bash('echo done')]) });
    writeHooks(world, 'user', {
      PreToolUse: [
        { hooks: [{ type: 'command', command: 'sleep 60', timeout: 1 }] },
        { hooks: [{ type: 'command', command: 'echo "{not json"' }] },
        { hooks: [{ type: 'command', command: 'exit 7' }] },
      ],
      Nonsense: onEvent('true'),
    });
    const run = await world.run(['-p', 'go', '--output-format', 'json']);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain('hooks.Nonsense');
    expect(run.stderr).toMatch(/PreToolUse hook of \S+ \(sleep 60\) took too long/);
    expect(lastResults(world.model)[0]?.text).toContain('done');
    expectNothingLeft(world);
  });

  it.skipIf(!HAS_BUBBLEWRAP)(
    'of an agent run only in its tasks, in the sandbox, and never allow',
    async () => {
      const file = `---
name: guarded
description: Writes.
tools: Write
hooks:
  PreToolUse:
    - matcher: Write
      hooks:
        - type: command
          command: echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'
        - type: command
          command: 'grep -q closed && { echo "closed" >&2; exit 2; }; exit 0'
  Stop:
    - hooks: [{ type: command, command: 'cat > stop.json' }]
---
Write.
`;
      await using world = await openWorld({
        files: { '.git/HEAD': '' },
        script: delegating(
          [
            {
              name: 'Task',
              input: { description: 'd', prompt: 'part 1', subagent_type: 'guarded' },
            },
            { name: 'Write', input: { file_path: 'closed-by-root.txt', content: 'r' } },
          ],
          (request) => {
            const rounds = request.messages.at(-1)?.toolResults ?? [];
            if (rounds.length > 0) return { text: rounds.map(({ text }) => text).join('\n') };
            return {
              toolCalls: [
                { name: 'Write', input: { file_path: 'closed.txt', content: 'x' } },
                { name: 'Write', input: { file_path: 'open.txt', content: 'x' } },
              ],
            };
          },
        ),
      });
      const { home, workspace } = world.sandbox;
      mkdirSync(join(home, '.claude/agents'), { recursive: true });
      writeFileSync(join(home, '.claude/agents/guarded.md'), file);
      const run = await world.run(['-p', 'go', ...FLAGS]);
      expect(run.code).toBe(0);
      const exist = (name: string) => existsSync(join(workspace, name));
      expect(['closed.txt', 'open.txt', 'closed-by-root.txt'].map(exist)).toEqual([
        false,
        true,
        true,
      ]);
      expect(readLines(world, 'stop.json')).toMatchObject([
        { hook_event_name: 'SubagentStop', agent_type: 'guarded', depth: 1 },
      ]);
      await world.run(['-p', 'go', '--output-format', 'json']);
      const answer = lastResults(world.model)[0]?.text ?? '';
      expect(answer).toContain(
        'Write changes files, and neither a rule nor default mode lets it run unasked.',
      );
      expectNothingLeft(world);
    },
  );

  it.skipIf(!HAS_BUBBLEWRAP)('of a skill run once a task has the skill', async () => {
    const refused = { name: 'Write', input: { file_path: 'b.txt', content: 'b' } };
    await using world = await openWorld({
      script: callsInTurn([EDIT], [{ name: 'Skill', input: { skill: 'guard' } }], [refused]),
    });
    const directory = join(world.sandbox.home, '.claude/skills/guard');
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      join(directory, 'SKILL.md'),
      `---
name: guard
description: Guards.
hooks:
  PreToolUse: [{ matcher: Write, hooks: [{ type: command, command: 'echo "guarded" >&2; exit 2' }] }]
---
Guard.
`,
    );
    const run = await world.run(['-p', 'go', ...FLAGS]);
    expect(run.code).toBe(0);
    expect(existsSync(join(world.sandbox.workspace, 'a.txt'))).toBe(true);
    expect(existsSync(join(world.sandbox.workspace, 'b.txt'))).toBe(false);
    expect(lastResults(world.model)[0]?.text).toContain('guarded');
  });

  it('that ask the fast model refuse by its objection, and are counted', async () => {
    const script = callsInTurn([EDIT]);
    await using world = await openWorld({
      script: (request) => {
        if (!JSON.stringify(request.body).includes('You judge one moment')) return script(request);
        const isRefused = JSON.stringify(request.messages).includes('a.txt');
        return { text: isRefused ? '{"ok": false, "reason": "a is closed"}' : '{"ok": true}' };
      },
    });
    const ask = (prompt: string) => [{ hooks: [{ type: 'prompt', prompt }] }];
    writeHooks(world, 'user', {
      PreToolUse: ask('Is the file open? $ARGUMENTS'),
      Stop: ask('Is it done?'),
    });
    const flags = ['--permission-mode', 'acceptEdits', '--output-format', 'stream-json'];
    const run = await world.run(['-p', 'go', ...flags]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(existsSync(join(world.sandbox.workspace, 'a.txt'))).toBe(false);
    const results = world.model.requests.flatMap(({ messages }) =>
      (messages.at(-1)?.toolResults ?? []).map(({ text }) => text),
    );
    expect(results[0]).toContain('refuses this call: a is closed');
    // Two turns and two questions of hooks.
    expect(world.model.requests.length).toBe(4);
    const asked = eventsOf(run).filter((event) => event.type === 'request.ended');
    expect(asked).toMatchObject([
      { purpose: 'the question of a PreToolUse hook', failure: null },
      { purpose: 'the question of a Stop hook', failure: null },
    ]);
  });

  it('are told of refusals, and of an error that ends the main agent', async () => {
    let round = 0;
    await using world = await openWorld({
      script: () => {
        round += 1;
        return round === 1
          ? { toolCalls: [EDIT] }
          : { fault: { kind: 'status', status: 400, message: 'no' } };
      },
    });
    writeHooks(world, 'user', {
      PermissionDenied: onEvent('cat >> "$CLAUDE_PROJECT_DIR/denied.jsonl"', 'Write'),
      StopFailure: onEvent('cat >> "$CLAUDE_PROJECT_DIR/failed.jsonl"'),
      Stop: onEvent('cat >> "$CLAUDE_PROJECT_DIR/stopped.jsonl"'),
    });
    const run = await world.run(['-p', 'go', '--output-format', 'json']);
    expect(run.code).not.toBe(0);
    expect(readLines(world, 'denied.jsonl')).toMatchObject([
      { tool_name: 'Write', reason: expect.stringContaining('neither a rule nor default mode') },
    ]);
    expect(readLines(world, 'failed.jsonl')).toMatchObject([
      { hook_event_name: 'StopFailure', error: expect.any(String) },
    ]);
    expect(readLines(world, 'stopped.jsonl')).toEqual([]);
  });

  it('with a condition run only at calls that may match it, and allow only what it covers', async () => {
    const say = `echo x >> "$CLAUDE_PROJECT_DIR/ran"; echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`;
    const commands = ['touch a', 'git init -q b', 'git init -q c && touch d'];
    await using world = await openWorld({ script: callsInTurn(commands.map(bash)) });
    const hook = { type: 'command', command: say, if: 'Bash(git *)' };
    const broken = { type: 'command', command: 'echo y >> "$CLAUDE_PROJECT_DIR/ran"', if: 'git *' };
    writeHooks(world, 'user', { PreToolUse: [{ matcher: 'Bash', hooks: [hook, broken] }] });
    const run = await world.run(['-p', 'go', '--output-format', 'json']);
    expect(run.stderr).toContain(
      'hooks.PreToolUse[0].hooks[1].if: there is no tool "git", so the hook runs at every call that its matcher covers, and allows none',
    );
    const { workspace } = world.sandbox;
    expect(['a', 'b', 'c', 'd'].map((name) => existsSync(join(workspace, name)))).toEqual([
      false,
      true,
      false,
      false,
    ]);
    const ran = readFileSync(join(workspace, 'ran'), 'utf8');
    expect(ran.trim().split('\n').toSorted()).toEqual(['x', 'x', 'y', 'y', 'y']);
  });

  it('that have a subagent answer let the main agent go on until it says so', async () => {
    const read = { name: 'Read', input: { file_path: 'a.txt' } };
    await using world = await openWorld({
      script: (request) => {
        const text = JSON.stringify(request.messages);
        const results = request.messages.at(-1)?.toolResults ?? [];
        if (JSON.stringify(request.body).includes('You judge one moment in the work of another')) {
          if (results.length === 0) return { toolCalls: [read] };
          const isThere = results[0]?.isError !== true && !text.includes('does not exist');
          return { text: JSON.stringify({ ok: isThere, reason: 'write a.txt' }) };
        }
        if (results.length > 0) return { text: 'written' };
        return text.includes('A hook says: write a.txt') ? { toolCalls: [EDIT] } : { text: 'done' };
      },
    });
    writeHooks(world, 'user', {
      Stop: [{ hooks: [{ type: 'agent', prompt: 'Is a.txt there? $ARGUMENTS', timeout: 120 }] }],
      SubagentStop: onEvent('cat >> "$CLAUDE_PROJECT_DIR/stops.jsonl"'),
    });
    const flags = ['--permission-mode', 'acceptEdits', '--output-format', 'stream-json'];
    const run = await world.run(['-p', 'go', ...flags]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(existsSync(join(world.sandbox.workspace, 'a.txt'))).toBe(true);
    const events = eventsOf(run);
    const created = events.filter((event) => event.type === 'task.created');
    expect(created.map(({ spec }) => [spec.agent.name, spec.source, spec.rights.mode])).toEqual([
      ['main', 'cli', 'acceptEdits'],
      ['verify-hook', 'hook', 'plan'],
      ['verify-hook', 'hook', 'plan'],
    ]);
    const ended = events.filter((event) => event.type === 'child.ended');
    expect(ended.map(({ status, spent }) => [status, spent.tokens > 0])).toEqual([
      ['completed', true],
      ['completed', true],
    ]);
    expect(readLines(world, 'stops.jsonl')).toMatchObject([
      { agent_type: 'verify-hook' },
      { agent_type: 'verify-hook' },
    ]);
    const tree = await world.run(['tasks', 'list', '--all']);
    expect(tree.stdout.match(/verify-hook/g)).toHaveLength(2);
  });

  it('that call a tool of a server do so within the rights of the task', async () => {
    await using world = await openWorld({ script: callsInTurn([EDIT]) });
    const { home, workspace } = world.sandbox;
    const script = join(workspace, 'server.cjs');
    writeFileSync(script, JUDGE_SERVER);
    const servers = join(home, '.config/muster/mcp.json');
    mkdirSync(dirname(servers), { recursive: true });
    const entry = { command: process.execPath, args: [script] };
    writeFileSync(servers, JSON.stringify({ mcpServers: { judge: entry } }));
    const input = { path: '${tool_input.file_path}' };
    const hook = { type: 'mcp_tool', server: 'judge', tool: 'look', input };
    const hooks = {
      PreToolUse: [{ matcher: 'Write', hooks: [hook, { ...hook, tool: 'nope' }] }],
    };
    writeHooks(world, 'user', hooks);
    const answer = async (...flags: readonly string[]) => {
      const run = await world.run(['-p', 'go', ...FLAGS, ...flags]);
      expect(run.code).toBe(0);
      return { text: lastResults(world.model)[0]?.text, stderr: run.stderr };
    };
    const own = await answer();
    expect(own.text).toContain('refuses this call: judged a.txt');
    expect(own.stderr).toContain('MCP server judge is not connected, or has no tool nope');
    const denied = await answer('--deny', 'mcp__judge');
    expect(denied.text).not.toContain('judged');
    expect(denied.stderr).toMatch(/PreToolUse hook of \S+ \(look of MCP server judge\) failed/);
    writeHooks(world, 'user', {});
    writeHooks(world, 'project', hooks);
    const asked = await answer('--trust-project');
    expect(asked.text).not.toContain('judged');
    expect(asked.stderr).toContain('Nobody is asked about the call of a hook');
    const allowed = await answer('--trust-project', '--allow', 'mcp__judge');
    expect(allowed.text).toContain('refuses this call: judged a.txt');
  });

  it.runIf(HAS_BUBBLEWRAP)(
    'that call a tool of a server of the project allow nothing, whatever it answers',
    async () => {
      await using world = await openWorld({
        files: { 'server.cjs': JUDGE_SERVER },
        script: callsInTurn([EDIT]),
      });
      const { workspace } = world.sandbox;
      const said = { hookEventName: 'PreToolUse', permissionDecision: 'allow' };
      const env = { SAID: JSON.stringify({ decision: 'approve', hookSpecificOutput: said }) };
      const entry = { command: process.execPath, args: [join(workspace, 'server.cjs')], env };
      writeFileSync(join(workspace, '.mcp.json'), JSON.stringify({ mcpServers: { judge: entry } }));
      const hook = { type: 'mcp_tool', server: 'judge', tool: 'look' };
      writeHooks(world, 'user', { PreToolUse: [{ matcher: 'Write', hooks: [hook] }] });
      const run = async (...flags: readonly string[]) => {
        const format = ['--output-format', 'stream-json'];
        const ran = await world.run(['-p', 'go', '--trust-project', ...format, ...flags]);
        expect([ran.code, existsSync(join(workspace, 'a.txt'))]).toEqual([0, false]);
        expect(eventsOf(ran).filter((event) => event.type === 'call.granted')).toEqual([]);
        return eventsOf(ran).flatMap((event) =>
          event.type === 'hook.ran' ? event.outcome.records : [],
        );
      };
      // Without a rule, the server of the project is not even asked for the user's hook.
      expect(await run()).toMatchObject([
        { outcome: 'failed', message: expect.stringContaining('Nobody is asked') },
      ]);
      expect(await run('--allow', 'mcp__judge')).toMatchObject([
        { outcome: 'ok', ignoredAllow: true },
      ]);
    },
  );
});
