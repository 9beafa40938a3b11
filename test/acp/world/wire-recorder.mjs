// Starts a program and passes on what it and its client say to each other. Each line is written to a file, with its
// sender and the number of the connection.
// Usage: node wire-recorder.mjs FILE COMMAND [ARGUMENT…]
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';

const [file, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });

function passOn(input, output, from) {
  let rest = '';
  input.setEncoding('utf8');
  input.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines)
      appendFileSync(file, `${JSON.stringify({ connection: process.pid, from, line })}\n`);
    output.write(text);
  });
  input.on('end', () => output.end());
  // The other side has gone. Its end is passed on by itself.
  output.on('error', () => {});
}

passOn(process.stdin, child.stdin, 'client');
passOn(child.stdout, process.stdout, 'agent');
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
