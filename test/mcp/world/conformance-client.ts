/**
 * The client that `@modelcontextprotocol/conformance` tests: it connects to the server of a scenario, reads its lists
 * and calls each of its tools. The last argument is the URL of the server.
 */
import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { createMcpConnections } from '../../../src/mcp/connections.ts';
import { readForm } from '../../../src/mcp/read-form.ts';
import { readMcpServers } from '../../../src/mcp/read-servers.ts';
import type { McpElicitation } from '../../../src/mcp/server-data.ts';
import { readEnvironment } from '../../../src/sys/env.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments?: JsonObject }[];
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
const connections = createMcpConnections({
  variables: { environment, ownSecrets: new Set(), project: '/', home: '/' },
  http: createHttpFetch(environment),
  cwd: '/',
  ask: (question) => Promise.resolve({ action: 'accept', content: readDefaults(question) }),
});
const url = process.argv.at(-1);
const { entries } = readMcpServers({ server: { url } }, { scope: 'user', file: 'conformance' });
const { signal } = new AbortController();
try {
  for (const server of entries.map((entry) => connections.open(entry))) {
    await server.start(signal);
    const { items } = await server.listTools(signal);
    const calls =
      context.toolCalls ??
      items.map(({ name, inputSchema }) => {
        const other = items.find((tool) => tool.name !== name)?.inputSchema;
        return { name, arguments: createArguments(inputSchema, other) };
      });
    for (const call of calls) {
      await show(call.name, server.callTool(call.name, call.arguments ?? {}, { signal }));
    }
    await show('resources', server.listResources(signal));
    await show('prompts', server.listPrompts(signal));
  }
} finally {
  await connections.close();
}
