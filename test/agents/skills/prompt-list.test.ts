import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  listSkillsForPrompt,
  MAX_SKILL_LIST_BYTES,
} from '../../../src/agents/skills/prompt-list.ts';
import { findSkill } from '../../../src/agents/skills/find-skill.ts';
import { byteLength } from '../../../src/base/text.ts';
import { skillNamed } from './support.ts';

function many(count: number, description: string) {
  return Array.from({ length: count }, (_, index) => skillNamed(`skill-${index}`, { description }));
}

function bytes(lines: readonly string[]): number {
  return byteLength(lines.join('\n'));
}

describe('the list that a model chooses from', () => {
  it('gives each skill a line with its arguments, the way it runs, and its description', () => {
    const skills = [
      skillNamed('deploy', { argumentHint: '[service]', context: 'fork' }),
      skillNamed('review', { description: 'Reads\na change.' }),
    ];
    expect(listSkillsForPrompt(skills)).toEqual([
      'deploy [service] (a task of its own): Does deploy.',
      'review: Reads a change.',
    ]);
  });

  it('shortens descriptions first', () => {
    const lines = listSkillsForPrompt(many(30, 'word '.repeat(100)));
    expect(lines).toHaveLength(30);
    expect(lines.every((line) => line.endsWith('…'))).toBe(true);
    expect(bytes(lines)).toBeLessThanOrEqual(MAX_SKILL_LIST_BYTES);
  });

  it('keeps the descriptions of the first of 200 skills, and names the others', () => {
    const lines = listSkillsForPrompt(many(200, 'word '.repeat(100)));
    expect(bytes(lines)).toBeLessThanOrEqual(MAX_SKILL_LIST_BYTES);
    expect(lines.slice(0, -1).length).toBeGreaterThan(25);
    expect(lines.at(-1)).toMatch(/^Only by name: skill-\d+, .*, skill-199$/);
  });

  it('counts those of 2,000 skills that are not named', () => {
    const lines = listSkillsForPrompt(many(2_000, 'word '.repeat(100)));
    expect(bytes(lines)).toBeLessThanOrEqual(MAX_SKILL_LIST_BYTES);
    expect(lines.at(-1)).toMatch(/^\d{4} more: /);
  });

  it('never exceeds its bytes, and accounts for every skill', () => {
    const skill = fc.record({
      name: fc.stringMatching(/^[a-z][a-z-]{0,60}$/),
      description: fc.string({ unit: 'grapheme', maxLength: 400 }),
    });
    fc.assert(
      fc.property(fc.array(skill, { maxLength: 120 }), (parts) => {
        const skills = parts.map(({ name, description }) => skillNamed(name, { description }));
        const lines = listSkillsForPrompt(skills);
        expect(bytes(lines)).toBeLessThanOrEqual(MAX_SKILL_LIST_BYTES);
        expect(listSkillsForPrompt(skills)).toEqual(lines);
        const more = Number(/^(\d+) more:/.exec(lines.at(-1) ?? '')?.[1] ?? 0);
        const named = lines.find((line) => line.startsWith('Only by name: '));
        const described = lines.length - (named === undefined ? 0 : 1) - (more > 0 ? 1 : 0);
        const byName = named === undefined ? 0 : named.split(', ').length;
        expect(described + byName + more).toBe(skills.length);
      }),
      { numRuns: 50 },
    );
  });
});

describe('finding a skill', () => {
  const skills = [
    skillNamed('pdf-forms', { description: 'Fills in forms.' }),
    skillNamed('deploy', { description: 'Ships to production.' }),
  ];
  it.each(['deploy', 'Deploy', '/deploy', ' deploy '])('%j', (name) => {
    expect(findSkill(name, skills)).toEqual({ ok: true, skill: skills[1] });
  });

  it('an unknown name is answered with similar skills, skills about it, or all skills', () => {
    const told = (word: string): string => {
      const found = findSkill(word, skills);
      return found.ok ? '' : found.message;
    };
    expect(told('deplyo')).toBe('There is no skill `deplyo`. Similar: deploy.');
    expect(told('production')).toBe('There is no skill `production`. Similar: deploy.');
    expect(told('music')).toBe('There is no skill `music`. Valid: pdf-forms, deploy.');
    expect(told('x'.repeat(10_000)).length).toBeLessThan(200);
    expect(findSkill('x', [])).toMatchObject({ message: 'There is no skill `x`. There are none.' });
  });
});
