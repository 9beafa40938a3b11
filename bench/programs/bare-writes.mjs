// The reference for the event log: writes the lines of the logs in argv[2] again below argv[3], with one
// `writeSync` per line, in their original order and through descriptors that stay open.
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
