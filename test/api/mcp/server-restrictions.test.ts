import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ServerRestrictions } from '../../../src/api/mcp/server-restrictions.ts';
import { openSession } from '../../../src/api/open-session.ts';
import { parseRules } from '../../../src/policy/rules/rules.ts';
import type { Restriction } from '../../../src/protocol/state/questions.ts';
import { startFakeModel } from '../../../src/testing/index.ts';
import { HAS_BUBBLEWRAP } from '../../sys/sandbox/support.ts';

const source = { kind: 'answer', where: 'test' } as const;

function restrict(list: Restriction['list'], text: string): Restriction {
  const texts = { allow: [], ask: [], deny: [], [list]: [{ text, source }] };
  const [rule] = parseRules(texts).rules[list];
  if (rule === undefined) throw new Error(`no rule: ${text}`);
  return { list, rule };
}

test('a sandbox is too wide if a rule hides or protects another file', () => {
  const base = parseRules({ allow: [], ask: [], deny: [{ text: 'Read(old)', source }] }).rules;
  const restrictions = new ServerRestrictions(base, { roots: ['/w'], home: '/h' });
  const set = (
    conversation: string,
    ...rules: readonly (readonly [Restriction['list'], string])[]
  ) =>
    restrictions.set(
      conversation,
      rules.map(([list, text]) => restrict(list, text)),
    );
  expect([
    set('a'),
    set('a', ['deny', 'Bash(rm:*)'], ['deny', 'mcp__x'], ['deny', 'Read(old)']),
    set('a', ['deny', 'Read(new)']),
    set('b', ['ask', 'Read(new)']),
    set('a'),
    set('b', ['ask', 'Read(new)'], ['deny', 'Edit(other)']),
    set('b'),
    set('a', ['deny', 'Edit']),
  ]).toEqual([false, false, true, false, false, true, false, true]);
  expect(restrictions.rules.deny.map(({ text }) => text)).toEqual(['Read(old)', 'Edit']);
});

/** A server whose tool reads a file. */
const SERVER = `
const { readFileSync } = require('node:fs');
const start = String(process.hrtime.bigint());
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const read = () => {
    try { return readFileSync(params.arguments.path, 'utf8') || 'it is empty'; } catch (error) { return error.code; }
  };
  const results = {
    initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } }] }),
    'tools/call': () => ({ content: [{ type: 'text', text: read() + ' from ' + start }] }),
  };
  const answer = results[method] === undefined ? { error: { code: -32601, message: 'unknown' } } : { result: results[method]() };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n');
});
`;

test.runIf(HAS_BUBBLEWRAP)(
  'a rule that denies a file during a conversation holds for a running server in the sandbox',
  async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'muster-test-')));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const [cwd, config] = [join(home, 'work'), join(home, '.config/muster')];
    for (const directory of [cwd, config]) mkdirSync(directory, { recursive: true });
    writeFileSync(join(cwd, 'server.cjs'), SERVER);
    for (const name of ['plans.txt', 'other.txt']) writeFileSync(join(cwd, name), name);
    const demo = { command: process.execPath, args: ['server.cjs'], sandbox: true };
    writeFileSync(join(config, 'mcp.json'), JSON.stringify({ mcpServers: { demo } }));
    let requests = 0;
    const model = await startFakeModel({
      script: () => {
        requests += 1;
        if (requests % 2 === 0) return { text: 'done' };
        return { toolCalls: [{ name: 'mcp__demo__read', input: { path: 'plans.txt' } }] };
      },
    });
    const notices: string[] = [];
    onTestFinished(() => model.close());
    const session = await openSession({
      cwd,
      dataDir: join(home, 'data'),
      environment: { HOME: home, ...model.env('anthropic') },
      flags: [{ key: 'permissions.allow', flag: '--allow', text: 'mcp__demo' }],
      onNotice: (line) => void notices.push(line),
    });
    onTestFinished(() => session.close());
    const results: string[] = [];
    const note = (event: { readonly type: string; readonly text?: string }): void => {
      if (event.type === 'call.ended') results.push(String(event.text));
    };
    const { id, result } = session.start({ prompt: 'Read it.' }, note);
    await result;
    const change = { kind: 'add', list: 'deny', scope: 'task' } as const;
    await session.changeRule(id, { ...change, rule: 'Bash(rm:*)' });
    await (
      await session.resume({ id, prompt: 'Again.' }, note)
    ).result;
    await session.changeRule(id, { ...change, rule: 'Read(plans.txt)' });
    await (
      await session.resume({ id, prompt: 'And again.' }, note)
    ).result;
    const [first = '', second, third] = results;
    expect(first).toMatch(/^plans\.txt from \d+$/);
    expect(second).toBe(first);
    expect(third).toMatch(/^(?:it is empty|EACCES|ENOENT) from \d+$/);
    expect(third?.split(' ').at(-1)).not.toBe(first.split(' ').at(-1));
    expect(notices).toEqual([
      'MCP server demo was ended, because the rules of a conversation deny it more files now. It starts again with its next use.',
    ]);
  },
);
