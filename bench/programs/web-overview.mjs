/** Starts `muster web` (BIN at argv[2]), and prints the time in ms in which it sends the list of tasks to a page. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const [bin] = process.argv.slice(2);
const server = spawn(process.execPath, [bin, 'web', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
const address = new URL(String(line).trim());
const headers = { authorization: `Bearer ${address.searchParams.get('token')}` };
let overviewMs = 0;
let tasks = 0;
// The second list is like every later one.
for (const _ of [1, 2]) {
  const startedAt = performance.now();
  const response = await fetch(`${address.origin}/api/overview`, { headers });
  ({ length: tasks } = (await response.json()).tasks);
  overviewMs = performance.now() - startedAt;
}
console.log(JSON.stringify({ tasks, overviewMs }));
server.kill();
await once(server, 'close');
