import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FLAG_NAMES, flagSpec } from '../../../src/front/cli/flags.ts';
import { scanArguments } from '../../../src/front/cli/scan.ts';

const text = fc.string({ minLength: 1 }).filter((value) => !value.startsWith('-'));
const anyText = fc.string();

/** A flag as it may be written; that of the prompt takes the next argument only in some places. */
const flag = fc
  .tuple(
    fc.constantFrom(...FLAG_NAMES.filter((name) => name !== 'print')),
    text,
    fc.constantFrom('separate', 'joined', 'short'),
  )
  .map(([name, value, form]) => {
    const { short, value: takesValue } = flagSpec(name);
    const spelling = form === 'short' && short !== undefined ? `-${short}` : `--${name}`;
    if (takesValue === undefined) return [spelling];
    if (form === 'joined') return [`--${name}=${value}`];
    return form === 'short' && short !== undefined ? [`-${short}${value}`] : [spelling, value];
  });

describe('scanning', () => {
  it('gives the same result wherever the flags stand', () => {
    const part = fc.oneof(
      flag.map((args) => ({ kind: 'flag', args })),
      text.map((word) => ({ kind: 'word', args: [word] })),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const flagsFirst = [
          ...parts.filter(({ kind }) => kind === 'flag'),
          ...parts.filter(({ kind }) => kind === 'word'),
        ];
        const words = parts.filter(({ kind }) => kind === 'word').flatMap(({ args }) => args);
        const scan = scanArguments(parts.flatMap(({ args }) => args));
        expect(scan).toEqual(scanArguments(flagsFirst.flatMap(({ args }) => args)));
        expect(scan.words).toEqual(words);
      }),
    );
  });

  it('takes everything after -- for words', () => {
    fc.assert(
      fc.property(fc.array(flag), fc.array(anyText), (flags, words) => {
        const before = flags.flat();
        expect(scanArguments([...before, '--', ...words])).toEqual({
          ...scanArguments(before),
          words,
          flagsEnded: true,
        });
      }),
    );
  });

  it('never throws, and never loses an argument silently', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyText, fc.constantFrom('-p', '--', '-', '-hv'))), (argv) => {
        const { flags, words, unknown, incomplete } = scanArguments(argv);
        const read = [...words, ...[...flags.values()].flat()].filter((each) => each !== null);
        const isComplete = unknown === undefined && incomplete === undefined;
        const plain = argv.filter((each) => !each.startsWith('-'));
        if (isComplete) expect(read).toEqual(expect.arrayContaining(plain));
      }),
    );
  });
});
