import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import { restrictAgentToSkill } from '../../../src/engine/prompt/skills.ts';
import { attenuate } from '../../../src/policy/attenuate.ts';
import { nameCovers } from '../../../src/policy/rules/tool-cover.ts';
import { createToolView } from '../../../src/policy/tool-view.ts';
import type { AgentDefinition, ToolSelection } from '../../../src/protocol/agent.ts';
import { TOOL_NAMES, CODE_SEARCH } from '../../../src/protocol/tool-names.ts';
import { skillNamed } from '../../agents/skills/support.ts';
import { rootRights, WORKER } from '../support.ts';

/** The tools that an agent can get by a list of tools: all but the code search. */
const LISTED = TOOL_NAMES.filter((name) => name !== CODE_SEARCH);
const AVAILABLE = [...LISTED, 'mcp__ci__run', 'mcp__ci__log', 'mcp__web__get'].map((name) => ({
  name,
  kind: 'meta' as const,
}));

function toolsOf(agent: AgentDefinition, { nested = false } = {}): readonly string[] {
  const rights = attenuate(rootRights(5), agent);
  return createToolView({
    definition: agent,
    rights,
    available: AVAILABLE,
    nested,
    root: false,
    delegable: true,
  }).names;
}

function fork(tools: ToolSelection, allowedTools: readonly string[]): AgentDefinition {
  const agent = restrictAgentToSkill({ ...WORKER, tools }, skillNamed('deploy', { allowedTools }));
  if (agent instanceof MusterError) throw agent;
  return agent;
}

describe('the tools of a skill’s task', () => {
  const all: ToolSelection = { mode: 'all', names: [] };
  const cases: readonly (readonly [tools: ToolSelection, allowed: string[], names: string[]])[] = [
    [all, ['Read', 'Bash'], ['Read', 'Bash']],
    [all, ['Edit'], ['Edit', 'MultiEdit']],
    [all, ['Task', 'Read'], ['Read']],
    [all, ['mcp__ci__*', 'Read'], ['Read', 'mcp__ci__log', 'mcp__ci__run']],
    [{ mode: 'allow', names: ['Read', 'Grep'] }, ['Read', 'Bash'], ['Read']],
    [{ mode: 'allow', names: ['Task', 'Read'] }, ['Task'], ['Task']],
    [{ mode: 'allow', names: ['mcp__ci'] }, ['mcp__ci__run'], ['mcp__ci__run']],
    [{ mode: 'allow', names: ['mcp__ci__run'] }, ['mcp__*'], ['mcp__ci__run']],
    [{ mode: 'deny', names: ['Bash'] }, ['Read', 'Bash'], ['Read']],
  ];
  it('include those for the notes of its agent only if the skill allows them', () => {
    const agent = { ...WORKER, memory: 'project' as const };
    const allowed = [['Read'], ['Read', 'MemoryRead']].map((allowedTools) => {
      const forked = restrictAgentToSkill(agent, skillNamed('deploy', { allowedTools }));
      return forked instanceof MusterError ? forked : toolsOf(forked);
    });
    expect(allowed).toEqual([['Read'], ['Read', 'MemoryRead']]);
  });

  it.each(cases)('%j, narrowed to %j', (tools, allowed, names) => {
    expect(toolsOf(fork(tools, allowed))).toEqual(names);
  });

  it('are those of its agent if the skill lists none', () => {
    expect(restrictAgentToSkill(WORKER, skillNamed('deploy'))).toEqual(WORKER);
  });

  it('are an error if none is left', () => {
    expect(() => fork({ mode: 'allow', names: ['Read'] }, ['Bash'])).toThrow(
      'allowed-tools in /skills/deploy/SKILL.md: it allows Bash, of which `general-purpose` has none.',
    );
  });

  it('are used with the model of the skill instead of all those of its agent', () => {
    const agent = { ...WORKER, models: ['a', 'b'] };
    expect(
      restrictAgentToSkill(agent, skillNamed('deploy', { model: 'c', effort: 'low' })),
    ).toMatchObject({
      model: 'c',
      models: ['c'],
      effort: 'low',
    });
  });

  it('do not include Task unless it is allowed, wherever it comes from', () => {
    expect(toolsOf(fork(all, ['Read']), { nested: true })).toEqual(['Read']);
    expect(toolsOf(fork(all, ['Read', 'Task']), { nested: true })).toEqual(['Read', 'Task']);
  });

  it('never include one that its agent lacks or that the skill does not allow', () => {
    const name = fc.constantFrom(...AVAILABLE.map((tool) => tool.name), 'mcp__ci', 'mcp__*');
    const names = fc.uniqueArray(name, { maxLength: 8 });
    const selection = fc.record({
      mode: fc.constantFrom('all' as const, 'allow' as const, 'deny' as const),
      names,
    });
    fc.assert(
      fc.property(selection, names, names, fc.boolean(), (tools, allowed, denied, nested) => {
        const agent = { ...WORKER, tools };
        const skill = skillNamed('deploy', { allowedTools: allowed, disallowedTools: denied });
        const forked = restrictAgentToSkill(agent, skill);
        if (forked instanceof MusterError) return;
        const own = new Set(toolsOf(agent, { nested }));
        const rights = (definition: AgentDefinition) => attenuate(rootRights(5), definition);
        for (const tool of toolsOf(forked, { nested })) {
          const isAllowed = allowed.some((each) => nameCovers(each, tool));
          expect([tool, own.has(tool), isAllowed]).toEqual([tool, true, true]);
        }
        expect(rights(forked).disallowedTools).toEqual(
          expect.arrayContaining([...rights(agent).disallowedTools]),
        );
      }),
      { numRuns: 300 },
    );
  });
});
