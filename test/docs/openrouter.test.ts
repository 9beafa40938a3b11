import { expect, it } from 'vitest';
import { firstUserText, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { Sandbox } from '../e2e/muster.ts';
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

const page = readPage('docs/openrouter.md');
const KEY = 'sk-or-v1-0123456789';

/** Two entries in the form of OpenRouter's list. */
const MODELS = [
  {
    id: '~anthropic/claude-sonnet-latest',
    context_length: 1_000_000,
    architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] },
    pricing: { prompt: '0.000003', completion: '0.000015' },
    supported_parameters: ['tools', 'reasoning'],
  },
  {
    id: 'z-ai/glm-5.3-flash',
    context_length: 200_000,
    architecture: { input_modalities: ['text'], output_modalities: ['text'] },
    pricing: { prompt: '0.000000075', completion: '0.00000025' },
    supported_parameters: ['tools', 'reasoning'],
  },
];

const LISTS = { '/api/v1/key': { data: { limit: null } }, '/api/v1/models': { data: MODELS } };

function answer(request: RecordedRequest): Answer {
  if (!firstUserText(request).includes('Hello')) return answerByDelegating(request);
  const error = { code: 400, message: 'openai/gpt-99 is not a valid model ID' };
  return { fault: { kind: 'status', status: 400, body: JSON.stringify({ error }) } };
}

it.runIf(CAN_BE_INTERNET)('docs/openrouter.md shows the real output of its commands', async () => {
  const server = { hosts: ['openrouter.ai'], key: KEY, prefix: '/api', lists: LISTS };
  await using internet = await openInternet({ ...server, script: answer });
  using sandbox = new Sandbox({ ...RETRY_FILE, 'key.txt': `${KEY}\n` });
  const transcripts = findTranscripts(page);
  expect(transcripts.length).toBe(5);
  for (const transcript of transcripts) {
    const { output } = await runTranscript(sandbox, transcript, internet.environment);
    // The notice appears only where the answer takes long, which the page does not show.
    const printed = output.replace('Waiting for OpenRouter …\n', '');
    expectShown(printed.replace(sandbox.data, '~/.local/share/muster'), transcript.shown);
  }
  expect(internet.proxy.asked).toContain('CONNECT openrouter.ai:443');
  const headers = internet.model.requests.map((request) => request.headers['x-openrouter-title']);
  expect(new Set(headers)).toEqual(new Set(['Muster']));
});

it('the configuration in docs/openrouter.md chooses the models that it names', async () => {
  const [config = ''] = findBlocks(page, 'toml');
  using sandbox = new Sandbox({ '../home/.config/muster/config.toml': config });
  const env = { OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: 'http://127.0.0.1:1/v1' };
  const { output } = await runInShell(sandbox, 'muster models', env);
  expect(output).toMatch(/^main +openrouter\/~anthropic\/claude-opus-latest /m);
  expect(output).toMatch(/^fast +openrouter\/z-ai\/glm-5\.3-flash /m);
});
