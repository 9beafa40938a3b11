import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNewProblems, readDiagnostics, type Problem } from '../../src/languages/problems.ts';

function problemAt(line: number, message = 'wrong'): Problem {
  return { line, column: 1, severity: 'error', code: 'E1', message };
}

const line = fc.constantFrom('a', 'b', '  a', 'c()', '');
const lines = fc.array(line, { minLength: 1, maxLength: 12 });

describe('new problems', () => {
  it('are none if an edit only moves lines with problems', () => {
    fc.assert(
      fc.property(lines, lines, (text, inserted) => {
        const before = text.map((_, index) => problemAt(index + 1));
        const after = text.map((_, index) => problemAt(index + 1 + inserted.length));
        expect(
          findNewProblems(
            { text: text.join('\n'), problems: before },
            { text: [...inserted, ...text].join('\n'), problems: after },
          ),
        ).toEqual([]);
      }),
    );
  });

  it('are those that were added, however many equal ones there were before', () => {
    fc.assert(
      fc.property(lines, fc.nat(4), (text, added) => {
        const before = text.map((_, index) => problemAt(index + 1));
        const more = Array.from({ length: added }, () => problemAt(1));
        const found = findNewProblems(
          { text: text.join('\n'), problems: before },
          { text: text.join('\n'), problems: [...before, ...more] },
        );
        expect(found).toHaveLength(added);
      }),
    );
  });
});

it('the message of a problem is cut, and a message of blanks takes no time', () => {
  const start = { line: 0, character: 0 };
  const messages = [' '.repeat(500_000), `x${'\n \n'.repeat(200_000)}`, 'y'.repeat(9_000)];
  const problems = readDiagnostics(messages.map((message) => ({ range: { start }, message })));
  expect(problems.map(({ message }) => message)).toEqual(['', 'x', 'y'.repeat(1_000)]);
});

it('whatever a server sends instead of problems is ignored', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(readDiagnostics(value)).toEqual([]);
      expect(readDiagnostics([value])).toEqual([]);
    }),
  );
  const start = { line: 2, character: 4 };
  const message = 'one\n  two\u001b[31m\u202e';
  expect(
    readDiagnostics([
      { range: { start }, message },
      { range: { start }, message, severity: 3 },
    ]),
  ).toEqual([
    { line: 3, column: 5, severity: 'error', code: '', message: expect.stringMatching(/^one two/) },
  ]);
});
