import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { byteLength } from '../../src/base/text.ts';
import {
  assertAppendOnly,
  lastUserText,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { openWorld, type World } from './world.ts';

/** What may stand before the words of the user, with the built-in agents only and with 200 more. */
const MAX_BYTES = { main: 10_500, explore: 5_400, withAgents: 17_000 };
const EXAMPLES = resolve(import.meta.dirname, '../../examples/agents');

function isMain({ systemParts }: RecordedRequest): boolean {
  return systemParts.join('\n').includes("in the user's terminal");
}

/** Puts agent files of a user into the world. */
function install(world: World, files: Readonly<Record<string, string>>): void {
  const directory = join(world.sandbox.home, '.config/muster/agents');
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}

function agentFile(name: string, description: string, ...fields: readonly string[]): string {
  const front = [`name: ${name}`, `description: ${JSON.stringify(description)}`, ...fields];
  return `---\n${front.join('\n')}\n---\n\nYou are ${name}.\n`;
}

/** 200 with descriptions of 1,000 characters. */
function collection(): Record<string, string> {
  const agents = Array.from({ length: 200 }, (_, index) => {
    const use = `Use this agent when you need to handle topic${index} with care. `;
    const description = use.padEnd(1000, 'More is said here of what else it can do. ');
    return [`agent-${index}.md`, agentFile(`Topic ${index} Expert`, description)] as const;
  });
  return Object.fromEntries(agents);
}

/** The bytes of what every request of a conversation begins with. */
function prefixBytes({ rawBody }: RecordedRequest): number {
  const { system, tools } = JSON.parse(rawBody);
  return byteLength(JSON.stringify(system)) + byteLength(JSON.stringify(tools));
}

it('the system prompt and the tools of a request are small', async () => {
  const script = (request: RecordedRequest): Answer =>
    isMain(request) && toolResultRounds(request) === 0
      ? { toolCalls: [{ name: 'Task', input: { prompt: 'x', subagent_type: 'Explore' } }] }
      : { text: 'done' };
  await using world = await openWorld({ script });
  expect((await world.run(['-p', 'go'])).code).toBe(0);
  const [main, explore] = world.model.requests;
  if (main === undefined || explore === undefined) throw new Error('two requests are missing');
  expect([main, explore].map(isMain)).toEqual([true, false]);
  expect(prefixBytes(main)).toBeLessThanOrEqual(MAX_BYTES.main);
  expect(prefixBytes(explore)).toBeLessThanOrEqual(MAX_BYTES.explore);
});

describe('200 agents installed', () => {
  it('fit into the first request, the relevant ones described, the same in each turn', async () => {
    const script = (request: RecordedRequest): Answer => {
      if (!isMain(request)) return { text: 'found' };
      if (toolResultRounds(request) > 0) return { text: 'done' };
      const call = (type: string) => ({
        name: 'Task',
        input: { prompt: 'x', subagent_type: type },
      });
      return { toolCalls: [call('topic-42-expert'), call('topic7'), call('Topic 150 Expert')] };
    };
    await using world = await openWorld({ script });
    install(world, collection());
    const run = await world.run([
      '-p',
      'Look after topic42 and topic150',
      '--output-format',
      'json',
    ]);
    expect(run.code).toBe(0);
    const [first, second] = world.model.requests.filter(isMain);
    if (first === undefined || second === undefined) throw new Error('two requests are missing');
    assertAppendOnly(first, second);
    expect(prefixBytes(first)).toBeLessThan(MAX_BYTES.withAgents);
    const lines = first.systemParts.join('\n').split('\n');
    const types = lines.slice(lines.findIndex((line) => line.startsWith('Types (')) + 1);
    expect(types.slice(0, 8).map((line) => line.split(':')[0])).toEqual([
      '- Explore',
      '- Plan',
      '- Bash',
      '- Review',
      '- Summary',
      '- general-purpose',
      '- topic-150-expert',
      '- topic-42-expert',
    ]);
    expect(types[7]).toMatch(/^- topic-42-expert: To handle topic42 with care\. More .{0,40}[.…]$/);
    // A word for what is needed is answered with who does it.
    const results = second.messages.at(-1)?.toolResults.map(({ text }) => text) ?? [];
    expect(results[0]).toContain('found');
    expect(results[1]).toContain('There is no agent `topic7`. Did you mean `topic-7-expert`');
    expect(results[1]?.length).toBeLessThan(1500);
    expect(results[2]).toContain('found');
    expect(world.model.requests.filter((request) => !isMain(request))).toHaveLength(2);
  });
});

describe('@name in a prompt', () => {
  it.each(['responses', 'chat', 'google'] as const)('uses the agent over %s', async (protocol) => {
    await using world = await openWorld({ protocol, script: () => ({ text: 'I say so' }) });
    const args = ['-p', 'ask @explore and @plan', '--output-format', 'json'];
    const run = await world.run(args);
    expect(envelopeOf(run)).toMatchObject({
      status: 'success',
      data: { result: 'I say so', tool_summary: [{ tool: 'Task', count: 2 }] },
    });
  });

  it('uses the agent though the model would not, and the events tell of it', async () => {
    await using world = await openWorld({ script: () => ({ text: 'I say so' }) });
    const args = ['-p', '@explore where is a.txt?', '--output-format', 'stream-json'];
    const run = await world.run(args);
    expect(run.code).toBe(0);
    const events = eventsOf(run);
    const created = events.flatMap((event) => (event.type === 'task.created' ? [event.spec] : []));
    expect(created.map(({ agent, mentions }) => [agent.name, mentions])).toEqual([
      ['main', ['Explore']],
      ['Explore', undefined],
    ]);
    const [, child] = world.model.requests;
    expect(child && lastUserText(child)).toContain('@explore where is a.txt?');
    const replay = await world.run(['tasks', 'log', created[0]?.id ?? '', '--json']);
    expect(replay.stdout).toContain('"by":"user"');
  });

  it('counts in what is piped in as the prompt, and not in what is piped in beside it', async () => {
    await using world = await openWorld({ script: () => ({ text: 'ok' }) });
    const beside = await world.run(['-p', 'what is this?', '--output-format', 'json'], {
      stdin: 'log: @explore says hello',
    });
    expect(envelopeOf(beside).data.receipt.children).toEqual([]);
    const alone = await world.run(['-p', '--output-format', 'json'], { stdin: '@explore it' });
    expect(envelopeOf(alone).data.receipt.children).toHaveLength(1);
  });

  it('counts in a conversation that goes on', async () => {
    await using world = await openWorld({ script: () => ({ text: 'ok' }) });
    expect((await world.run(['-p', 'hello'])).code).toBe(0);
    const run = await world.run(['--continue', '-p', 'ask @plan', '--output-format', 'json']);
    expect(envelopeOf(run).data.receipt.children).toHaveLength(1);
  });

  it('works offline', async () => {
    await using world = await openWorld({
      files: { 'src/retry.ts': 'export function retryCount() {}\n' },
    });
    const env = { ANTHROPIC_API_KEY: '', ANTHROPIC_BASE_URL: '' };
    const args = ['-p', '@review @explore where is retryCount?', '--model', 'offline'];
    const run = await world.run([...args, '--output-format', 'stream-json'], { env });
    const types = eventsOf(run).flatMap((event) =>
      event.type === 'task.created' ? [event.spec.agent.name] : [],
    );
    expect([run.code, types]).toEqual([0, ['main', 'Review', 'Explore']]);
    expect(envelopeOf(run).data.result).toContain('src/retry.ts:1');
  });
});

describe('--agent', () => {
  const CAREFUL = agentFile(
    'Careful Reader',
    'Reads.',
    'tools: Read, Grep, Bash',
    'disallowed-tools: Bash',
    'permission-mode: plan',
    'model: haiku',
    'max-turns: 2',
    'color: green',
  );

  it('runs the conversation as it: prompt, tools, mode, model and turns', async () => {
    const call = { name: 'Grep', input: { pattern: 'x' } };
    await using world = await openWorld({
      script: (request) =>
        request.tools.length > 0 && toolResultRounds(request) < 5
          ? { toolCalls: [call] }
          : { text: 'end' },
    });
    install(world, { 'careful.md': CAREFUL });
    const args = ['--agent', 'careful-reader', '-p', 'go', '--output-format', 'stream-json'];
    const run = await world.run([...args, '--permission-mode', 'autonomous']);
    const [spec] = eventsOf(run).flatMap((event) =>
      event.type === 'task.created' ? [event.spec] : [],
    );
    expect(spec).toMatchObject({
      agent: { name: 'Careful Reader', color: 'green' },
      rights: { mode: 'plan', disallowedTools: ['Bash'] },
      tools: ['Read', 'Grep'],
      limits: { maxTurns: 2 },
      params: { agent: 'Careful Reader' },
    });
    expect(spec?.model.id).toContain('haiku');
    const [first] = world.model.requests;
    expect(first?.systemParts.join('\n')).toContain('You are Careful Reader.');
    expect(first?.systemParts.join('\n')).not.toContain('# Delegation');
    expect(envelopeOf(run)).toMatchObject({
      status: 'partial',
      error: { code: 'LIMIT_EXCEEDED' },
      data: { subagent_type: 'Careful Reader' },
    });
  });

  it('goes on as it was recorded, and takes no other agent then', async () => {
    await using world = await openWorld({ script: () => ({ text: 'ok' }) });
    install(world, { 'careful.md': CAREFUL });
    expect((await world.run(['--agent', 'Careful Reader', '-p', 'go'])).code).toBe(0);
    install(world, { 'careful.md': agentFile('Careful Reader', 'Other.', 'tools: Write') });
    const run = await world.run(['--continue', '-p', 'on', '--output-format', 'json']);
    expect(envelopeOf(run).data.subagent_type).toBe('Careful Reader');
    const [first, last] = [world.model.requests[0], world.model.requests.at(-1)];
    if (first === undefined || last === undefined) throw new Error('a request is missing');
    assertAppendOnly(first, last);
    expect((await world.run(['--continue', '--agent', 'explore', '-p', 'on'])).code).toBe(2);
  });

  it('that nobody has ends with 2 and the nearest', async () => {
    await using world = await openWorld();
    install(world, { 'careful.md': CAREFUL });
    const run = await world.run(['--agent', 'carefull-reader', '-p', 'go']);
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain('Did you mean `careful-reader`?');
    expect(world.model.requests).toEqual([]);
  });
});

describe('model: auto', () => {
  it('is told by tasks show, with the reason', async () => {
    await using world = await openWorld({ script: () => ({ text: 'ok' }) });
    const run = await world.run(['-p', 'Debug it', '--model', 'auto', '--output-format', 'json']);
    const id = envelopeOf(run).data.task_id;
    const shown = await world.run(['tasks', 'show', id]);
    expect(shown.stdout).toContain('auto: powerful, since the prompt says "Debug"');
    const json = JSON.parse((await world.run(['tasks', 'show', id, '--json'])).stdout);
    expect(json.model_chain).toContain('auto: powerful, since the prompt says "Debug"');
  });
});

it('the example definitions run once they are copied', async () => {
  const script = (request: RecordedRequest): Answer => {
    if (!isMain(request)) return { text: 'researched' };
    if (toolResultRounds(request) > 0) return { text: 'done' };
    const call = (type: string) => ({ name: 'Task', input: { prompt: 'x', subagent_type: type } });
    return { toolCalls: [call('deepresearch'), call('code')] };
  };
  await using world = await openWorld({ script });
  cpSync(EXAMPLES, join(world.sandbox.home, '.config/muster/agents'), { recursive: true });
  const run = await world.run(['-p', 'go', '--output-format', 'stream-json']);
  expect(run.code).toBe(0);
  expect(run.stderr).toBe('');
  const specs = eventsOf(run).flatMap((event) =>
    event.type === 'task.created' ? [event.spec] : [],
  );
  const tools = Object.fromEntries(specs.map((spec) => [spec.agent.name, spec.tools]));
  expect(tools['deepresearch']).toEqual(
    expect.arrayContaining(['Read', 'Grep', 'WebFetch', 'Task']),
  );
  expect(tools['deepresearch']).not.toContain('Write');
  expect(tools['code']).toEqual(expect.arrayContaining(['Read', 'Write', 'Edit', 'Bash']));
  const modes = Object.fromEntries(specs.map((spec) => [spec.agent.name, spec.rights.mode]));
  expect(modes).toEqual({ main: 'default', deepresearch: 'plan', code: 'default' });
});
