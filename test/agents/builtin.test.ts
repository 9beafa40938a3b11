import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadBuiltinAgents, readBuiltinFiles } from '../../src/agents/builtin.ts';
import { parseSimple } from '../../src/agents/parsing/simple-yaml.ts';
import { splitFrontMatter } from '../../src/agents/parsing/split-front-matter.ts';
import { byteLength } from '../../src/base/text.ts';
import { TOOL_NAMES } from '../../src/protocol/tool-names.ts';
import { muster } from '../../src/agents/formats/vendors.ts';
import { isJsonObject } from '../../src/base/json.ts';

const EXPLORE_TOOLS = [
  'Read',
  'LS',
  'Glob',
  'Grep',
  'WebFetch',
  'WebSearch',
  'MemoryList',
  'MemoryRead',
  'TaskList',
  'TaskReplay',
  'Notify',
];

interface Row {
  readonly name: string;
  readonly file: string;
  readonly aliases: readonly string[];
  readonly mode: 'plan' | 'default';
  readonly tools: readonly string[] | 'all';
  readonly turns: number;
  readonly model: string;
  /** Neither context files nor git: see docs/context-files.md. */
  readonly bare?: boolean;
}

/** What each of them is promised to be. */
const TABLE: readonly Row[] = [
  {
    name: 'Explore',
    file: 'explore',
    aliases: ['explore'],
    mode: 'plan',
    tools: EXPLORE_TOOLS,
    turns: 30,
    model: 'fast',
    bare: true,
  },
  {
    name: 'Plan',
    file: 'plan',
    aliases: ['plan'],
    mode: 'plan',
    tools: [...EXPLORE_TOOLS, 'TodoWrite', 'MemoryWrite', 'MemoryAppend'],
    turns: 50,
    model: 'inherit',
  },
  {
    name: 'Bash',
    file: 'bash',
    aliases: ['bash'],
    mode: 'default',
    tools: ['Bash', 'Read', 'Glob', 'Grep', 'TaskOutput', 'TaskStop', 'Notify'],
    turns: 30,
    model: 'fast',
  },
  {
    name: 'Review',
    file: 'review',
    aliases: ['review', 'code-reviewer'],
    mode: 'plan',
    tools: ['Read', 'Glob', 'Grep', 'Notify', 'Bash'],
    turns: 30,
    model: 'inherit',
  },
  {
    name: 'Summary',
    file: 'summary',
    aliases: ['summary', 'summarize'],
    mode: 'plan',
    tools: ['Read', 'LS', 'Glob', 'Grep'],
    turns: 10,
    model: 'fast',
    bare: true,
  },
  {
    name: 'general-purpose',
    file: 'general-purpose',
    aliases: ['general'],
    mode: 'default',
    tools: 'all',
    turns: 50,
    model: 'inherit',
  },
];

test('the built-in agents are those in the table, in order and without a warning', async () => {
  const agents = await loadBuiltinAgents();
  expect(agents).toEqual(
    TABLE.map((row) => ({
      name: row.name,
      aliases: row.aliases,
      description: expect.any(String),
      prompt: expect.any(String),
      tools: row.tools === 'all' ? { mode: 'all', names: [] } : { mode: 'allow', names: row.tools },
      disallowedTools: [],
      model: row.model,
      permissionMode: row.mode,
      mode: row.mode === 'default' ? null : row.mode,
      limits: { maxTurns: row.turns },
      contextFiles: row.bare === true ? false : undefined,
      origin: { scope: 'builtin', vendor: 'muster', path: `builtin:${row.file}` },
      extra: {},
      problems: [],
    })),
  );
});

test('their prompts and descriptions are short', async () => {
  for (const agent of await loadBuiltinAgents()) {
    expect(byteLength(agent.prompt), agent.name).toBeLessThanOrEqual(700);
    expect(byteLength(agent.description), agent.name).toBeLessThanOrEqual(150);
  }
});

test('their prompts name no tool that may be unavailable', async () => {
  const words = new Set(['Read', 'Edit', 'Write', 'Bash', 'Notify']);
  const names = TOOL_NAMES.filter((name) => !words.has(name));
  for (const agent of await loadBuiltinAgents()) {
    const said = new Set(agent.prompt.match(/[A-Za-z]+/g));
    expect(
      names.filter((name) => said.has(name)),
      agent.name,
    ).toEqual([]);
  }
});

test('prompts of agents with Notify instruct them to report progress', async () => {
  for (const { name, prompt, tools } of await loadBuiltinAgents()) {
    const has = tools.mode === 'all' || tools.names.includes('Notify');
    expect(/report progress\b.*\bwith Notify/i.test(prompt), name).toBe(has);
  }
});

test('their front matter needs no YAML library', () => {
  for (const { path, text } of readBuiltinFiles('agents')) {
    const split = splitFrontMatter(text);
    const fields = split.kind === 'found' ? parseSimple(split.yaml, split.yamlLine) : undefined;
    expect(fields?.get('name')?.line, path).toBe(2);
  }
});

const ROOT = resolve(import.meta.dirname, '../..');
const DIRECTORY = join(ROOT, 'examples/agents');

function load(file: string) {
  const path = join(DIRECTORY, file);
  return muster.agents.read({ path, scope: 'user', text: readFileSync(path, 'utf8') });
}

test('there are two examples', () => {
  expect(readdirSync(DIRECTORY).toSorted()).toEqual(['code.md', 'deepresearch.md']);
});

test.each([
  [
    'deepresearch.md',
    { name: 'deepresearch', permissionMode: 'plan', model: 'powerful', delegatesTo: ['Explore'] },
  ],
  ['code.md', { name: 'code', permissionMode: 'default', model: 'inherit' }],
])('%s loads without a problem', async (file, expected) => {
  const { items, problems } = await load(file);
  expect(problems).toEqual([]);
  expect(items).toEqual([expect.objectContaining({ ...expected, problems: [], extra: {} })]);
  expect(items[0]?.limits.maxTurns).toBe(100);
  expect(items[0]?.description.length).toBeLessThanOrEqual(160);
});

test('neither example is among the installed agents', async () => {
  const names = (await loadBuiltinAgents()).map(({ name }) => name);
  expect(names).not.toContain('deepresearch');
  expect(names).not.toContain('code');
});

test('the package contains the examples', () => {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(isJsonObject(manifest) && manifest['files']).toContain('examples');
});
