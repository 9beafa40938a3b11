import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { createMuster } from '../../../src/library.ts';
import { toolResultRounds, type RecordedRequest } from '../../../src/testing/index.ts';
import { AcpClient } from '../../e2e/acp-client.ts';
import { BIN, runMuster } from '../../e2e/muster.ts';
import { TmuxTerminal } from '../../e2e/tmux.ts';
import { openWorld, type World } from '../../e2e/world.ts';
import { needs } from '../../needs.ts';

const LEAD = `---
name: lead
description: Leads.
tools: Task, Read
---
You are the lead.
`;
const WRITER = `---
name: writer
description: Writes.
tools: Read, Write, Edit
---
You are the writer.
`;
const PROMPT = 'Have it written.';
const USAGE = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** The lead reads a file and delegates twice; each writer writes a file and changes it. */
function script(request: RecordedRequest) {
  const rounds = toolResultRounds(request);
  const answer = (toolCalls: readonly { name: string; input: JsonObject }[], text = 'Done.') =>
    toolCalls.length === 0 ? { text, usage: USAGE } : { toolCalls, usage: USAGE };
  const system = request.systemParts.join('\n');
  if (system.includes('You are the lead.')) {
    if (rounds === 0) return answer([{ name: 'Read', input: { file_path: 'notes.txt' } }]);
    const name = ['a', 'b'][rounds - 1];
    if (name === undefined) return answer([], 'All is written.');
    const input = { prompt: `Write ${name}.txt.`, subagent_type: 'writer', description: name };
    return answer([{ name: 'Task', input }]);
  }
  const file = /Write (\w\.txt)\./.exec(JSON.stringify(request.messages))?.[1] ?? '';
  const steps = [
    [{ name: 'Write', input: { file_path: file, content: 'one\n' } }],
    [{ name: 'Edit', input: { file_path: file, old_string: 'one', new_string: 'two' } }],
  ];
  return answer(steps[rounds] ?? [], `Wrote ${file}.`);
}

/** The ways in. Each runs the lead with the prompt, and resolves once it has ended. */
const WAYS: Readonly<Record<string, (world: World) => Promise<void>>> = {
  terminal: async (world) => {
    using terminal = new TmuxTerminal(
      world.sandbox,
      ['--agent', 'lead', '--permission-mode', 'acceptEdits', '--trust-project'],
      { env: world.model.env('anthropic') },
    );
    await terminal.sees('/help');
    terminal.type(PROMPT);
    terminal.press('Enter');
    await terminal.sees('All is written.');
    terminal.type('/exit');
    terminal.press('Enter');
    await terminal.sees('exit 0');
  },
  headless: async (world) => {
    const flags = ['--agent', 'lead', '--permission-mode', 'acceptEdits', '--trust-project'];
    expect(await world.run(['-p', PROMPT, ...flags])).toMatchObject({ code: 0, stderr: '' });
  },
  library: async (world) => {
    const { data, workspace } = world.sandbox;
    const muster = await createMuster({
      inherit: true,
      cwd: workspace,
      dataDir: data,
      trustProject: true,
      mode: 'acceptEdits',
      environment: world.sandbox.environment(world.model.env('anthropic')),
    });
    await muster.run(PROMPT, { agent: 'lead' });
    await muster.close();
  },
  acp: async (world) => {
    const editor = await AcpClient.start(world, {
      args: ['--permission-mode', 'acceptEdits', '--trust-project'],
    });
    const { sessionId } = await editor.newSession(world);
    const choice = { sessionId, configId: 'agent', value: 'lead' };
    await editor.agent.request('session/set_config_option', choice);
    await editor.prompt(sessionId, PROMPT);
    expect(editor.text(sessionId)).toBe('All is written.');
    await editor.close();
  },
  mcp: async (world) => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BIN, 'mcp', 'serve', '--permission-mode', 'acceptEdits', '--trust-project'],
      cwd: world.sandbox.workspace,
      env: world.sandbox.environment(world.model.env('anthropic')),
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    await client.callTool({ name: 'Task', arguments: { prompt: PROMPT, agent: 'lead' } });
    await client.close();
  },
};

/** The facts that a way in has, and that need not be the same: ids, times, sizes, paths and the source. */
const OWN_FIELDS =
  /(^|_)(id|ids|at|ms|from|to|start|end|started|ended|until|created|cwd|path|source|transcript|output_file|params_input|task_id)$|Ms$|At$/;

/** Returns the report of the only tree, without what is different in every run. */
async function readTree(world: World): Promise<unknown> {
  const { stdout } = await runMuster(world.sandbox, ['tasks', 'list', '--json']);
  const listed: unknown = JSON.parse(stdout);
  if (!Array.isArray(listed)) throw new Error('no list');
  const root: unknown = listed.find((task) => isJsonObject(task) && task['parent'] === null);
  if (!isJsonObject(root)) throw new Error('no root');
  const shown = await runMuster(world.sandbox, ['tasks', 'show', String(root['id']), '--json']);
  const known = new Map(
    listed.flatMap((task) =>
      isJsonObject(task) ? [[String(task['id']), `<${String(task['description'])}>`] as const] : [],
    ),
  );
  let text = shown.stdout
    .replaceAll(world.sandbox.root, '<root>')
    .replaceAll(/ · \d[\d.]* m?s · /g, ' · <time> · ');
  for (const [id, name] of known) text = text.replaceAll(id, name);
  return withoutOwnFields(JSON.parse(text));
}

function withoutOwnFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOwnFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !OWN_FIELDS.test(key))
      .map(([key, each]) => [key, withoutOwnFields(each)]),
  );
}

it.runIf(needs('tmux', 'tmux'))(
  'one script gives the same tree, totals and receipts in the terminal, with -p, in the library, over ACP and over MCP',
  async () => {
    const trees = new Map<string, unknown>();
    for (const [name, run] of Object.entries(WAYS)) {
      await using world = await openWorld({
        files: {
          'notes.txt': 'Notes.\n',
          '.muster/agents/lead.md': LEAD,
          '.muster/agents/writer.md': WRITER,
        },
        script,
      });
      await run(world);
      trees.set(name, await readTree(world));
    }
    const headless = trees.get('headless');
    expect(JSON.stringify(headless)).toContain('writer');
    for (const [name, tree] of trees) expect([name, tree]).toEqual([name, headless]);
  },
);
