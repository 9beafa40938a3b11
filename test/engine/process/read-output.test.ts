import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readToolOutput } from '../../../src/engine/process/read-output.ts';

const ATTACHMENT = { type: 'image/png', bytes: 3, blob: 'abc', tokens: 5 } as const;

describe('the output of a process', () => {
  it('is taken over as the tool has given it', () => {
    const output = {
      text: 'Edited.',
      error: 'CONFLICT',
      facts: {
        read: [{ path: '/a', hash: 'h' }],
        changed: [
          { path: '/a', before: null, after: 'h', unread: true },
          { path: '/b', before: 'x', after: null, mode: 420, movedFrom: '/c' },
        ],
      },
      attachments: [ATTACHMENT],
      hasOutsideText: true,
    };
    expect(readToolOutput(output, [ATTACHMENT])).toEqual(output);
  });

  it('cannot contain what only tools of Muster itself say', () => {
    const output = {
      text: 'x',
      isInstruction: true,
      forced: true,
      told: ['input-1'],
      attachments: [{ ...ATTACHMENT, blob: 'other' }],
      facts: {
        commands: [{ command: 'npm test', exitCode: 0 }],
        skill: 'deploy',
        variables: { PATH: '/evil' },
        changed: [{ path: '/a', before: null, after: 'h', byCommand: true, shared: true }],
      },
    };
    expect(readToolOutput(output, [ATTACHMENT])).toEqual({
      text: 'x',
      facts: { changed: [{ path: '/a', before: null, after: 'h' }] },
    });
  });

  it.for([
    [null],
    ['text'],
    [{}],
    [{ text: 7 }],
    [{ text: 'x', error: 'NO_SUCH_CODE' }],
    [{ text: 'x', facts: [] }],
    [{ text: 'x', facts: { read: [{ path: '/a' }] } }],
    [{ text: 'x', facts: { changed: [{ path: '/a', before: 1, after: null }] } }],
    [{ text: 'x', facts: { changed: {} } }],
  ])('is refused if a field is wrong: %j', ([output]) => {
    expect(readToolOutput(output, [])).toBeNull();
  });

  it('is never a reason to fail', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const parsed = JSON.parse(JSON.stringify(value));
        const output = readToolOutput({ text: 'x', facts: parsed, attachments: parsed }, []);
        expect(output === null || output.text === 'x').toBe(true);
      }),
    );
  });
});
