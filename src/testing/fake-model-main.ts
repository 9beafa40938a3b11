/**
 * Runs the fake model server as a separate process, for benchmarks and crash tests:
 *
 *   node fake-model-main.ts [--port N] [--script FILE] [--log FILE] [--until-stdin-ends]
 *
 * Prints `{"url":…,"pid":…}` as one line when it listens. The process ends on SIGTERM and SIGINT. With
 * `--until-stdin-ends` it also ends with its stdin, so that it does not outlive the process that started it.
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { errorMessage } from '../base/errors.ts';
import { startFakeModel } from './fake-model.ts';
import { createEndedEntry, createReceivedEntry, type RequestLogEntry } from './request-log.ts';
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
  onReceived: (request) => write(createReceivedEntry(request)),
  onEnded: (request) => write(createEndedEntry(request)),
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
