import { opencode } from '../../src/agents/formats/vendors.ts';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { AgentDefinition } from '../../src/protocol/agent.ts';
import type { DefinitionFormat, FileDefinitions } from '../../src/agents/loader/format.ts';

/** A directory of its own with the given files; `remove` takes it away again. */
export function workTree(files: Readonly<Record<string, string | Buffer>> = {}): {
  readonly root: string;
  path(...parts: string[]): string;
  write(path: string, content: string | Buffer): void;
  remove(): void;
} {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-agents-')));
  const path = (...parts: string[]): string => join(root, ...parts);
  const write = (file: string, content: string | Buffer): void => {
    mkdirSync(dirname(path(file)), { recursive: true });
    writeFileSync(path(file), content);
  };
  for (const [file, content] of Object.entries(files)) write(file, content);
  return { root, path, write, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Reads `text` as the file `/agents/FILE.md` of a user. */
export function read(
  format: DefinitionFormat,
  text: string,
  path = '/agents/tester.md',
): Promise<FileDefinitions> {
  return format.read({ path, scope: 'user', text });
}

/** The one agent that a file gives. */
export async function readOne(format: DefinitionFormat, text: string): Promise<AgentDefinition> {
  const { items, problems } = await read(format, text);
  if (items[0] === undefined || items.length !== 1) throw new Error(JSON.stringify(problems));
  return items[0];
}

/** The record of an agent whose file says this and nothing else. */
export function plainAgent(
  vendor: string,
  {
    name = 'tester',
    description = 'Tests.',
    prompt = 'Test.',
    path = '/agents/tester.md',
  }: Partial<Pick<AgentDefinition, 'name' | 'description' | 'prompt'>> & {
    readonly path?: string;
  } = {},
): AgentDefinition {
  return {
    name,
    aliases: [],
    description,
    prompt,
    tools: { mode: 'all', names: [] },
    disallowedTools: [],
    permissionMode: null,
    mode: null,
    limits: {},
    origin: { scope: 'user', vendor, path },
    extra: {},
    problems: [],
  };
}

export function codes(agent: AgentDefinition): readonly string[] {
  return agent.problems.map(({ code }) => code);
}

/** A file with this front matter and the body `Test.` */
export function agentFile(...lines: readonly string[]): string {
  return ['---', ...lines, '---', '', 'Test.', ''].join('\n');
}

/** The agent that this entry of an `opencode.json` gives. */
export async function opencodeAgent(entry: object): Promise<AgentDefinition> {
  const worker = { description: 'Works.', prompt: 'x', ...entry };
  const text = JSON.stringify({ agent: { worker } });
  const { items } = await opencode.agents.read({ path: '/p/opencode.json', scope: 'user', text });
  if (items[0] === undefined) throw new Error('no agent');
  return items[0];
}
