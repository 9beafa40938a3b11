import { expect, test } from 'vitest';
import { expandTransport, listVariables } from '../../src/mcp/expand-variables.ts';
import type { OAuthSettings } from '../../src/mcp/oauth-settings.ts';
import { readMcpServers } from '../../src/mcp/read-servers.ts';
import { fingerprintServer, type McpServerEntry } from '../../src/mcp/server-entry.ts';
import { writeServerEntry } from '../../src/mcp/write-entry.ts';
import { readEntry } from './support.ts';

const url = 'https://mcp.example/mcp';
const NONE: OAuthSettings = {
  clientId: null,
  clientSecret: null,
  privateKey: null,
  issuer: null,
  isProgram: false,
  clientMetadataUrl: null,
  scopes: null,
  redirectUrl: null,
};

function settingsOf({ transport }: McpServerEntry): OAuthSettings | undefined {
  return transport.type === 'stdio' ? undefined : transport.oauth;
}

test.each<[string, object, OAuthSettings | undefined]>([
  ['nothing', {}, undefined],
  ['OpenCode without a login', { oauth: false }, undefined],
  ['an empty object', { oauth: {} }, NONE],
  [
    'Muster',
    {
      oauth: {
        client_id: 'a',
        client_secret_env: 'SECRET_OF_A',
        scopes: ['read', 'write'],
        callback_port: 8123,
        client_metadata_url: 'https://muster.example/client.json',
      },
    },
    {
      ...NONE,
      clientId: 'a',
      clientSecret: '${SECRET_OF_A}',
      clientMetadataUrl: 'https://muster.example/client.json',
      scopes: ['read', 'write'],
      redirectUrl: 'http://127.0.0.1:8123/callback',
    },
  ],
  [
    'Claude Code',
    { oauth: { clientId: 'a', callbackPort: 8080, scopes: 'read write' } },
    {
      ...NONE,
      clientId: 'a',
      scopes: ['read', 'write'],
      redirectUrl: 'http://127.0.0.1:8080/callback',
    },
  ],
  [
    'Gemini CLI',
    {
      oauth: {
        enabled: true,
        clientId: 'a',
        clientSecret: '${S}',
        redirectUri: 'http://localhost:7777/oauth/callback',
      },
    },
    {
      ...NONE,
      clientId: 'a',
      clientSecret: '${S}',
      redirectUrl: 'http://localhost:7777/oauth/callback',
    },
  ],
  [
    'OpenCode',
    { oauth: { clientId: '{env:ID}', clientSecret: '{env:S}', scope: 'read' } },
    { ...NONE, clientId: '${ID}', clientSecret: '${S}', scopes: ['read'] },
  ],
  [
    'Cursor',
    { auth: { CLIENT_ID: 'a', CLIENT_SECRET: 'b', scopes: ['read'] } },
    { ...NONE, clientId: 'a', clientSecret: 'b', scopes: ['read'] },
  ],
  [
    'a program',
    {
      oauth: {
        grant_type: 'client_credentials',
        client_id: 'a',
        private_key_env: 'KEY_OF_A',
        issuer: 'https://auth.example',
      },
    },
    {
      ...NONE,
      clientId: 'a',
      privateKey: '${KEY_OF_A}',
      issuer: 'https://auth.example',
      isProgram: true,
    },
  ],
  ['Codex', { scopes: ['read'] }, { ...NONE, scopes: ['read'] }],
])('reads the login of an entry: %s', (_, fields, settings) => {
  const entry = readEntry({ url, ...fields });
  expect(settingsOf(entry)).toEqual(settings);
  // What is written is read as the same entry.
  expect(settingsOf(readEntry(writeServerEntry(entry)))).toEqual(settings);
});

test.each<[unknown, string | null, string]>([
  ['x', 'oauth', 'it must be an object'],
  [{ client_id: 7 }, 'oauth.client_id', 'it must be a text that is not empty'],
  [{ callback_port: 70_000 }, 'oauth.callback_port', 'it must be a port from 1 to 65535'],
  [
    { redirect_uri: 'https://evil.example/' },
    'oauth.redirect_uri',
    'it must be like http://127.0.0.1:8080/callback, without a query',
  ],
  [
    { grant_type: 'password' },
    'oauth.grant_type',
    'it must be authorization_code or client_credentials',
  ],
  [
    { grant_type: 'client_credentials', client_id: 'a', client_secret: 'b' },
    'oauth.grant_type',
    'client_credentials needs client_id, issuer, and client_secret_env or private_key_env',
  ],
  [{ scopes: ['a b'] }, 'oauth.scopes', 'it must be a list of scopes'],
  [
    { client_secret_env: 'MUSTER_X' },
    'oauth.client_secret_env',
    'it must be the name of a variable that a server may get',
  ],
])('reports a wrong login: %j', (oauth, field, message) => {
  const { entries, problems } = readMcpServers(
    { s: { url, oauth } },
    { scope: 'user', file: 'mcp.json' },
  );
  expect({ entries, problems }).toEqual({
    entries: [],
    problems: [{ file: 'mcp.json', server: 's', field, message, severity: 'error' }],
  });
});

test('variables of the login are replaced, and a project cannot name secrets of Muster', () => {
  const oauth = { client_id: '${ID}', client_secret_env: 'SHARED' };
  const source = {
    environment: { ID: 'me', SHARED: 'hidden' },
    ownSecrets: new Set(['SHARED']),
    project: '/p',
    home: '/h',
  };
  const own = readEntry({ url, oauth });
  expect(listVariables(own.transport)).toEqual(['ID', 'SHARED']);
  const { transport, used } = expandTransport(own, source);
  expect([transport, [...used]]).toEqual([
    {
      ...own.transport,
      oauth: { ...NONE, clientId: 'me', clientSecret: 'hidden' },
    },
    [
      ['ID', 'me'],
      ['SHARED', 'hidden'],
    ],
  ]);
  const ofProject = readEntry({ url, oauth }, { scope: 'project', file: '.mcp.json' });
  expect(() => expandTransport(ofProject, source)).toThrow(
    `.mcp.json: server s: oauth.client_secret: a project's server cannot get SHARED`,
  );
});

test('a login changes the fingerprint of an entry, and an entry without one keeps its own', () => {
  const prints = [{}, { oauth: { client_id: 'a' } }, { oauth: { client_id: 'b' } }].map((fields) =>
    fingerprintServer(readEntry({ url, ...fields })),
  );
  expect(new Set(prints).size).toBe(3);
  expect(prints[0]).toBe(fingerprintServer(readEntry({ url, type: 'http' })));
});
