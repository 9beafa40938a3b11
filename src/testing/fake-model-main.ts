/**
 * The fake model server in a process of its own, for benchmarks and crash tests:
 *
 *   node fake-model-main.ts [--port N] [--script FILE] [--log FILE] [--until-stdin-ends]
 *
 * Prints `{"url":…,"pid":…}` as one line once it listens. SIGTERM ends it, and so does the end of
 * stdin where asked for: then it dies with who started it.
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { errorMessage } from '../base/errors.ts';
import { startFakeModel } from './fake-model.ts';
import { endedEntry, receivedEntry, type RequestLogEntry } from './request-log.ts';
import { parseScriptFile, type ScriptFile } from './script-file.ts';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    script: { type: 'string' },
    log: { type: 'string' },
    'until-stdin-ends': { type: 'boolean', default: false },
  },
});

const log = values.log === undefined ? null : createWriteStream(values.log, { flags: 'a' });
const write = (entry: RequestLogEntry) => log?.write(`${JSON.stringify(entry)}\n`);
const server = await startFakeModel({
  ...(values.script === undefined ? {} : readScript(values.script)),
  port: Number(values.port),
  keepRequests: false,
  onReceived: (request) => write(receivedEntry(request)),
  onEnded: (request) => write(endedEntry(request)),
});

/** Reads the script. Ends the process if that fails. */
function readScript(path: string): ScriptFile {
  try {
    return parseScriptFile(readFileSync(path, 'utf8'));
  } catch (thrown) {
    process.stderr.write(`cannot read ${path}: ${errorMessage(thrown)}\n`);
    process.exit(2);
  }
}

async function stop(): Promise<void> {
  process.stdin.destroy();
  await server.close();
  log?.end();
}

process.once('SIGTERM', () => void stop());
process.once('SIGINT', () => void stop());
if (values['until-stdin-ends']) process.stdin.once('end', () => void stop()).resume();
process.stdout.write(`${JSON.stringify({ url: server.url, pid: process.pid })}\n`);
