import { expect, it } from 'vitest';
import { parseScriptFile } from '../../src/testing/script-file.ts';

it('reads rules with all that belongs to them', () => {
  const file = {
    script: [
      { when: { nth: [1, 2], model: 'a' }, answer: { fault: { kind: 'hang' } } },
      { answer: { text: 'ok', usage: { input: 1 } } },
    ],
    models: ['a'],
    promptCache: { minTokens: 5 },
    strict: { chatServer: 'mistral', refusedParameters: ['n'], refusedRoles: [] },
  };
  expect(parseScriptFile(JSON.stringify(file))).toEqual(file);
});

it.each([
  ['[]', /^the file must be an object/],
  ['{"rules": []}', /the file has no key rules; valid: script, models, promptCache, strict/],
  ['{"script": [], "strict": "yes"}', /strict must be an object/],
  [
    '{"script": [], "strict": {"server": "mistral"}}',
    /strict has no key server; valid: chatServer,/,
  ],
  ['{"script": [], "strict": {"chatServer": "groq"}}', /strict\.chatServer must be one of openai,/],
  ['{"script": [], "strict": {"refusedRoles": "x"}}', /strict\.refusedRoles must be a list of str/],
  ['{"script": {}}', /script must be a list of rules/],
  ['{"script": [{}]}', /script\[0\]\.answer must be an object/],
  ['{"script": [{"answer": {"txt": ""}}]}', /script\[0\]\.answer has no key txt/],
  ['{"script": [{"when": {"nht": 1}, "answer": {}}]}', /script\[0\]\.when has no key nht/],
  ['{"script": [{"answer": {"fault": {"kind": "boom"}}}]}', /fault\.kind must be one of status,/],
  ['{"script": [{"answer": {"fault": "hang"}}]}', /fault\.kind must be one of status,/],
])('%s is refused', (text, message) => {
  expect(() => parseScriptFile(text)).toThrow(message);
});
