import { expect, test } from 'vitest';
import { canShowForms } from '../../../src/front/mcp-server/question-asker.ts';

test.each([
  [undefined, false],
  [null, false],
  [{}, false],
  [{ elicitation: true }, false],
  [{ elicitation: {} }, true],
  [{ elicitation: { form: {} } }, true],
  [{ elicitation: { form: {}, url: {} } }, true],
  [{ elicitation: { url: {} } }, false],
])('a client with the capabilities %j shows forms: %j', (capabilities, isAble) => {
  expect(canShowForms(capabilities)).toBe(isAble);
});
