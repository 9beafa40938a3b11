import { expect, test } from 'vitest';
import { createEnvironmentRedactor, listSecretValues } from '../../../src/api/setup/secrets.ts';

const KEY = 'sk-0123456789abcdef';

test.each([
  [KEY, [KEY]],
  [`"${KEY}"`, [`"${KEY}"`, KEY]],
  [`Bearer ${KEY}`, [`Bearer ${KEY}`, KEY]],
  [`'Authorization: Bearer ${KEY}'`, [`'Authorization: Bearer ${KEY}'`, KEY]],
  ['Bearer short', ['Bearer short']],
])(
  'a key is a secret both as it stands in its variable and as it is sent: %s',
  (value, secrets) => {
    expect(listSecretValues({ OPENAI_API_KEY: value })).toEqual(secrets);
  },
);

test('a key that was pasted with its header is redacted even if a server repeats only the key', () => {
  const redact = createEnvironmentRedactor({ OPENAI_API_KEY: `Bearer ${KEY}` });
  expect(redact(`Incorrect API key provided: ${KEY}.`)).not.toContain(KEY);
});
