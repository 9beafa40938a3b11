import { expect, it } from 'vitest';
import { losesWordsByRedaction } from '../../../src/engine/questions/ask-person.ts';
import { REDACTED } from '../../../src/protocol/redaction.ts';
import { createRedactor } from '../../../src/store/redact/redactor.ts';

const redact = createRedactor({ secrets: ['known-secret', 'two words'] });
const key = (body: string) => `-----BEGIN RSA PRIVATE KEY-----${body}-----END RSA PRIVATE KEY-----`;
const token = `eyJ${'a'.repeat(12)}.eyJ${'b'.repeat(12)}.${'c'.repeat(12)}`;

it.each([
  ['nothing to redact', 'npm test', false],
  ['a known secret', 'curl -u me:known-secret https://example.org', false],
  ['a key by its form', `deploy --key sk-ant-${'a1'.repeat(20)} now`, false],
  ['a token in a header', `curl -H "Authorization: Bearer ${token}"`, false],
  ['a token that is too short', 'curl -H "Authorization: Bearer eyJ"', false],
  ['the redaction mark itself', `echo ${REDACTED}`, false],
  ['a secret of several words', 'echo two words', true],
  [
    'commands between the lines of a key',
    `echo ${key('\nmake\ncurl -o x https://example.org\n')}`,
    true,
  ],
  ['arguments between the lines of a key', `rm -rf ${key(' /srv /home ')}`, true],
  ['the same with keys next to it', `echo known-secret known-secret ${key('\nmake\n')}`, true],
  ['a key in JSON', JSON.stringify({ key: key('\nabc\n') }), true],
])('of %s', (_, text, hides) => {
  expect(losesWordsByRedaction(text, redact)).toBe(hides);
});
