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

test.each([
  ['https://me:pa%24%24word9@search.example', ['pa%24%24word9', 'pa$$word9', 'me:pa%24%24word9@']],
  ['http://u:p%@ss-long@h', ['p%@ss-long', 'u:p%@ss-long@']],
  ['http://u:short@h', ['u:short@']],
  ['https://search.example/a:b@c', []],
  ['http://u@h', []],
])('the password in the URL of a variable is a secret: %s', (url, secrets) => {
  for (const name of ['SEARXNG_URL', 'HTTPS_PROXY']) {
    const listed = listSecretValues({ [name]: url });
    expect(listed.filter((each) => !/^[\w+/]+=*$/.test(each) || secrets.includes(each))).toEqual(
      secrets,
    );
  }
});

test('a password in a URL is redacted in the form in which it is sent, too', () => {
  const redact = createEnvironmentRedactor({ SEARXNG_URL: 'https://me:pa%24%24word9@h' });
  const sent = Buffer.from('me:pa$$word9').toString('base64');
  expect(redact(`Authorization: Basic ${sent} for https://me:pa%24%24word9@h/`)).not.toMatch(
    /pa.{1,6}word9|bWU6/,
  );
});
