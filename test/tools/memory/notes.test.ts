import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarizeNote, updateIndex } from '../../../src/tools/memory/notes.ts';

const says = (name: string): string => `about ${name}`;
const index = (text: string, ...names: readonly string[]): string =>
  updateIndex({ text, names, summaryOf: says });

describe('an index', () => {
  it.each<readonly [string, string, readonly string[], string]>([
    [
      'is created',
      '',
      ['a.md', 'b.md'],
      '# Memory\n\n- [a.md](a.md): about a.md\n- [b.md](b.md): about b.md\n',
    ],
    ['is not created for no notes', '', [], ''],
    [
      'loses the line of a missing note',
      '- [a.md](a.md): x\n- [b.md](b.md)\n',
      ['b.md'],
      '- [b.md](b.md)\n',
    ],
    [
      'keeps the words of a person',
      '* [Build it](a.md) like this\n',
      ['a.md'],
      '* [Build it](a.md) like this\n',
    ],
    [
      'has one line a note',
      '- [a.md](a.md): x\n- [again](a.md)\n',
      ['a.md'],
      '- [a.md](a.md): x\n',
    ],
    [
      'keeps lines that do not belong to it',
      'Hi.\n- [x](../a.md)\n- [y](https://a.md)\n- [z](MEMORY.md)\nBye',
      [],
      'Hi.\n- [x](../a.md)\n- [y](https://a.md)\n- [z](MEMORY.md)\nBye',
    ],
    [
      'gets new lines after its last one',
      '- [a.md](a.md)\n\nFacts.\n',
      ['a.md', 'b.md'],
      '- [a.md](a.md)\n- [b.md](b.md): about b.md\n\nFacts.\n',
    ],
    [
      'gets new lines at the end of free text',
      'Facts',
      ['a.md'],
      'Facts\n\n- [a.md](a.md): about a.md\n',
    ],
    [
      'gets new lines after a line without an end',
      '- [a.md](a.md)',
      ['a.md', 'b.md'],
      '- [a.md](a.md)\n- [b.md](b.md): about b.md\n',
    ],
    ['keeps Windows line ends', 'Hi\r\n', ['a.md'], 'Hi\r\n\r\n- [a.md](a.md): about a.md\r\n'],
  ])('%s', (_, text, names, wanted) => {
    expect(index(text, ...names)).toBe(wanted);
  });

  it('follows a changed note, and keeps lines that a person has reworded', () => {
    const wish = { names: ['a.md'], summaryOf: says, changed: { name: 'a.md', before: 'old' } };
    const texts = ['- [a.md](a.md): old\r\n', '- [a.md](a.md): mine\n'];
    expect(texts.map((text) => updateIndex({ ...wish, text }))).toEqual([
      '- [a.md](a.md): about a.md\r\n',
      '- [a.md](a.md): mine\n',
    ]);
  });

  it('lists any notes in any text, keeps all other lines, and is unchanged when updated again', () => {
    const names = fc.uniqueArray(fc.constantFrom('a.md', 'b.md', 'c.md', 'd.md'));
    const line = fc.constantFrom(
      '',
      'x',
      '- [a.md](a.md): y',
      '- [q](c.md)',
      '- [g](gone.md)',
      'b.md\r',
    );
    fc.assert(
      fc.property(fc.array(line), names, (lines, there) => {
        const made = index(lines.join('\n'), ...there);
        const listed = [...made.matchAll(/^- \[[^\]]*\]\(([^)]*)\)/gm)].map(([, name]) => name);
        expect(listed.toSorted()).toEqual(there.toSorted());
        const others = (text: string) =>
          text
            .split('\n')
            .flatMap((each) => (each.startsWith('- [') || each.trim() === '' ? [] : [each.trim()]));
        expect(others(made).filter((each) => each !== '# Memory')).toEqual(
          others(lines.join('\n')),
        );
        expect(index(made, ...there)).toBe(made);
      }),
    );
  });
});

it.each([
  ['\n\n## Build\nmore', 'Build'],
  ['- [ ] a\tb', '[ ] a b'],
  ['---\n\n', ''],
  ['x\u001b[31my', 'x⟨U+001B⟩[31my'],
  ['y'.repeat(200), 'y'.repeat(120)],
])('the summary of %j is %j', (text, summary) => {
  expect(summarizeNote(text)).toBe(summary);
});
