import { expect, it } from 'vitest';
import { limitMessage } from '../../../src/engine/limits/limit-message.ts';

it('states the used amount and the amount that the next request needs', () => {
  const hit = { limit: 'tree_tokens', value: 9_000, used: 4_000, needed: 6_048 };
  expect(limitMessage(hit)).toBe(
    'the limit tree_tokens = 9000 leaves no room for the next request (4000 used, up to 6048 needed)',
  );
});

it('says that a last answer still fits', () => {
  const hit = { limit: 'tree_tokens', value: 9_000, used: 4_000, needed: 6_048 };
  expect(limitMessage({ ...hit, lastAnswerFits: true })).toBe(
    'the limit tree_tokens = 9000 leaves no room for another turn and a last answer (4000 used, up to 6048 needed)',
  );
});

// Old logs, from the time when output caps were never lowered, contain such a hit.
it('names the output limit that an older log gives as most of the needed amount', () => {
  const hit = {
    limit: 'tree_tokens',
    value: 1,
    used: 0,
    needed: 34_000,
    output: { model: 'a/b', limit: 32_000 },
  };
  expect(limitMessage(hit)).toBe(
    'the limit tree_tokens = 1 leaves no room for the next request (0 used, up to 34000 needed, most of it for an answer of 32000 tokens, the output limit of a/b). A lower output_limit in [models.catalogue."a/b"] of your configuration needs less',
  );
});
