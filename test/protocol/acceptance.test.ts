import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import { formatAcceptance, parseAcceptance } from '../../src/protocol/acceptance.ts';

function parse(value: JsonValue) {
  const issues: string[] = [];
  const written = parseAcceptance(value, issues);
  return issues.length > 0 ? issues : written;
}

const NONE = { commands: [], changed: [], unchanged: [], mayChange: [], maxChangedLines: null };

describe('acceptance criteria', () => {
  it.each<[JsonValue, object]>([
    ['npm test', { criteria: { ...NONE, commands: ['npm test'] } }],
    [['make', 'make lint'], { criteria: { ...NONE, commands: ['make', 'make lint'] } }],
    [
      {
        commands: 'make',
        schema: { type: 'object' },
        changed: ['docs/*.md'],
        unchanged: 'src',
        may_change: ['go.mod'],
        max_changed_lines: 40,
      },
      {
        criteria: {
          commands: ['make'],
          changed: ['docs/*.md'],
          unchanged: ['src'],
          mayChange: ['go.mod'],
          maxChangedLines: 40,
        },
        schema: { type: 'object' },
      },
    ],
  ])('%j is read', (value, expected) => {
    expect(parse(value)).toEqual(expected);
  });

  it.each<[JsonValue, string]>([
    ['', 'accept.commands: must be a text or a list of texts that are not empty'],
    [{ commands: [3] }, 'accept.commands: must be a text or a list of texts that are not empty'],
    [
      { comands: 'make' },
      'accept.comands: is not a part of accept; valid are commands, schema, changed, unchanged, may_change, max_changed_lines',
    ],
    [
      {},
      'accept: is empty; give a command, or some of commands, schema, changed, unchanged, may_change, max_changed_lines',
    ],
    [{ commands: 'make', schema: 'x' }, 'accept.schema: must be a JSON Schema (an object)'],
    [{ max_changed_lines: -1 }, 'accept.max_changed_lines: must be a whole number, at least 0'],
    [
      { unchanged: '../secret' },
      'accept.unchanged: must be paths below the directory of the task, without .. and ~',
    ],
  ])('%j is refused with its field', (value, issue) => {
    expect(parse(value)).toContain(issue);
  });

  it('are written as they are read', () => {
    const value = { commands: ['make'], may_change: ['go.mod'], max_changed_lines: 0 };
    const issues: string[] = [];
    const written = parseAcceptance(value, issues);
    expect(written && formatAcceptance(written.criteria)).toEqual(value);
  });
});
