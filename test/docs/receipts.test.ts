import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import {
  toolResultRounds,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { withoutNonce } from '../nonce.ts';
import { bash, lastResults, openWorld } from '../e2e/world.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/receipts.md'), 'utf8');

const FILES = {
  'package.json': '{"type": "module", "scripts": {"test": "node --test"}}\n',
  'src/parse.js': 'export const parse = (text) => text.split(",");\n',
  'src/parse.test.js': `import { deepEqual } from 'node:assert';
import { test } from 'node:test';
import { parse } from './parse.js';
test('trims', () => deepEqual(parse('a , b'), ['a', 'b']));
`,
};
const EDIT = {
  file_path: 'src/parse.js',
  old_string: 'text.split(",")',
  new_string: 'text.trim().split(",")',
};
const WORK: readonly AnswerToolCall[] = [
  { name: 'Read', input: { file_path: 'src/parse.js' } },
  { name: 'Edit', input: EDIT },
  bash('npm test'),
];

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

/** Replaces what differs from run to run: the id, the tokens and the time. */
function steady(text: string): string {
  return text.replace(/\[task \w+/, '[task ID').replace(/\d+ tokens · [\d.]+ m?s/, 'N tokens · T');
}

it('docs/receipts.md shows what a parent really reads', async () => {
  const [, shown = ''] = /parent's model read:\n\n```\n([\s\S]*?)\n```/.exec(page) ?? [];
  const [answer = ''] = shown.split('\n');
  await using world = await openWorld({
    files: FILES,
    script: (request) => {
      const call = isMain(request) ? TASK : WORK[toolResultRounds(request)];
      const isLast = call === undefined || (isMain(request) && toolResultRounds(request) > 0);
      return isLast ? { text: isMain(request) ? 'ok' : answer } : { toolCalls: [call] };
    },
  });
  await world.run(['-p', 'go', '--allow', 'Bash', '--allow', 'Edit']);
  const [result] = lastResults(world.model);
  const [, read] =
    /<outside N>\n([\s\S]*)\n<\/outside N>/.exec(withoutNonce(result?.text ?? '')) ?? [];
  expect(steady(read ?? result?.text ?? '')).toBe(steady(shown));
});

const TASK = {
  name: 'Task',
  input: { prompt: 'Make parse() trim its fields. Run the tests.', description: 'Trim the fields' },
};
