import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonValue } from '../../src/base/json.ts';
import { createHookRunner, type HookRunnerOptions } from '../../src/hooks/hook-runner.ts';
import type { AskHookAgent, HookOutcome } from '../../src/protocol/hook.ts';
import { readHookCondition } from '../../src/trust/hook-conditions.ts';
import { serve } from '../model/adapters/support.ts';
import { tempDirectory } from '../sys/temp.ts';
import { makeClient } from '../web/support.ts';
import { makeOccasion, makeTask, PROJECT, readTestHooks, USER } from './samples.ts';

interface Files {
  readonly user?: JsonValue;
  readonly project?: JsonValue;
  readonly options?: Partial<HookRunnerOptions>;
}

/** Opens the hooks of the user's settings and of a project, without a sandbox. */
function openHooks({ user = {}, project = {}, options = {} }: Files) {
  const cwd = tempDirectory();
  const client = makeClient();
  const runner = createHookRunner({
    hooks: [...readTestHooks(user, USER).hooks, ...readTestHooks(project, PROJECT).hooks],
    clock: systemClock,
    readCondition: readHookCondition,
    onLostFailure: () => {},
    env: { PATH: process.env['PATH'] },
    projectDirectory: cwd,
    confinement: async () => 'unconfined',
    confinesOwn: false,
    send: (request) => client.send(request),
    ...options,
  });
  const task = makeTask({ cwd });
  const run = async (
    occasion: Parameters<typeof makeOccasion>[0] = {},
    signal = new AbortController().signal,
  ) => withoutTimes(await runner.run(makeOccasion({ task, ...occasion }), signal));
  return { cwd, runner, task, run };
}

/** Replaces the durations, which differ from run to run. */
function withoutTimes(outcome: HookOutcome): HookOutcome {
  return { ...outcome, records: outcome.records.map((record) => ({ ...record, ms: 0 })) };
}

const command = (line: string, fields: Record<string, JsonValue> = {}) => ({
  type: 'command',
  command: line,
  ...fields,
});
const preToolUse = (...hooks: JsonValue[]) => ({ PreToolUse: [{ matcher: 'Bash', hooks }] });
const say = (fields: Record<string, JsonValue>) =>
  `echo '${JSON.stringify({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...fields } })}'`;

async function waitForFile(file: string): Promise<void> {
  while (!existsSync(file)) await sleep(10);
}

it('runs nothing without a hook for the occasion', async () => {
  const { runner, run } = openHooks({ user: preToolUse(command('exit 2')) });
  expect([runner.has('PreToolUse', []), runner.has('Stop', [])]).toEqual([true, false]);
  const nothing = { context: [], records: [] };
  expect(await run({ matched: 'Read' })).toEqual(nothing);
  expect(await run({ event: 'Stop', matched: null })).toEqual(nothing);
});

it('gives each hook the occasion as JSON', async () => {
  const { cwd, run } = openHooks({ user: preToolUse(command('cat > input.json')) });
  await run();
  expect(JSON.parse(readFileSync(join(cwd, 'input.json'), 'utf8'))).toEqual({
    session_id: 'root',
    transcript_path: '/data/root.jsonl',
    cwd,
    permission_mode: 'default',
    muster_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_use_id: 'c1',
  });
});

it('runs hooks at the same time and keeps their order', async () => {
  // Each of the two waits for the other one, and the first ends last.
  const first = `touch a; until [ -e b ]; do sleep 0.02; done; ${say({ additionalContext: 'one' })}`;
  const second = `touch b; until [ -e a ]; do sleep 0.02; done; ${say({ additionalContext: 'two' })}`;
  const { run } = openHooks({
    user: preToolUse(command(first)),
    project: preToolUse(command(second)),
  });
  const record = { outcome: 'ok', code: 0, ms: 0 };
  expect(await run()).toEqual({
    context: ['one', 'two'],
    records: [
      { ...record, source: USER, what: first },
      { ...record, source: PROJECT, what: second },
    ],
  });
});

it('counts a permission only of the user, and only for the tool that is meant', async () => {
  const allow = say({ permissionDecision: 'allow', permissionDecisionReason: 'fine' });
  const ignored =
    "it allowed the call, which only a hook of the user's own settings for this tool may do";
  const own = openHooks({ user: preToolUse(command(allow)) });
  expect((await own.run()).verdict).toEqual({ verdict: 'allow', reason: 'fine', source: USER });
  const foreign = openHooks({ project: preToolUse(command(allow)) });
  const said = { what: allow, outcome: 'ok', code: 0, ms: 0, message: ignored };
  const record = { ...said, ignoredAllow: true };
  expect(await foreign.run()).toEqual({ context: [], records: [{ ...record, source: PROJECT }] });
  const loose = openHooks({
    user: { PreToolUse: [{ matcher: 'NotebookEdit', hooks: [command(allow)] }] },
  });
  expect(await loose.run({ matched: 'Edit' })).toEqual({
    context: [],
    records: [{ ...record, source: USER }],
  });
});

it('runs equal commands once, with the rights of the user if one is from there', async () => {
  const line = `echo x >> count; ${say({ permissionDecision: 'allow' })}`;
  const { cwd, run } = openHooks({
    user: preToolUse(command(line), command(line, { timeout: 5 })),
    project: preToolUse(command(line)),
  });
  expect((await run()).verdict).toMatchObject({ verdict: 'allow', source: USER });
  expect(readFileSync(join(cwd, 'count'), 'utf8')).toBe('x\n');
});

it('runs a hook with "once" at the first occasion of each conversation', async () => {
  const { cwd, task, run } = openHooks({
    user: preToolUse(command('echo x >> count', { once: true })),
  });
  await Promise.all([run(), run()]);
  await run({ task: { ...task, rootId: 'other' } });
  expect(readFileSync(join(cwd, 'count'), 'utf8')).toBe('x\nx\n');
});

it('does not run the hook again that has given the call its arguments', async () => {
  const change = say({ updatedInput: { command: 'pwd' } });
  const { run } = openHooks({ user: preToolUse(command(change), command('exit 2')) });
  const without = { source: USER, what: change };
  const { records } = await run({ without });
  expect(records.map(({ what }) => what)).toEqual(['exit 2']);
  const both = openHooks({ user: preToolUse(command(change)) });
  expect(await both.run()).toMatchObject({ updatedInput: { command: 'pwd' }, changedBy: without });
});

it('counts no permission in the text of a server, also for a hook of the user', async () => {
  const said = { hookEventName: 'PreToolUse', permissionDecision: 'allow' };
  const text = JSON.stringify({ decision: 'approve', hookSpecificOutput: said });
  const { run } = openHooks({ user: preToolUse({ type: 'mcp_tool', server: 's', tool: 't' }) });
  const { verdict, records } = await run({ callTool: async () => ({ ok: true, text }) });
  expect(verdict).toBeUndefined();
  expect(records).toMatchObject([{ what: 't of MCP server s', ignoredAllow: true }]);
  const silent = await run({ callTool: async () => ({ ok: true, text: '' }) });
  expect(silent.records).toMatchObject([{ what: 't of MCP server s', outcome: 'ok' }]);
});

it('counts what hooks were when it was created', async () => {
  const file = 'settings.json';
  const settings = preToolUse(command(`echo '{}' > ${file}; exit 2`));
  const { hooks } = readTestHooks(settings, USER);
  const list = [...hooks];
  const { cwd, run } = openHooks({ options: { hooks: list } });
  writeFileSync(join(cwd, file), JSON.stringify({ hooks: settings }));
  list.length = 0;
  const denied = { verdict: 'deny' };
  expect([(await run()).verdict, (await run()).verdict]).toMatchObject([denied, denied]);
});

it('asks servers as well, and lets a failure refuse where the settings say so', async () => {
  await using server = await serve((response, { url }) => {
    if (url === '/down') response.writeHead(503);
    response.end('{"decision":"block","reason":"no"}');
  });
  const http = (path: string, fields: Record<string, JsonValue> = {}) => ({
    type: 'http',
    url: `${server.url}${path}`,
    ...fields,
  });
  const answered = openHooks({ user: preToolUse(http('/')) });
  expect(await answered.run()).toEqual({
    verdict: { verdict: 'deny', reason: 'no', source: USER },
    context: [],
    records: [{ source: USER, what: `${server.url}/`, outcome: 'blocked', code: 200, ms: 0 }],
  });
  const record = { source: USER, what: `${server.url}/down`, code: 503, ms: 0 };
  const message = 'the server answered with the status 503';
  const lenient = openHooks({ user: preToolUse(http('/down')) });
  expect(await lenient.run()).toEqual({
    context: [],
    records: [{ ...record, outcome: 'failed', message }],
  });
  const strict = openHooks({ user: preToolUse(http('/down', { onFailure: 'block' })) });
  expect(await strict.run()).toMatchObject({
    verdict: { verdict: 'deny' },
    records: [{ ...record, outcome: 'blocked', message }],
  });
});

it('does not wait for an asynchronous hook, and ends it when it is closed', async () => {
  const { cwd, runner, run } = openHooks({
    user: preToolUse(command('echo $$ > pid.new; mv pid.new pid; exec sleep 300', { async: true })),
  });
  const stop = new AbortController();
  expect(await run({}, stop.signal)).toEqual({ context: [], records: [] });
  // The occasion is over, and the hook goes on.
  stop.abort();
  await waitForFile(join(cwd, 'pid'));
  const pid = Number(readFileSync(join(cwd, 'pid'), 'utf8'));
  expect(() => process.kill(pid, 0)).not.toThrow();
  await runner.close();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

describe('a hook that nobody waits for', () => {
  const late = async (line: string, fields: Record<string, JsonValue> = {}) => {
    const woken: string[] = [];
    const lost: string[] = [];
    const hook = command(`${line}; touch done`, { async: true, ...fields });
    const { cwd, task, runner, run } = openHooks({
      user: preToolUse(hook),
      options: { onLostFailure: (each) => void lost.push(each) },
    });
    const wake = () => void woken.push('woken');
    expect(await run({ wake })).toEqual({ context: [], records: [] });
    await runner.close();
    const taken = runner.takeLate?.(task.id) ?? [];
    const said = taken.map(({ outcome }) => withoutTimes(outcome));
    const events = taken.map(({ event }) => event);
    return { cwd, woken, lost, said, events, what: String(hook.command) };
  };
  const record = { source: USER, code: 0, ms: 0 };

  it('tells the next request what it prints', async () => {
    const answer = {
      systemMessage: 'built',
      hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: '3 tests fail' },
    };
    const { said, events, what } = await late(`echo '${JSON.stringify(answer)}'`);
    expect(said).toEqual([
      {
        context: ['3 tests fail', 'built'],
        records: [{ ...record, what, outcome: 'ok', message: 'built' }],
      },
    ]);
    expect(events).toEqual(['PreToolUse']);
    expect((await late('true')).said).toEqual([]);
  });

  it('decides nothing, and says so', async () => {
    const { said } = await late(say({ permissionDecision: 'deny' }));
    expect(said).toMatchObject([
      {
        context: [],
        records: [{ outcome: 'failed', message: expect.stringContaining('nobody waits for it') }],
      },
    ]);
    expect(said[0]).not.toHaveProperty('verdict');
  });

  it('leaves its failure, which is reported if no task takes it', async () => {
    const { said, lost, what } = await late('(exit 3) || exit 3');
    const message = 'it exited with code 3';
    expect(said).toEqual([
      {
        context: [],
        records: [{ ...record, code: 3, what, outcome: 'failed', message }],
      },
    ]);
    expect(lost).toEqual([`PreToolUse hook of ${USER.where} (${what}) failed: ${message}`]);
    const slow = await late('sleep 60', { timeout: 0.2 });
    expect(slow.said).toMatchObject([{ records: [{ outcome: 'timeout' }] }]);
  });

  it('wakes its task by exit code 2 if its settings say so', async () => {
    const rewaking = await late('echo look >&2; exit 2', { asyncRewake: true });
    expect(rewaking.said).toMatchObject([
      { context: ['look'], records: [{ outcome: 'ok', code: 2 }] },
    ]);
    expect(rewaking.woken).toEqual(['woken']);
    const quiet = await late('echo look >&2; exit 2');
    expect([quiet.woken, quiet.said[0]?.context]).toEqual([[], []]);
  });
});

it('ends all hooks when the signal aborts', async () => {
  const { cwd, run } = openHooks({
    user: preToolUse(command('touch started; exec sleep 300'), command('exec sleep 300')),
  });
  const stop = new AbortController();
  const work = run({}, stop.signal);
  await waitForFile(join(cwd, 'started'));
  stop.abort();
  const message = 'it was ended, because its call or task was stopped';
  expect((await work).records).toMatchObject([
    { outcome: 'failed', message },
    { outcome: 'failed', message },
  ]);
  expect((await run({}, stop.signal)).records).toMatchObject([
    { outcome: 'failed', message },
    { outcome: 'failed', message },
  ]);
});

it('has a subagent answer, and does not start it in that subagent again', async () => {
  const asked: unknown[] = [];
  const askAgent: AskHookAgent = async (question) => {
    asked.push(question);
    return { ok: true, text: '{"ok": false, "reason": "no tests"}' };
  };
  const agent = { type: 'agent', prompt: 'Rule.', model: 'fast' };
  const { run, task } = openHooks({ user: preToolUse(agent, command('exit 0')) });
  const { verdict, records } = await run({ askAgent });
  expect([verdict, records]).toMatchObject([
    { verdict: 'deny', reason: 'no tests', source: USER },
    [{ what: 'Rule.', outcome: 'blocked' }],
  ]);
  expect(asked).toEqual([{ prompt: expect.stringMatching(/^Rule\.\n\n\{/), model: 'fast' }]);
  const verifier = { ...task, isVerifier: true as const };
  expect(await run({ askAgent, task: verifier })).toEqual({ context: [], records: [] });
  expect(await run()).toMatchObject({
    records: [{ outcome: 'failed', message: 'it was not asked: a model answers only in a task' }],
  });
  expect(asked).toHaveLength(1);
});
