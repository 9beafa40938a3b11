import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  substituteArguments,
  formatSkillText,
  formatSkillTextWithin,
} from '../../../src/agents/skills/text.ts';
import { splitArguments } from '../../../src/base/split-arguments.ts';
import { byteLength } from '../../../src/base/text.ts';
import { skillNamed } from './support.ts';

describe('substitution', () => {
  const cases: readonly (readonly [body: string, args: string, text: string])[] = [
    ['Fix $ARGUMENTS now', '42 soon', 'Fix 42 soon now'],
    ['Fix $ARGUMENTS.', '', 'Fix .'],
    ['From $0 to $1', 'a "b c"', 'From a to b c'],
    ['From $ARGUMENTS[1] to $ARGUMENTS[0]', 'a b', 'From b to a'],
    ['Only $2 stays', 'a', 'Only $2 stays'],
    ['$issue on $issue-branch, $none', '7 fix', '7 on fix, $none'],
    ['$issue and $issue-branch', '', ' and '],
    [String.raw`Costs \$1.00 or \\$0`, 'x', String.raw`Costs $1.00 or \\x`],
    ['$ARGUMENTS_X $0x $HOME', 'a', '$ARGUMENTS_X $0x $HOME'],
    ['Run ${CLAUDE_SKILL_DIR}/go.sh', '', 'Run /skills/fix/go.sh'],
    ['$0 $ARGUMENTS', '$1 ${CLAUDE_SKILL_DIR}', '$1 $1 ${CLAUDE_SKILL_DIR}'],
    ['$0', "$& $' $$", '$&'],
  ];
  it.each(cases)('%s ← %s', (body, args, text) => {
    const skill = skillNamed('fix', { body, argumentNames: ['issue', 'issue-branch'] });
    expect(substituteArguments(skill, args).text).toBe(text);
  });

  it('works without names of arguments', () => {
    const skill = skillNamed('fix', { body: 'Fix $ARGUMENTS, $0' });
    expect(substituteArguments(skill, '42 soon')).toEqual({
      text: 'Fix 42 soon, 42',
      usedArguments: true,
    });
  });

  it('splits any arguments like a shell', () => {
    expect(splitArguments(String.raw`a "b \"c\"" 'd e' f\ g ""`)).toEqual([
      'a',
      'b "c"',
      'd e',
      'f g',
      '',
    ]);
    fc.assert(
      fc.property(fc.string(), (args) => {
        expect(Array.isArray(splitArguments(args))).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[\w.-]+$/), { maxLength: 8 }), (words) => {
        expect(splitArguments(words.join(' '))).toEqual(words);
      }),
    );
  });

  it('takes time proportional to the length of the text', () => {
    for (const piece of ['\\', '$', '$ARGUMENTS[', '"', "'", '"\\', '!`', '${CLAUDE_']) {
      const long = piece.repeat(100_000);
      expect(formatSkillText(skillNamed('fix', { body: long }), 'a')).toContain(
        long.slice(0, 1_000),
      );
      expect(splitArguments(long).length).toBeGreaterThan(0);
    }
  });

  it('a text without placeholders is unchanged', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (body, args) => {
        const skill = skillNamed('fix', { body: body.replaceAll('$', '') });
        expect(substituteArguments(skill, args)).toEqual({
          text: skill.body,
          usedArguments: false,
        });
      }),
    );
  });
});

describe('the text of a skill', () => {
  it('names the folder of its files, and ends with arguments without a placeholder', () => {
    expect(formatSkillText(skillNamed('fix'), 'it all')).toBe(
      'Skill fix. Its files are in "/skills/fix": paths in its text are relative to that folder, and Read opens them.\n\nDo it.\n\nARGUMENTS: it all',
    );
    expect(formatSkillText(skillNamed('fix', { body: 'Do $0.' }), 'it')).toMatch(/Do it\.$/);
  });

  it('says that its commands have not been run', () => {
    const text = formatSkillText(skillNamed('fix', { body: 'Look: !`git diff`' }));
    expect(text).toContain('have not been run');
    expect(text).toContain('!`git diff`');
  });

  it('is cut at the end of a line if it is too long, with a pointer to the rest', () => {
    const skill = skillNamed('fix', { body: 'äöü line\n'.repeat(5_000) });
    const text = formatSkillTextWithin(skill, '', 30_000);
    expect(byteLength(text)).toBeLessThanOrEqual(30_000);
    expect(text).toMatch(
      /line\n\n\[Cut at \d+ of \d+ bytes\. Read the rest in "\/skills\/fix\/SKILL\.md"\.\]$/,
    );
    expect(formatSkillTextWithin(skillNamed('fix'), '', 30_000)).toBe(
      formatSkillText(skillNamed('fix')),
    );
  });
});
