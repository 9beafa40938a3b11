import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { resultEnvelope } from '../../../src/engine/results/result.ts';
import { bashTool } from '../../../src/tools/bash/bash.ts';
import { writeTool } from '../../../src/tools/write.ts';
import { background, call, calls, play, toldTo } from '../play.ts';
import { testEngine } from '../support.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';

const CLAIM = 'wrote a.txt, all tests pass';

function workspace(): string {
  const directory = mkdtempSync(join(tmpdir(), 'muster-claims-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

it('a child that claims what it did not do is flagged to its parent', async () => {
  const test = testEngine(
    play({
      main: [calls(call('Task', { prompt: 'part: write a.txt and run the tests' }))],
      'part:': [{ text: CLAIM }],
    }),
  );
  const run = test.start('main');
  await run.end.written;
  expect(toldTo(test, 'main').at(-1)).toContain(
    `[Not borne out by what it did: "${CLAIM}" ("a.txt" was not changed by it, no test was run)]`,
  );
  const ends = test.events.flatMap((event) => (event.type === 'task.ended' ? [event.claims] : []));
  expect(ends).toEqual([
    [
      { kind: 'file', claim: CLAIM, why: '"a.txt" was not changed by it' },
      { kind: 'check', claim: CLAIM, why: 'no test was run' },
    ],
    undefined,
  ]);
});

it('one in the background, in the notice of its end', async () => {
  const test = testEngine(
    play({ main: [calls(background('part: write a.txt'))], 'part:': [{ text: CLAIM }] }),
  );
  const run = test.start('main');
  await run.end.written;
  const notice = test.events.flatMap((event) =>
    event.type === 'input.queued' && event.input.kind === 'result' ? [event.input.text] : [],
  );
  expect(notice.join('\n')).toContain('[Not borne out by what it did: ');
});

it('one that did both is not, and neither is the parent that passes it on', async () => {
  const root = workspace();
  const path = join(root, 'a.txt');
  const test = testEngine(
    play({
      main: [
        calls(call('Task', { prompt: 'part: write a.txt and run the tests' })),
        { text: CLAIM },
      ],
      'part:': [
        calls(
          call('Write', { path, content: 'a' }),
          call('Bash', { command: `npm() { true; }; npm test` }),
        ),
        { text: CLAIM },
      ],
    }),
    { tools: [bashTool, writeTool], root },
  );
  const run = test.start('main');
  await run.end.written;
  expect(readFileSync(path, 'utf8')).toBe('a');
  expect(toldTo(test, 'main').join('\n')).not.toContain('Not borne out');
  const state = foldEvents(test.events.filter(({ task }) => task === run.spec.id));
  const { receipt } = resultEnvelope(state, { transcript: null, outputFile: null }).data;
  const [child = ''] = receipt.children;
  expect(receipt.claims).toEqual([]);
  expect(receipt.childReceipts).toEqual({
    [child]: {
      commands: [{ command: 'npm() { true; }; npm test', exitCode: 0 }],
      commandsLeftOut: 0,
      tools: ['Write', 'Bash'],
    },
  });
});
