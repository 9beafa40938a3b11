import { expect, it } from 'vitest';
import { claude, muster, pi, qwen } from '../../../src/agents/formats/vendors.ts';
import { agentFile, readOne } from '../support.ts';

const HEAD = ['name: a', 'description: Use it to keep notes.'] as const;

it.each([
  ['muster', muster.agents],
  ['claude', claude.agents],
  ['qwen', qwen.agents],
  ['pi', pi.agents],
])(
  'in a file of %s, `memory` is one of three words, and any other value is reported',
  async (_, format) => {
    const read = async (value: string) => {
      const { memory, extra, problems } = await readOne(
        format,
        agentFile(...HEAD, `memory: ${value}`),
      );
      return [memory, Object.keys(extra), problems.map(({ code }) => code)];
    };
    expect(await Promise.all(['user', 'project', 'Local', '""'].map(read))).toEqual([
      ['user', [], []],
      ['project', [], []],
      ['local', [], []],
      [undefined, [], []],
    ]);
    expect(await read('global')).toEqual([undefined, [], ['invalid-memory']]);
    // pi's own: a place and a path, which is another thing.
    expect(await read('{scope: project, path: x}')).toEqual([
      undefined,
      ['memory'],
      [expect.stringMatching(/-field$/)],
    ]);
  },
);
