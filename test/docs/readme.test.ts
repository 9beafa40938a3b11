import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { startFakeModel } from '../../src/testing/index.ts';
import { runMuster, Sandbox } from '../e2e/muster.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import { needs } from '../needs.ts';
import { expectNoViolations } from '../no-violations.ts';
import { answerByDelegating, RETRY_FILE } from './delegation.ts';
import { CAN_BE_INTERNET, openInternet } from './internet.ts';
import {
  expectShown,
  findBlocks,
  findTranscripts,
  readPage,
  runInShell,
  runTranscript,
} from './page.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readPage('README.md');
const KEY = 'sk-or-v1-0123456789';

/** Returns the prompt of the sample of the offline search, and its lines. */
function offlineSample(): { readonly prompt: string; readonly lines: readonly string[] } {
  const [, prompt = '', sample = ''] =
    /```\n\$ muster -p "([^"]+)"\n([\s\S]*?)\n```/.exec(page) ?? [];
  return { prompt, lines: sample.split('\n') };
}

/** Replaces what differs from run to run, from machine to machine, and with each edit of a file. */
function lasting(line: string): string {
  return line
    .replaceAll(/(?:\d+ min )?\d[\d.]* m?s\b/g, 'TIME')
    .replaceAll(/(?<=Explore )\w+|(?<=task )\w+/g, 'ID')
    .replaceAll(/(?<=\.\w+:)\d+/g, '…')
    .replaceAll(/\d[\d,.]*/g, 'N');
}

it('the sample of the offline search in the README is the real output of its command', async () => {
  const { prompt, lines } = offlineSample();
  using sandbox = new Sandbox();
  // Without a terminal the lines about subagents are printed only with this flag, and more lines with them.
  const run = await runMuster(sandbox, ['-p', prompt, '--verbose'], { cwd: ROOT });
  const printed = `${run.stderr}${run.stdout}`.split('\n').map(lasting);
  expect(lines.length).toBeGreaterThan(5);
  for (const line of lines) {
    if (line !== '…') expect(printed).toContain(lasting(line));
  }
  expect(run.stdout.startsWith('1. `src/policy/decide.ts:')).toBe(true);
});

it('the README begins with the command that installs the package', () => {
  const { name } = JSON.parse(readPage('package.json')) as { readonly name: string };
  const [first] = findBlocks(page, 'sh');
  expect(first).toBe(`npm install -g ${name}\n`);
});

it.runIf(CAN_BE_INTERNET && needs('tmux', 'tmux'))(
  'the first minute of the README is the real output of its commands',
  async () => {
    const lists = { '/api/v1/key': { data: { limit: null } } };
    const server = { hosts: ['openrouter.ai'], key: KEY, prefix: '/api', lists };
    await using internet = await openInternet({ ...server, script: answerByDelegating });
    using sandbox = new Sandbox(RETRY_FILE);
    const [login, task, ...others] = findTranscripts(page);
    expect([login?.command, others]).toEqual(['muster login openrouter', []]);
    using terminal = new TmuxTerminal(sandbox, ['login', 'openrouter'], {
      env: internet.environment,
      size: [120, 30],
    });
    await terminal.sees('is not shown):');
    terminal.type(KEY);
    terminal.press('Enter');
    expectShown(await terminal.sees('exit 0'), login!.shown);
    const { output } = await runTranscript(sandbox, task!, internet.environment);
    expectShown(output, task!.shown);
    const models = internet.model.requests.map(({ model }) => model);
    expect(models).toContain('~anthropic/claude-haiku-latest');
  },
);

it('the commands of the README work as they are written', async () => {
  const model = await startFakeModel();
  using sandbox = new Sandbox({
    'src/limits.ts': 'export const LIMIT = 4;\n',
    'src/retry.ts': 'export const RETRY_LIMIT = 4;\n',
  });
  await runInShell(sandbox, 'git init -q');
  const blocks = findBlocks(page, 'sh').slice(1);
  const commands = blocks.flatMap((block) => block.replaceAll('\\\n', '').trim().split('\n'));
  expect(commands.length).toBeGreaterThan(10);
  for (const command of commands) {
    const { code, output } = await runInShell(sandbox, command, model.env('anthropic'));
    expect({ command, code, output }).toEqual({ command, code: 0, output });
  }
  await model.close();
  expectNoViolations(model);
});
