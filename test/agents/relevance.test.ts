import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import { scoreRelevance } from '../../src/agents/relevance.ts';
import type { AgentDefinition } from '../../src/protocol/agent.ts';

function agentOf([name, description]: readonly [string, string]): AgentDefinition {
  return { ...MAIN_AGENT, name, description };
}

const AGENTS = (
  [
    ['go-pro', 'Writes Go services and tests'],
    ['rust-pro', 'Writes Rust services and tests'],
    ['DatabaseTuner', 'Makes slow queries fast'],
    ['deployer', 'Deploys to Kubernetes, and rolls back deployments'],
    ['审查员', '检查代码安全漏洞'],
  ] as const
).map(agentOf);

function best(query: string): string | null {
  const scores = scoreRelevance(query, AGENTS);
  const most = Math.max(...scores);
  return most === 0 ? null : (AGENTS[scores.indexOf(most)]?.name ?? null);
}

test.each([
  ['Port this service to Rust', 'rust-pro'],
  ['our deployment to kubernetes fails', 'deployer'],
  ['the database is slow', 'DatabaseTuner'],
  ['请检查代码', '审查员'],
  ['nothing in common', null],
  ['', null],
])('%s: %s', (query, expected) => {
  expect(best(query)).toBe(expected);
});

test('gives each agent the same score each time, never below 0, however hostile the text', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, fc.array(fc.tuple(text, text)), (query, parts) => {
      const agents = parts.map(agentOf);
      const scores = scoreRelevance(query, agents);
      expect(scores).toHaveLength(agents.length);
      expect(scores.every((score) => score >= 0)).toBe(true);
      expect(scoreRelevance(query, agents)).toEqual(scores);
    }),
  );
});

test('very long words do not take long', () => {
  const endless = 'A'.repeat(1_000_000);
  expect(scoreRelevance(endless, [agentOf([endless, endless])])[0]).toBeGreaterThan(0);
});
