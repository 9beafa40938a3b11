import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { BIN, Sandbox } from './muster.ts';

/** Prints the name of each file of the program that is loaded, without the hash of its content. */
const REPORT_LOADED = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({
    load(url, context, next) {
      const name = /\\/dist\\/([a-z_-]+?)(?:-[\\w-]{8})?\\.js$/.exec(url)?.[1];
      if (name !== undefined) writeSync(2, 'loaded ' + name + '\\n');
      return next(url, context);
    },
  });
`)}`;

function loadedFiles(...argv: readonly string[]): readonly string[] {
  return loadedFilesWith({}, argv);
}

/** @param files the texts of files in the home of the user, by path */
function loadedFilesWith(
  variables: Readonly<Record<string, string>>,
  argv: readonly string[],
  files: Readonly<Record<string, string>> = {},
): readonly string[] {
  using sandbox = new Sandbox();
  for (const [path, text] of Object.entries(files)) {
    const file = join(sandbox.home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const { stderr } = spawnSync(process.execPath, ['--import', REPORT_LOADED, BIN, ...argv], {
    encoding: 'utf8',
    env: sandbox.environment(variables),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const names = stderr.split('\n').map((line) => /^loaded (.*)$/.exec(line)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))].toSorted();
}

const HELP_FILES = ['boot', 'cli', 'commands', 'help', 'main', 'muster'];

it.each([
  [['--version'], ['boot', 'muster']],
  [['-v'], ['boot', 'muster']],
  [['--help'], HELP_FILES],
  [['-h'], HELP_FILES],
  [['help'], HELP_FILES],
  [['tasks', '--help'], HELP_FILES],
])('muster %j loads no part of the engine', (argv, expected) => {
  expect(loadedFiles(...argv)).toEqual(expected);
});

it.each([
  ['agents', 'list'],
  ['mcp', 'list'],
  ['-p', 'Where is x?', '--model', 'offline'],
])('muster %s loads no code of plugins if none was ever installed', (...argv) => {
  const loaded = loadedFiles(...argv);
  expect(loaded).toContain('muster');
  expect(loaded.filter((name) => name.includes('plugin'))).toEqual([]);
});

it('a run loads the code for traces, metrics and the log file only if they are wanted', () => {
  const run = ['--model', 'offline', '-p', 'where is the parser?'];
  const telemetry = ['export-settings', 'exporter', 'log-file', 'otlp-client'];
  const isTelemetry = (name: string) => telemetry.includes(name);
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    MUSTER_LOG_FILE: 'muster.log',
  };
  expect(loadedFiles(...run).filter(isTelemetry)).toEqual([]);
  expect(loadedFilesWith(variables, run).filter(isTelemetry)).toEqual(telemetry);
  const disabled = { ...variables, OTEL_SDK_DISABLED: 'true', MUSTER_LOG_FILE: '' };
  expect(loadedFilesWith(disabled, run).filter(isTelemetry)).toEqual([]);
});

const RUN_PROMPT = ['--model', 'offline', '-p'];

it('a run loads the code of hooks only if there are some', () => {
  const code = `hook-conditions hook-definition hook-definitions hook-runner merge-outcomes
    read-hook-output read-hooks run-command-hook`.split(/\s+/);
  const isOfHooks = (name: string) => /hook|merge-outcomes/.test(name);
  const run = [...RUN_PROMPT, 'where is the parser?'];
  expect(loadedFiles(...run).filter(isOfHooks)).toEqual([]);
  const hook = { type: 'command', command: 'true' };
  const settings = JSON.stringify({ hooks: { SessionStart: [{ hooks: [hook] }] } });
  const loaded = loadedFilesWith({}, run, { '.claude/settings.json': settings });
  expect(loaded.filter((name) => code.includes(name))).toEqual(code);
});

it('a run loads the code of slash commands only if one is typed', () => {
  const code = ['parse-body', 'read-command', 'slash-command'];
  const isOfCommands = (name: string) => code.includes(name);
  const files = { '.claude/commands/find.md': 'Where is the parser?' };
  const plain = loadedFiles(...RUN_PROMPT, 'where is the parser?');
  expect(plain.filter(isOfCommands)).toEqual([]);
  expect(loadedFilesWith({}, [...RUN_PROMPT, '/find'], files).filter(isOfCommands)).toEqual(code);
});

it('a run loads the code of the clouds only if one of their models is asked', () => {
  const isOfClouds = (name: string) =>
    /^(?:aws|google|azure|azure-cli|cloud-key|bedrock-anthropic|vertex-anthropic|converse-protocol|sign-request|event-frames)$/.test(
      name,
    );
  const run = [...RUN_PROMPT, 'where is the parser?'];
  expect(loadedFiles(...run).filter(isOfClouds)).toEqual([]);
  const configured = { CLAUDE_CODE_USE_BEDROCK: '1', AWS_REGION: 'us-east-1' };
  expect(loadedFilesWith(configured, run).filter(isOfClouds)).toEqual([]);
  const asked = { ...configured, AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'x' };
  const base = { ...asked, ANTHROPIC_BEDROCK_BASE_URL: 'http://127.0.0.1:9' };
  const model = [
    '--model',
    'bedrock/us.anthropic.claude-sonnet-5',
    '-p',
    'hi',
    '--max-seconds',
    '2',
  ];
  expect(loadedFilesWith(base, model).filter(isOfClouds)).toEqual([
    'aws',
    'bedrock-anthropic',
    'cloud-key',
    'event-frames',
    'sign-request',
  ]);
});

it('a run loads what the tool Board does only if it is called', () => {
  const run = [...RUN_PROMPT, 'where is the parser?'];
  expect(loadedFiles(...run).filter((name) => name === 'board-calls')).toEqual([]);
  expect(readdirSync(dirname(BIN)).filter((name) => name.startsWith('board-calls-'))).not.toEqual(
    [],
  );
});

/** What the program meets on a Node that lacks what it is built on. */
const OLD_NODE = `data:text/javascript,${encodeURIComponent(`
  delete process.getBuiltinModule;
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.0.0' } });
`)}`;

it('a Node that is too old is told so before anything is loaded', () => {
  const { status, stderr } = spawnSync(process.execPath, ['--import', OLD_NODE, BIN], {
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([
    2,
    `muster needs Node 22.19 or newer; this is 18.0.0 (${process.execPath}).\n`,
  ]);
});

it.each([
  ['a closed pipe', '| true'],
  ['a closed stdout', '>&-'],
])('muster --version says nothing more to %s', (_, to) => {
  using sandbox = new Sandbox();
  const { stderr, stdout } = spawnSync(
    '/bin/bash',
    ['-c', `"$0" "$1" --version ${to}; echo "\${PIPESTATUS[0]}"`, process.execPath, BIN],
    { encoding: 'utf8', env: sandbox.environment() },
  );
  expect([stderr, stdout]).toEqual(['', '0\n']);
});

it.each([
  ['tasks', 'list'],
  ['-p', 'Where is x?', '--model', 'offline'],
  ['web', '--help'],
])('muster %s %s loads nothing of the page in the browser', (...argv) => {
  const loaded = loadedFiles(...argv);
  expect(loaded).toContain('muster');
  expect(loaded.filter((name) => /^(?:run-web|serve-web|export-run|notifier)$/.test(name))).toEqual(
    [],
  );
});
