import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { replaceLoneSurrogates } from '../../../../src/model/adapters/request/well-formed-json.ts';

/** With halves of pairs, and with texts that look like their escapes. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 5 }),
      fc.constantFrom('\ud800', '\udfff', '\\', '\\ud800', '\\\\udc00', '"', '\n', '𝒳', '\u001b'),
    ),
  )
  .map((parts) => parts.join(''));

test('lone surrogates in a body are replaced, and nothing else changes', () => {
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const body = replaceLoneSurrogates(JSON.stringify({ texts }));
      expect(JSON.parse(body)).toEqual({ texts: texts.map((each) => each.toWellFormed()) });
    }),
  );
});
