/**
 * The client that `@modelcontextprotocol/conformance` tests: it connects to the server of a scenario, reads its lists
 * and calls each of its tools. If the server demands a login, it logs in like a person whose browser agrees at once. The
 * last argument is the URL of the server.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logIn } from '../../../src/api/mcp/login.ts';
import { openLogins } from '../../../src/api/mcp/open-logins.ts';
import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { createMcpConnections } from '../../../src/mcp/connections.ts';
import { McpServerError } from '../../../src/mcp/server-error.ts';
import { readForm } from '../../../src/mcp/read-form.ts';
import { readMcpServers } from '../../../src/mcp/read-servers.ts';
import type { McpElicitation } from '../../../src/mcp/server-data.ts';
import { readEnvironment } from '../../../src/sys/env.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments?: JsonObject }[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
}

/** Returns arguments that fit a schema. An argument called `schema` gets the schema of another tool as it was received. */
function createArguments(schema: JsonObject, other: JsonObject | undefined): JsonObject {
  const properties = Object.entries(Object(schema['properties']) as Record<string, JsonObject>);
  return Object.fromEntries(
    properties.map(([name, { type }]) => [
      name,
      name === 'schema' && other !== undefined ? other : createValue(type),
    ]),
  );
}

function createValue(type: JsonValue | undefined): JsonValue {
  switch (type) {
    case 'number':
    case 'integer':
      return 2;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return {};
    default:
      return 'text';
  }
}

/** Prints what a request returns, or its error: some scenarios have servers that do wrong things on purpose. */
async function show(name: string, request: Promise<unknown>): Promise<void> {
  const text = await request.then(JSON.stringify, String);
  process.stdout.write(`${name}: ${text}\n`);
}

/** Returns the authorization server that the server of the scenario names, which a user would have written down. */
async function findIssuer(): Promise<string> {
  const answer = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
  const { authorization_servers: issuers } = (await answer.json()) as {
    readonly authorization_servers: readonly string[];
  };
  return issuers[0] ?? '';
}

/** The maximum number of logins for one request, after which a person would give up. */
const MAX_LOGINS = 2;

/** Returns the values of a form that a user accepts as it is shown. */
function readDefaults(question: McpElicitation) {
  const form = question.mode === 'form' ? readForm(question.schema) : null;
  if (form?.ok !== true) return {};
  return Object.fromEntries(
    form.fields.flatMap(({ name, default: preset }) =>
      preset === undefined ? [] : [[name, typeof preset === 'object' ? [...preset] : preset]],
    ),
  );
}

const environment = readEnvironment();
const context = JSON.parse(environment['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
const isProgram = environment['MCP_CONFORMANCE_SCENARIO']?.includes('client-credentials') === true;
const url = process.argv.at(-1) ?? '';
const entry = {
  url,
  oauth: {
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(privateKey === undefined ? {} : { privateKey }),
    ...(isProgram ? { grantType: 'client_credentials' } : {}),
    // The server of such a scenario names its authorization server only when it is asked.
    ...(isProgram || clientSecret !== undefined ? { issuer: await findIssuer() } : {}),
  },
};
const home = mkdtempSync(join(tmpdir(), 'muster-conformance-'));
const state = { environment: {}, home, cwd: home, dataDir: join(home, 'data') };
mkdirSync(join(home, '.config/muster'), { recursive: true });
writeFileSync(
  join(home, '.config/muster/mcp.json'),
  JSON.stringify({ mcpServers: { server: entry } }),
);
const logins = openLogins(state, {
  onSecret: () => {},
  onNotice: (line) => process.stdout.write(`${line}\n`),
  storesDemands: true,
});
if (logins === null) throw new Error('the logins cannot be used');
const connections = createMcpConnections({
  variables: { environment, ownSecrets: new Set(), project: '/', home: '/' },
  http: createHttpFetch(environment),
  cwd: '/',
  ask: (question) => Promise.resolve({ action: 'accept', content: readDefaults(question) }),
  logins,
});

/** Opens a page and follows its redirect. */
async function agree(page: string): Promise<void> {
  const { headers } = await fetch(page, { redirect: 'manual' });
  await fetch(headers.get('location') ?? '');
}

/** Sends a request, and sends it again after each login that the server demands. */
async function withLogin<T>(send: () => Promise<T>): Promise<T> {
  for (let logins = 0; ; logins += 1) {
    try {
      return await send();
    } catch (thrown) {
      const isDemanded = thrown instanceof McpServerError && thrown.kind === 'login';
      if (!isDemanded || logins === MAX_LOGINS) throw thrown;
      process.stdout.write(`${thrown.message}\n`);
      await logIn('server', state, {
        store: 'file',
        dialog: {
          showPage: ({ url }) => void agree(url).catch(String),
          askAddress: null,
          warn: (line) => process.stdout.write(`${line}\n`),
        },
      });
    }
  }
}

const { entries } = readMcpServers({ server: entry }, { scope: 'user', file: 'conformance' });
const { signal } = new AbortController();
try {
  for (const server of entries.map((each) => connections.open(each))) {
    await withLogin(() => server.start(signal));
    const { items } = await withLogin(() => server.listTools(signal));
    const calls =
      context.toolCalls ??
      items.map(({ name, inputSchema }) => {
        const other = items.find((tool) => tool.name !== name)?.inputSchema;
        return { name, arguments: createArguments(inputSchema, other) };
      });
    for (const call of calls) {
      const send = () => server.callTool(call.name, call.arguments ?? {}, { signal });
      await show(call.name, withLogin(send));
    }
    await show('resources', server.listResources(signal));
    await show('prompts', server.listPrompts(signal));
  }
} finally {
  await connections.close();
  rmSync(home, { recursive: true, force: true });
}
