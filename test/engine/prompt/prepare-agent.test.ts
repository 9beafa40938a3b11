import { describe, expect, it } from 'vitest';
import { findUnmetRequests } from '../../../src/engine/prompt/unmet-requests.ts';
import {
  readUnmetRequests,
  formatUnmetRequests,
  formatUnmetWarning,
} from '../../../src/protocol/unmet-request.ts';
import { agentFile, readOne } from '../../agents/support.ts';
import { claude } from '../../../src/agents/formats/vendors.ts';

const request = (name: string) => ({ kind: 'tool', name, reason: 'No.' }) as const;

describe('tools with restrictions that no rule can express', () => {
  it.each(['NotebookEdit(foo.ipynb)', 'Bash()', 'TodoWrite(x)', 'mcp__a__b(x)'])(
    '%s is reported as not granted',
    async (word) => {
      const agent = await readOne(
        claude.agents,
        agentFile('name: a', 'description: b', `tools: Read, ${word}`),
      );
      const unmet = findUnmetRequests(agent, { dropped: [] });
      expect(unmet.map(({ kind, name }) => [kind, name])).toEqual([['tool', word]]);
      expect(unmet[0]?.reason).toContain('is left out');
    },
  );

  it('does not count a denial of the full tool in place of a pattern', async () => {
    const agent = await readOne(
      claude.agents,
      agentFile('name: a', 'description: b', 'disallowedTools: Bash(rm *)'),
    );
    expect(findUnmetRequests(agent, { dropped: [] })).toEqual([]);
  });
});

describe('the report about unmet requests', () => {
  it('is empty if nothing is missing', () => {
    expect(formatUnmetWarning('coder', [])).toBeNull();
    expect(formatUnmetRequests([])).toEqual([]);
  });

  it('has no more lines than a person reads, and no line break from a name', () => {
    const lines = formatUnmetRequests(Array.from({ length: 40 }, (_, n) => request(`T${n}\nX`)));
    expect(lines.length).toBe(13);
    expect(lines[0]).toBe('T0 X: No.');
    expect(lines.at(-1)).toBe('and 28 more');
    expect(formatUnmetRequests([request('x'.repeat(5_000))])[0]?.length).toBeLessThanOrEqual(300);
  });
});

it('accepts any value in a log that somebody else wrote', () => {
  const good = request('Foo');
  for (const bad of [undefined, null, 7, 'text', {}, [null, 3, { kind: 'tool' }]]) {
    expect(readUnmetRequests(bad)).toEqual([]);
  }
  expect(readUnmetRequests([good, { ...good, kind: 'other' }])).toEqual([good]);
});
