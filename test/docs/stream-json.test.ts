import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { parseInputLine } from '../../src/protocol/input-line.ts';
import { lastUserText, type RecordedRequest } from '../../src/testing/index.ts';
import { BIN } from '../e2e/muster.ts';
import { bash, openWorld } from '../e2e/world.ts';
import { needs } from '../needs.ts';
import { findBlocks, findTranscripts, readPage } from './page.ts';

const page = readPage('docs/stream-json.md');
const EXAMPLE = resolve(import.meta.dirname, '../../examples/python/ask_muster.py');

/** Answers the questions of the page. Before the first answer, it tries a command that needs a permission. */
function answer(request: RecordedRequest) {
  const isFirst = request.messages.length === 1;
  if (isFirst) return { toolCalls: [bash('rm limits.ts')] };
  const isSecond = lastUserText(request).includes('Which file');
  return { text: isSecond ? 'Only client.ts.' : 'In limits.ts, line 1.' };
}

it.runIf(needs('python3', 'python3'))(
  'the example in Python prints what the page shows',
  async () => {
    const [transcript] = findTranscripts(page);
    const questions = [...(transcript?.command ?? '').matchAll(/"([^"]*)"/g)].map(
      ([, q = '']) => q,
    );
    await using world = await openWorld({ script: answer });
    const program = join(world.sandbox.root, 'muster');
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, {
      mode: 0o755,
    });
    const env = world.sandbox.environment(world.model.env('anthropic'));
    const child = spawn('python3', [EXAMPLE, ...questions], {
      cwd: world.sandbox.workspace,
      env: { ...env, PATH: `${dirname(program)}:${env['PATH'] ?? ''}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^\? main: asks for Bash: rm limits.ts: [^\n]*\n$/),
    ]);
    expect(stdout.trimEnd().split('\n')).toEqual(transcript?.shown);
    const results = world.model.requests.at(-1)?.messages.flatMap(({ toolResults }) => toolResults);
    expect(results?.map((result) => result.text)).toEqual([
      expect.stringContaining('The user was asked and said no'),
    ]);
  },
);

it('the input lines of the page are valid', () => {
  const inTable = [...page.matchAll(/^\| `(\{[^`]*\})` \|/gm)].map(([, line = '']) => line);
  const inBlocks = (findBlocks(page, 'json').at(-1) ?? '').trimEnd().split('\n');
  const lines = [...inTable, ...inBlocks];
  expect(lines.map((line) => parseInputLine(line).type)).toEqual([
    'user',
    'user',
    'interrupt',
    'answer',
    'user',
    'answer',
  ]);
});
