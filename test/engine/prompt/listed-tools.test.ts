import { describe, expect, it } from 'vitest';
import { selectListedTools } from '../../../src/engine/prompt/listed-tools.ts';
import { mcpCallTool, mcpResourceTool } from '../../../src/engine/task-tools/mcp-call.ts';
import { PrefixCache } from '../../../src/engine/prompt/prefix.ts';
import type { PromptInput } from '../../../src/engine/prompt/prompt.ts';
import { nameCovers } from '../../../src/policy/rules/tool-cover.ts';
import { isResourceTool, toResourceTool } from '../../../src/protocol/tool-names.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { openMemoryStore } from '../../../src/store/memory-store.ts';
import { taskSpec } from '../../store/fixture-data.ts';

const toolOf = (name: string): AnyTool => ({ ...mcpCallTool, name });
const READ = toolOf('Read');
const ECHO = toolOf('mcp__a__echo');
const [A, B] = ['a', 'b'].map((part) => toolOf(toResourceTool(part)));
const select = (tools: readonly (AnyTool | undefined)[], maxBytes: number) =>
  selectListedTools(
    [...tools.flatMap((tool) => tool ?? []), toolOf('ToolSearch'), mcpCallTool, mcpResourceTool],
    [],
    maxBytes,
  ).listed;
const serversOf = (tools: readonly AnyTool[]) =>
  tools.find(({ name }) => name === 'McpResource')?.inputSchema['properties'];

describe('the tool that reads resources', () => {
  it.each([
    [[READ, ECHO], 10_000, ['Read', 'mcp__a__echo']],
    [[READ, ECHO, B, A], 10_000, ['Read', 'mcp__a__echo', 'McpResource']],
    [[READ, ECHO, A], 0, ['Read', 'ToolSearch', 'McpCall', 'McpResource']],
  ])('is listed if a server has some (%#)', (tools, maxBytes, names) => {
    expect(select(tools, maxBytes).map(({ name }) => name)).toEqual(names);
  });

  it('names the servers of the task, and is kept apart from that of other tasks', () => {
    const both = select([READ, B, A], 10_000);
    expect(serversOf(both)).toMatchObject({ server: { enum: ['a', 'b'] } });
    const prefixes = new PrefixCache(openMemoryStore({ redact: (text) => text }));
    const { agent } = taskSpec('aaaaaaaa');
    const input: PromptInput = {
      agent,
      family: null,
      tools: [],
      mode: 'default',
      isRoot: true,
      types: [],
      agents: [],
      firstPrompt: '',
      skills: [],
      preloaded: [],
      environment: { cwd: '/', platform: 'linux', date: '2026-01-01' },
      context: null,
    };
    const first = prefixes.get(input, both);
    const second = prefixes.get(input, select([READ, A], 10_000));
    expect(second.hash).not.toBe(first.hash);
    expect(prefixes.get(input, both)).toBe(first);
  });

  it.each([
    ['mcp__a__McpResource', true],
    ['mcp__a_b__McpResource', true],
    ['mcp__a__b__McpResource', false],
    ['mcp__McpResource', false],
    ['McpResource', false],
  ])('%s: %s', (name, isReader) => {
    expect([
      isResourceTool(name),
      nameCovers('McpResource', name) && name !== 'McpResource',
    ]).toEqual([isReader, isReader]);
  });

  it.each([
    ['mcp__a', true],
    ['mcp__a__*', true],
    ['mcp__*', true],
    ['mcp__a__McpResource', true],
    ['mcp__b', false],
    ['mcp__a__echo', false],
  ])('is covered by %s: %s', (rule, isCovered) => {
    expect(nameCovers(rule, 'mcp__a__McpResource')).toBe(isCovered);
  });
});
