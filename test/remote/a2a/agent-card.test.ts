import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseEndpoint } from '../../../src/remote/a2a/agent-card.ts';
import { A2aError } from '../../../src/remote/a2a/failure.ts';

const CARD_URL = new URL('https://agents.example/cards/a.json');

const address = fc.oneof(
  fc.constantFrom(
    'https://agents.example/a2a',
    '/a2a',
    '../x',
    '//elsewhere.example/a2a',
    'https://agents.example:444/a2a',
    'http://agents.example/a2a',
    'https://agents.example@elsewhere.example/',
    'https://me:secret@agents.example/',
    'http://169.254.169.254/latest',
    'file:///etc/passwd',
    'javascript:1',
    '',
  ),
  fc.webUrl(),
  fc.string(),
);
const binding = fc.oneof(fc.constantFrom('JSONRPC', 'jsonrpc', 'HTTP+JSON', 'GRPC'), fc.string());
const version = fc.oneof(fc.constantFrom('1.0', '0.3', '0.3.0', '2.0', ''), fc.string());
const place = fc.record(
  {
    url: address,
    protocolBinding: binding,
    transport: binding,
    protocolVersion: version,
    tenant: fc.string(),
  },
  { requiredKeys: [] },
);
const card = fc.oneof(
  fc.record(
    {
      url: address,
      preferredTransport: binding,
      protocolVersion: version,
      supportedInterfaces: fc.array(fc.oneof(place, fc.jsonValue())),
      additionalInterfaces: fc.array(fc.oneof(place, fc.jsonValue())),
      capabilities: fc.oneof(fc.record({ streaming: fc.jsonValue() }), fc.jsonValue()),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue(),
);

test('whatever a card says, it names only its own origin and those that are allowed', () => {
  const allowed = ['https://friend.example'];
  fc.assert(
    fc.property(card, (value) => {
      try {
        const { url } = chooseEndpoint(value, CARD_URL, allowed);
        expect([CARD_URL.origin, ...allowed]).toContain(url.origin);
        expect([url.username, url.password]).toEqual(['', '']);
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(A2aError);
      }
    }),
    { numRuns: 1_000 },
  );
});

test.each<readonly [card: object, url: string, binding: string, isStreaming: boolean]>([
  [
    { supportedInterfaces: [{ url: '/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }] },
    'https://agents.example/a2a',
    'JSONRPC',
    false,
  ],
  [
    {
      supportedInterfaces: [
        { url: 'https://agents.example/grpc', protocolBinding: 'GRPC' },
        { url: 'https://elsewhere.example', protocolBinding: 'JSONRPC' },
        { url: 'https://agents.example/rpc', protocolBinding: 'JSONRPC' },
      ],
      capabilities: { streaming: true },
    },
    'https://agents.example/rpc',
    'JSONRPC',
    true,
  ],
  [
    {
      url: 'https://agents.example/old',
      protocolVersion: '0.3.0',
      capabilities: { streaming: true },
    },
    'https://agents.example/old',
    'JSONRPC',
    true,
  ],
  [
    {
      url: 'https://agents.example/grpc',
      preferredTransport: 'GRPC',
      additionalInterfaces: [{ url: 'https://agents.example/rest', transport: 'HTTP+JSON' }],
      capabilities: { streaming: true },
    },
    'https://agents.example/rest',
    'HTTP+JSON',
    false,
  ],
])('%j', (value, url, binding, isStreaming) => {
  const endpoint = chooseEndpoint(value, CARD_URL, []);
  expect([endpoint.url.href, endpoint.binding, endpoint.isStreaming]).toEqual([
    url,
    binding,
    isStreaming,
  ]);
});
