import { expect, test } from 'vitest';
import { readA2aServer } from '../../../src/agents/fields/a2a.ts';
import { muster } from '../../../src/agents/formats/vendors.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import { agentFile, readOne } from '../support.ts';

const CARD = 'https://agents.example/card.json';
const WRONG_CARD =
  'The agent card must be a URL that begins with http:// or https:// and holds no password, or a JSON object.';

test.each<readonly [card: JsonValue | undefined, expected: JsonValue]>([
  [CARD, CARD],
  [` ${CARD} `, CARD],
  ['http://127.0.0.1:4000/card', 'http://127.0.0.1:4000/card'],
  [{ url: 'https://agents.example' }, { url: 'https://agents.example' }],
  ['{"url": "https://agents.example"}', { url: 'https://agents.example' }],
  ['https://me:secret@agents.example', WRONG_CARD],
  ['file:///etc/passwd', WRONG_CARD],
  ['agents.example', WRONG_CARD],
  ['{', WRONG_CARD],
  [['https://agents.example'], WRONG_CARD],
  [undefined, WRONG_CARD],
])('the card %j', (card, expected) => {
  const server = readA2aServer(card, undefined);
  expect(server).toEqual(expected === WRONG_CARD ? expected : { protocol: 'a2a', card: expected });
});

test.each<readonly [auth: JsonValue, expected: JsonValue]>([
  [
    { type: 'apiKey', key: '$KEY' },
    { type: 'apiKey', key: '$KEY' },
  ],
  [
    { type: 'apiKey', key: 'k', name: 'X-Far' },
    { type: 'apiKey', key: 'k', name: 'X-Far' },
  ],
  [{ type: 'apiKey', key: 'k', name: 'a: b' }, '`auth.name` must be the name of a header.'],
  [{ type: 'apiKey' }, '`auth` of type `apiKey` needs `key`.'],
  [
    { type: 'http', scheme: 'Bearer', token: '$TOKEN' },
    { type: 'http', scheme: 'Bearer', value: '$TOKEN' },
  ],
  [
    { type: 'http', scheme: 'Digest', value: '!digest' },
    { type: 'http', scheme: 'Digest', value: '!digest' },
  ],
  [
    { type: 'http', scheme: 'basic', username: 'me', password: '$PASSWORD' },
    { type: 'http', scheme: 'Basic', username: 'me', password: '$PASSWORD' },
  ],
  [{ type: 'http', scheme: 'Bearer' }, '`auth` with the scheme `Bearer` needs `token`.'],
  [
    { type: 'http', scheme: 'Digest', token: 'x' },
    '`auth` with the scheme `Digest` needs `value`.',
  ],
  [
    { type: 'http', scheme: 'Basic', username: 'me' },
    '`auth` with the scheme `Basic` needs `username` and `password`.',
  ],
  [
    { type: 'http', scheme: 'a b', value: 'x' },
    '`auth` of type `http` needs `scheme`, such as `Bearer`.',
  ],
  [{ type: 'http' }, '`auth` of type `http` needs `scheme`, such as `Bearer`.'],
  [
    { type: 'google-credentials' },
    '`auth` of type `google-credentials` is not supported. Write `type: http`, `scheme: Bearer` and `token: "!gcloud auth print-access-token"` in an agent of your own.',
  ],
  [
    { type: 'oauth', client_id: 'x' },
    '`auth` of type `oauth` is not supported. Write `type: http`, `scheme: Bearer` and a `token` (`$NAME`, or `!command` that prints it).',
  ],
  [{}, '`auth.type` must be `apiKey` or `http`.'],
  ['Bearer x', '`auth` must be a map.'],
])('the credentials %j', (auth, expected) => {
  expect(readA2aServer(CARD, auth)).toEqual(
    typeof expected === 'string' ? expected : { protocol: 'a2a', card: CARD, auth: expected },
  );
});

test.each([
  [`a2a: ${CARD}`, { protocol: 'a2a', card: CARD }],
  [
    `a2a: {card: ${CARD}, auth: {type: apiKey, key: $KEY}}`,
    { protocol: 'a2a', card: CARD, auth: { type: 'apiKey', key: '$KEY' } },
  ],
  [
    'a2a: {url: https://agents.example, name: Far}',
    { protocol: 'a2a', card: { url: 'https://agents.example', name: 'Far' } },
  ],
])("Muster's own field %s", async (line, remote) => {
  const agent = await readOne(muster.agents, agentFile('name: a', 'description: b', line));
  expect([agent.remote, agent.problems]).toEqual([remote, []]);
});
