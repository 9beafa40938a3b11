import { expect, it } from 'vitest';
import { findSecrets } from '../../../src/api/agents/find-secrets.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { REDACTED } from '../../../src/protocol/redaction.ts';
import { createRedactor } from '../../../src/store/redact/redactor.ts';

const redact = createRedactor({ secrets: ['of the environment'] });
const KEY = `sk-ant-${'x1'.repeat(20)}`;

it.each<[string, string, JsonValue, readonly string[]]>([
  ['nothing', 'a\nb\n', {}, []],
  ['a key by its form', `a\nkey: ${KEY}\nb`, {}, ['2 a key']],
  ['several', `${KEY}\nb\n${KEY}`, {}, ['1 a key', '3 a key']],
  ['a key from the environment', 'a\n\nof the environment', {}, ['3 a key']],
  ['the redaction mark itself', `a\n${REDACTED}\n${KEY}\n`, {}, ['3 a key']],
  [
    'a private key',
    `a\n-----BEGIN RSA PRIVATE KEY-----\n${'QUJD\n'.repeat(9)}-----END RSA PRIVATE KEY-----\n`,
    {},
    ['2 a key'],
  ],
  [
    'values of fields with secret names',
    'a:\n  API_TOKEN: 1234-5678-9\n  list: [x]\n  PASSWORD: hunter2-hunter2',
    { a: { API_TOKEN: '1234-5678-9', list: ['x'], PASSWORD: 'hunter2-hunter2' } },
    ['2 the value of `API_TOKEN`', '4 the value of `PASSWORD`'],
  ],
  [
    'a header',
    'a\nAuthorization: Bearer abcdefgh1234',
    { headers: { Authorization: 'Bearer abcdefgh1234', Other: 'Bearer abcdefgh1234' } },
    ['2 the value of `Authorization`'],
  ],
  [
    'a placeholder for a secret',
    'any',
    {
      Authorization: 'Bearer ${TOKEN}',
      authorization: 'Bearer YOUR_TOKEN',
      API_KEY: '${API_KEY}',
      TOKEN: '<your token>',
      SECRET: 'xxxxxxxxxxxx',
      MY_KEY: 'YOUR_KEY_HERE',
      OTHER_KEY: 'NAME_OF_A_VARIABLE',
    },
    [],
  ],
])('%s', (_, text, fields, expected) => {
  const places = findSecrets(text, fields, redact);
  expect(places.map(({ line, what }) => `${line} ${what}`)).toEqual(expected);
});
