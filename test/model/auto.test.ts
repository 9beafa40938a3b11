import { loadBuiltinAgents } from '../../src/agents/builtin.ts';
import { describe, expect, test } from 'vitest';
import { autoTier, type AutoAgent } from '../../src/model/auto.ts';

const ALL = { mode: 'all', names: [] } as const;
const READS = { mode: 'allow', names: ['Read', 'Grep', 'WebFetch'] } as const;
const ACTS = { mode: 'allow', names: ['Read', 'Edit'] } as const;
const SERVER = { mode: 'allow', names: ['Read', 'mcp__tracker__close'] } as const;

function agent(name: string, parts: Partial<AutoAgent> = {}): AutoAgent {
  return { name, description: '', mode: null, tools: ALL, ...parts };
}

describe('the rule of auto', () => {
  test.each<[string, AutoAgent, string, string, string]>([
    ['judgement by name', agent('code-reviewer'), '', 'powerful', 'code-reviewer needs judgement'],
    ['a display name', agent('Security Expert'), '', 'powerful', 'Security Expert needs judgement'],
    ['lookup by name', agent('docsFinder'), 'Refactor', 'fast', 'docsFinder looks things up'],
    [
      'judgement before lookup',
      agent('audit-log-search'),
      '',
      'powerful',
      'audit-log-search needs judgement',
    ],
    [
      'reads, for lookup',
      agent('scribe', { tools: READS, description: 'Finds and lists the API pages. Then plans.' }),
      'Design it',
      'fast',
      'scribe only reads, and is for looking things up',
    ],
    [
      'in plan mode, for lookup',
      agent('scribe', { mode: 'plan', description: 'Summarizer of long threads' }),
      '',
      'fast',
      'scribe only reads, and is for looking things up',
    ],
    [
      'may edit',
      agent('scribe', { tools: ACTS, description: 'Finds pages' }),
      '',
      'balanced',
      'nothing asks for more or less',
    ],
    [
      'has a server',
      agent('scribe', { tools: SERVER, description: 'Finds pages' }),
      '',
      'balanced',
      'nothing asks for more or less',
    ],
    [
      'has all tools',
      agent('scribe', { description: 'Finds pages' }),
      '',
      'balanced',
      'nothing asks for more or less',
    ],
    [
      'reads, to judge',
      agent('scribe', { tools: READS, description: 'Finds faults, a security review' }),
      '',
      'balanced',
      'nothing asks for more or less',
    ],
    [
      'hard work',
      agent('worker'),
      'Fix the race condition',
      'powerful',
      'the prompt says "race condition"',
    ],
    ['a long prompt', agent('worker'), 'x'.repeat(4000), 'powerful', 'the prompt is long'],
    [
      'a shorter one',
      agent('worker'),
      'x'.repeat(3999),
      'balanced',
      'nothing asks for more or less',
    ],
    [
      'the rest',
      agent('worker'),
      'Rename this variable',
      'balanced',
      'nothing asks for more or less',
    ],
  ])('%s', (_what, its, prompt, tier, because) => {
    expect(autoTier(its, prompt)).toEqual({ tier, because });
  });

  test('what ships with Muster', async () => {
    const tiers = (await loadBuiltinAgents()).map((each) => [each.name, autoTier(each, '').tier]);
    expect(Object.fromEntries(tiers)).toEqual({
      Explore: 'fast',
      Plan: 'powerful',
      Bash: 'fast',
      Review: 'powerful',
      Summary: 'fast',
      'general-purpose': 'balanced',
    });
  });
});
