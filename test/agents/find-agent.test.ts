import { loadBuiltinAgents } from '../../src/agents/builtin.ts';
import { expect, test } from 'vitest';
import { listAgentNames, findAgent } from '../../src/agents/find-agent.ts';
import type { AgentDefinition } from '../../src/protocol/agent.ts';

async function agents(): Promise<readonly AgentDefinition[]> {
  const builtin = await loadBuiltinAgents();
  const [first] = builtin;
  if (first === undefined) throw new Error('no built-in agents');
  return [...builtin, { ...first, name: 'summarize', aliases: ['x'] }];
}

test.each([
  ['Explore', 'Explore'],
  ['EXPLORE', 'Explore'],
  [' general ', 'general-purpose'],
  ['Code-Reviewer', 'Review'],
  // A definition's own name goes before another's alias.
  ['summarize', 'summarize'],
  ['summary', 'Summary'],
])('%s is %s', async (name, expected) => {
  const found = findAgent(name, await agents());
  expect(found.ok && found.agent.name).toBe(expected);
});

test('an unknown name is an error that names similar and valid agents', async () => {
  expect(findAgent('Explor', await agents())).toEqual({
    ok: false,
    error: {
      code: 'INVALID_PARAM',
      message:
        'There is no agent `Explor`. Did you mean `Explore`? Valid: Explore, Plan, Bash, Review, Summary, general-purpose, summarize.',
      retryable: false,
    },
  });
});

const DEFAULTS = (await agents())[0]!;

function agentOf(name: string, parts: Partial<AgentDefinition> = {}): AgentDefinition {
  const origin = { scope: 'user', vendor: 'claude', path: `/agents/${name}.md` } as const;
  return { ...DEFAULTS, name, aliases: [], description: '', origin, ...parts };
}

/** 200, as a collection of agents has them. */
function collection(): readonly AgentDefinition[] {
  return Array.from({ length: 200 }, (_, index) => {
    const description = index === 120 ? 'Rolls out Kubernetes clusters' : 'Does other things';
    return agentOf(`Specialist Number ${index}`, { description });
  });
}

function messageFor(name: string, among: readonly AgentDefinition[]): string {
  const found = findAgent(name, among);
  return found.ok ? `found ${found.agent.name}` : found.error.message;
}

test('a long name and many agents do not make a long message', async () => {
  const many = Array.from({ length: 500 }, (_, index) => agentOf(`agent-${index}`));
  const message = messageFor('q'.repeat(1_000_000), many);
  expect(message).toContain('agent-39, and 460 more (500 in all).');
  expect(message.length).toBeLessThan(1000);
  const long = Array.from({ length: 500 }, (_, index) => agentOf(`${'x'.repeat(190)}${index}`));
  expect(messageFor('zzz', long).length).toBeLessThan(1200);
});

test('an unknown name that describes a need is an error that names agents for it', async () => {
  const among = [...collection(), ...(await loadBuiltinAgents())];
  const message = messageFor('kubernetes', among);
  expect(message).toMatch(
    /^There is no agent `kubernetes`\. Did you mean `specialist-number-120`\? Valid: Explore, Plan, Bash, Review, Summary, general-purpose, specialist-number-0, /,
  );
  expect(message).toMatch(/, and \d+ more \(206 in all\)\.$/);
  expect(message.length).toBeLessThan(1000);
});

test('at most three agents are suggested, those with similar names first', () => {
  const among = ['rust-pro', 'rust-pr', 'rust-prx', 'rest-pro'].map((name) => agentOf(name));
  expect(messageFor('rust-pra', among)).toBe(
    'There is no agent `rust-pra`. Did you mean `rust-pr`, `rust-pro` or `rust-prx`? Valid: rust-pro, rust-pr, rust-prx, rest-pro.',
  );
});

test('a name has precedence over an id, and an id over an alias', () => {
  const display = agentOf('Rust Expert', { aliases: ['rusty'] });
  const named = agentOf('rust-expert');
  const alias = agentOf('other', { aliases: ['rust-expert', 'Ferris'] });
  expect(messageFor('RUST-EXPERT', [alias, display, named])).toBe('found rust-expert');
  expect(messageFor('rust expert', [alias, display, named])).toBe('found Rust Expert');
  expect(messageFor('rust-expert', [alias, display])).toBe('found Rust Expert');
  expect(messageFor('rusty', [alias, display])).toBe('found Rust Expert');
  expect(messageFor('ferris', [alias, display])).toBe('found other');
});

test('an agent with a display name can be called by its file, after all names of others', () => {
  const origin = { scope: 'user', vendor: 'copilot', path: '/agents/hlbpa.agent.md' } as const;
  const display = agentOf('High-Level Big Picture Architect', { origin });
  expect(messageFor('HLBPA', [display])).toBe('found High-Level Big Picture Architect');
  expect(messageFor('hlbpa', [display, agentOf('x', { aliases: ['hlbpa'] })])).toBe('found x');
  expect(messageFor('hlbpa', [agentOf('word', { origin })])).toMatch(/^There is no agent/);
});

test('lists the names of an agent, its own first, without those that mean another agent', async () => {
  const builtin = await loadBuiltinAgents();
  expect(listAgentNames('REVIEW', builtin)).toEqual(['Review', 'review', 'code-reviewer']);
  const own = agentOf('code-reviewer');
  expect(listAgentNames('Review', [own, ...builtin])).toEqual(['Review', 'review']);
  expect(listAgentNames('rust-expert', [agentOf('Rust Expert')])).toEqual([
    'Rust Expert',
    'rust-expert',
  ]);
  expect(listAgentNames('nobody', builtin)).toEqual(['nobody']);
});

test('the message says when there is no agent at all', () => {
  expect(messageFor('x', [])).toBe('There is no agent `x`. Valid: none, there are no agents.');
});

test.each([
  'code reviewer',
  'code_reviewer',
  'codeReviewer',
  'CODE‐REVIEWER',
  ' Code\u00a0Reviewer ',
  'ｃｏｄｅ-reviewer',
])('%j means code-reviewer if no other agent has that name', (written) => {
  expect(messageFor(written, [agentOf('tester'), agentOf('code-reviewer')])).toBe(
    'found code-reviewer',
  );
});

test('an accent is the same in every Unicode normalization form', () => {
  const composed = agentOf('relecteur-détaillé'.normalize('NFC'));
  expect(messageFor('relecteur-détaillé'.normalize('NFD'), [composed])).toBe(
    `found ${composed.name}`,
  );
});

test('an exact name wins over other separators, names win over aliases, and several matches are an error', () => {
  const hyphen = agentOf('code-reviewer');
  const low = agentOf('code_reviewer');
  const alias = agentOf('review', { aliases: ['code reviewer'] });
  expect(messageFor('code_reviewer', [hyphen, low])).toBe('found code_reviewer');
  expect(messageFor('CODE-REVIEWER', [hyphen, low])).toBe('found code-reviewer');
  expect(messageFor('codeReviewer', [alias, low])).toBe('found code_reviewer');
  expect(messageFor('codeReviewer', [alias])).toBe('found review');
  expect(messageFor('code reviewer', [hyphen, low])).toBe(
    '`code reviewer` matches 2 agents: `code-reviewer` (/agents/code-reviewer.md), `code_reviewer` (/agents/code_reviewer.md). Write the exact name of one of them.',
  );
  expect(listAgentNames('code reviewer', [hyphen, low])).toEqual(['code reviewer']);
});

test.each(['', ' ', '-', '___', '‐'])('%j means no agent', (written) => {
  expect(messageFor(written, [agentOf('a'), agentOf('‐‐')])).toMatch(/^There is no agent/);
});

test.each(['../reviewer', './reviewer', '/reviewer', '~/reviewer', String.raw`..\reviewer`])(
  '%j is a path, and means no agent',
  (written) => {
    expect(messageFor(written, [agentOf('reviewer')])).toMatch(/^There is no agent/);
  },
);

test.each([
  '"reviewer"',
  '`reviewer`',
  '“Reviewer”',
  '@reviewer',
  '@agent-reviewer',
  'reviewer\u200B',
])('%j means reviewer', (written) => {
  expect(messageFor(written, [agentOf('reviewer')])).toBe('found reviewer');
});

test('a minus sign is a hyphen', () => {
  expect(messageFor('code\u2212reviewer', [agentOf('code-reviewer')])).toBe('found code-reviewer');
});
