import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { A2A_LIMITS } from '../../src/remote/a2a/limits.ts';
import { startFakeModel, toolResultRounds } from '../../src/testing/index.ts';
import { Sandbox } from '../e2e/muster.ts';
import { startAgentServer } from '../remote/a2a/agent-server.ts';
import { expectShown, findBlocks, findTranscripts, readPage, runTranscript } from './page.ts';

const page = readPage('docs/remote-agents.md');
const [, section = ''] = page.split('\n## A2A');

const TASK = { description: 'Greet Ada', prompt: 'Ada', subagent_type: 'sample' };

it('docs/remote-agents.md shows what an agent of an A2A server does', async () => {
  await using stack = new AsyncDisposableStack();
  const server = stack.adopt(await startAgentServer(), (each) => each.close());
  const model = stack.adopt(
    await startFakeModel({
      script: (request) => {
        if (toolResultRounds(request) === 0) return { toolCalls: [{ name: 'Task', input: TASK }] };
        const [result] = request.messages.flatMap(({ toolResults }) => toolResults);
        return { text: `It says: ${result?.text.split('\n')[0]}` };
      },
    }),
    (each) => each.close(),
  );
  const sandbox = stack.use(new Sandbox());
  const [file = ''] = findBlocks(section, 'markdown');
  const path = join(sandbox.home, '.config/muster/agents/sample.md');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, file.replace('http://127.0.0.1:41241', server.origin));
  const transcripts = findTranscripts(section);
  expect(transcripts.length).toBe(2);
  for (const transcript of transcripts) {
    const { output } = await runTranscript(sandbox, transcript, model.env('anthropic'));
    expectShown(output, transcript.shown);
  }
});

it('docs/remote-agents.md has the limits of A2A servers', () => {
  const { cardMs, silentMs, maxMessageBytes, maxCharacters, maxUpdates, pollMs } = A2A_LIMITS;
  const numbers = new Intl.NumberFormat('en');
  for (const text of [
    `${cardMs / 1000} s |`,
    `${silentMs / 60_000} min |`,
    `${maxMessageBytes / 1_048_576} MiB |`,
    `${numbers.format(maxCharacters)} characters |`,
    `${numbers.format(maxUpdates)} |`,
    `at first after half a second and later every ${pollMs[1] / 1000} s`,
  ])
    expect(section).toContain(text);
  expect(pollMs[0]).toBe(500);
});
