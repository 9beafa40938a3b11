// The reference for a delegation: sends the recorded requests of the file at argv[2] without an agent around
// them. The conversations of all children run at the same time; between two requests of a child its files are
// read and its patterns are searched for with one ripgrep process each.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const { url, rgPath, first, children, last } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const run = promisify(execFile);

async function send({ path, headers, body }) {
  const response = await fetch(url + path, { method: 'POST', headers, body });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  await response.text();
}

async function makeCall({ name, input }) {
  switch (name) {
    case 'Read':
      return readFile(input.file_path, 'utf8');
    case 'Grep':
      return run(rgPath, ['--no-config', '--line-number', '--sort=path', input.pattern, './'], {
        maxBuffer: 2 ** 26,
      });
    default:
      throw new Error(`no such call: ${name}`);
  }
}

await send(first);
await Promise.all(
  children.map(async (turns) => {
    for (const { request, calls } of turns) {
      await send(request);
      await Promise.all(calls.map(makeCall));
    }
  }),
);
await send(last);
