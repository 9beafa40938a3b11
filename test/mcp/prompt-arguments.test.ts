import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindPromptArguments } from '../../src/mcp/prompt-arguments.ts';

const file = { name: 'file', description: 'the file', isRequired: true };
const style = { name: 'style', isRequired: false };
const bind = (text: string, args = [file, style]) =>
  bindPromptArguments('/s:review', { arguments: args }, text);

describe('the arguments of a prompt', () => {
  it.each<readonly [string, Readonly<Record<string, string>>]>([
    ['a.ts', { file: 'a.ts' }],
    ['a.ts short', { file: 'a.ts', style: 'short' }],
    ['a.ts short and kind', { file: 'a.ts', style: 'short and kind' }],
    ['style=short a.ts', { file: 'a.ts', style: 'short' }],
    ['file=a.ts', { file: 'a.ts' }],
    ['style=short my file.ts', { file: 'my file.ts', style: 'short' }],
    ['"my file.ts" short', { file: 'my file.ts', style: 'short' }],
    ['file="my file.ts"', { file: 'my file.ts' }],
    ['colour=red', { file: 'colour=red' }],
    ['file=', { file: '' }],
    ['file=a=b', { file: 'a=b' }],
  ])('%j gives %j', (text, values) => {
    expect(bind(text)).toEqual({ ok: true, values });
  });

  it.each([
    ['', 'needs the argument file (the file); usage: /s:review FILE [STYLE]'],
    ['style=x', 'needs the argument file (the file); usage: /s:review FILE [STYLE]'],
    ['file=a file=b', null],
    ['file=a style=b more', 'has no argument for "more"; usage: /s:review FILE [STYLE]'],
  ])('%j is refused', (text, reason) => {
    const problem = `/s:review${reason === null ? ': the argument file is given twice' : ` ${reason}`}`;
    expect(bind(text)).toEqual({ ok: false, problem });
  });

  it('are all named if several are missing', () => {
    const args = [file, { ...style, isRequired: true }];
    expect(bind('', args)).toEqual({
      ok: false,
      problem: '/s:review needs the arguments file (the file), style; usage: /s:review FILE STYLE',
    });
  });

  it('never get a value that was not typed, and never throw', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const bound = bind(text);
        if (!bound.ok) return;
        expect(Object.keys(bound.values).every((name) => ['file', 'style'].includes(name))).toBe(
          true,
        );
      }),
    );
  });
});
