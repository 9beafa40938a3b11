/** A program that uses servers which do not end by themselves. The test kills it. */
import { createMcpConnections } from '../../../src/mcp/connections.ts';
import { readMcpServers } from '../../../src/mcp/read-servers.ts';
import { readEnvironment } from '../../../src/sys/env.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';

const [name = '', value = ''] = (process.argv[2] ?? '').split('=');
const file = new URL('faulty.mjs', import.meta.url).pathname;
const connections = createMcpConnections({
  variables: { environment: readEnvironment(), ownSecrets: new Set(), project: '/', home: '/' },
  http: createHttpFetch({}),
  cwd: '/',
});
const faults = ['forks', 'ignore-term'].map((fault) => [
  fault,
  { command: process.execPath, args: [file], env: { FAULT: fault, [name]: value } },
]);
const { entries } = readMcpServers(Object.fromEntries(faults), { scope: 'user', file: 'f' });
const { signal } = new AbortController();
await Promise.all(entries.map((entry) => connections.open(entry).start(signal)));
process.stdout.write('ready\n');
