import { describe, expect, it } from 'vitest';
import {
  lintSkill,
  findFileReferences,
  type SkillLintContext,
} from '../../../src/agents/skills/lint-skill.ts';
import type { SkillDefinition } from '../../../src/protocol/skill.ts';
import { readOne, skillFile, skillNamed } from './support.ts';

const FACTS: SkillLintContext = {
  isAgent: (name) => name === 'Explore',
  exists: (path) => path === '/skills/deploy/references/steps.md',
  holdsSecret: (text) => text.includes('sk-'),
  tokens: (text) => text.length / 4,
};
const GOOD = skillNamed('deploy', { description: 'Deploys a service. Use it to ship.' });

function codes(skill: SkillDefinition): readonly (readonly [string, string])[] {
  return lintSkill(skill, FACTS).map(({ severity, code }) => [severity, code]);
}

describe('problems of a skill', () => {
  const cases: readonly (readonly [
    what: string,
    parts: Partial<SkillDefinition>,
    found: string[][],
  ])[] = [
    ['nothing', {}, []],
    ['capitals', { name: 'Deploy' }, [['error', 'name-characters']]],
    ['two hyphens', { name: 'de--ploy' }, [['error', 'name-characters']]],
    ['a long name', { name: 'a'.repeat(65) }, [['error', 'name-too-long']]],
    ['a long description', { description: 'a'.repeat(1_025) }, [['error', 'description-too-long']]],
    ['a short one', { description: 'Deploys.' }, [['warning', 'description-too-short']]],
    [
      'tools without a task',
      { allowedTools: ['Read'] },
      [['warning', 'allowed-tools-without-fork']],
    ],
    ['a known agent', { context: 'fork', agent: 'Explore', allowedTools: ['Read'] }, []],
    ['an unknown one', { context: 'fork', agent: 'Nope' }, [['error', 'unknown-agent']]],
    ['no tool for a task', { context: 'fork', allowedTools: [] }, [['error', 'no-known-tools']]],
    ['many lines', { body: 'x\n'.repeat(501) }, [['warning', 'long-text']]],
    ['many words', { body: 'word '.repeat(5_000) }, [['warning', 'long-text']]],
    ['a file that is there', { body: 'See [steps](references/steps.md#two).' }, []],
    ['one that is not', { body: 'Run `scripts/go.sh`.' }, [['warning', 'missing-file']]],
    ['a link to none', { body: 'See [it](go.md).' }, [['error', 'missing-file']]],
    ['a key', { body: 'Use sk-123.' }, [['error', 'secret']]],
  ];
  it.each(cases)('%s', (_, parts, found) => {
    expect(codes({ ...GOOD, ...parts })).toEqual(found);
  });

  it('includes the problems from reading it, with file and line', async () => {
    const skill = await readOne(skillFile('name: ship', 'description: Deploys. Use it to ship.'));
    expect(lintSkill(skill, FACTS)).toEqual([
      {
        severity: 'error',
        code: 'name-differs-from-folder',
        message: expect.stringContaining('Make them the same.'),
        path: '/skills/deploy/SKILL.md',
        line: 2,
      },
    ]);
  });
});

it('finds the files that a text refers to, and nothing else', () => {
  const body = [
    'See [a](references/a.md), [b](./b.md "title"), [a](references/a.md) and `scripts/run.py`, references/c.md.',
    'Not [this](https://x.y/z.md), [that](#part), [it](name), `src/app.ts`, [x](${DIR}/x.md), `*.md`.',
    '```',
    '[code](missing.md)',
    '```',
    'And [c](<assets/c.png>).',
  ].join('\n');
  expect(findFileReferences(body).map(({ path, isLink }) => [path, isLink])).toEqual([
    ['references/a.md', true],
    ['scripts/run.py', false],
    ['references/c.md', false],
    ['assets/c.png', true],
    ['./b.md', true],
  ]);
});

it('finds files in time proportional to the length of the text', () => {
  for (const piece of ['](', '](a', 'scripts/', 'scripts/.', '```\n', '](<', 'a']) {
    for (const text of [piece.repeat(100_000), `](${piece.repeat(100_000)}`]) {
      expect(findFileReferences(text).length).toBeLessThanOrEqual(500);
    }
  }
});
