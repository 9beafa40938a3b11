// The floor of an event log: the lines of the logs in argv[2] written again below argv[3], a
// `writeSync` a line, in the order in which they came, over descriptors that stay open.
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const [from, to, perTurn, turns] = process.argv.slice(2);
const count = Number(perTurn) * Number(turns);
const logs = readdirSync(from)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => ({
    fd: openSync(join(to, name), 'a'),
    lines: readFileSync(join(from, name), 'utf8')
      .trimEnd()
      .split('\n')
      .slice(-count)
      .map((line) => Buffer.from(`${line}\n`)),
  }));

const startedAt = performance.now();
for (let first = 0; first < count; first += Number(perTurn)) {
  for (const { fd, lines } of logs) {
    for (let at = first; at < first + Number(perTurn); at += 1) writeSync(fd, lines[at]);
  }
}
console.log(JSON.stringify({ writeMs: performance.now() - startedAt }));
for (const { fd } of logs) closeSync(fd);
