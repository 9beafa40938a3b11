import { expect, it } from 'vitest';
import { firstUserText, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { Sandbox } from '../e2e/muster.ts';
import { answerByDelegating, RETRY_FILE } from './delegation.ts';
import { openLocalServer } from './local-server.ts';
import {
  expectShown,
  findBlocks,
  findTranscripts,
  readPage,
  runInShell,
  runTranscript,
} from './page.ts';

const page = readPage('docs/ollama.md');
const ADDRESS = 'http://192.168.1.20:11434';

const MODELS: Readonly<Record<string, object>> = {
  'qwen3:8b': {
    model_info: { 'qwen3.context_length': 40_960 },
    capabilities: ['completion', 'tools', 'thinking'],
  },
  'gemma3:4b': {
    model_info: { 'gemma3.context_length': 131_072 },
    capabilities: ['completion', 'vision'],
  },
};

/** Answers as Ollama does. `context`: the number of tokens with which the loaded model runs. */
function findFacts(path: string, body: string, context: number): object | undefined {
  const names = Object.keys(MODELS);
  switch (path) {
    case '/v1/models':
      return { data: names.map((id) => ({ id, owned_by: 'library' })) };
    case '/api/tags':
      return { models: names.map((name) => ({ name })) };
    case '/api/ps':
      return { models: [{ name: 'qwen3:8b', context_length: context }] };
    case '/api/show':
      return MODELS[(JSON.parse(body) as { readonly model: string }).model];
    default:
      return undefined;
  }
}

const REFUSALS: Readonly<Record<string, { readonly status: number; readonly message: string }>> = {
  nope: { status: 404, message: "model 'nope' not found" },
  'gemma3:4b': {
    status: 400,
    message: 'registry.ollama.ai/library/gemma3:4b does not support tools',
  },
};

function answer(request: RecordedRequest): Answer {
  if (!firstUserText(request).includes('Hello')) return answerByDelegating(request);
  const { status, message } = REFUSALS[request.model ?? ''] ?? { status: 500, message: '' };
  return { fault: { kind: 'status', status, body: JSON.stringify({ error: { message } }) } };
}

it('docs/ollama.md shows the real output of its commands', async () => {
  let context = 40_960;
  await using server = await openLocalServer({
    findFacts: (path, body) => findFacts(path, body, context),
    script: answer,
  });
  using sandbox = new Sandbox(RETRY_FILE);
  const [setting, ...transcripts] = findTranscripts(page);
  expect(setting).toEqual({ command: `export OLLAMA_HOST=${ADDRESS}`, shown: [] });
  expect(transcripts.length).toBe(6);
  for (const transcript of transcripts) {
    const { output } = await runTranscript(sandbox, transcript, { OLLAMA_HOST: server.url });
    expectShown(output.replaceAll(server.url, ADDRESS), transcript.shown);
    // From the second list on, the model runs with Ollama's default.
    if (transcript.command.startsWith('muster -p')) context = 4096;
  }
});

it('the configuration in docs/ollama.md names the servers and limits that it says', async () => {
  const [providers = '', ...others] = findBlocks(page, 'toml');
  const config = [providers, ...others].join('\n');
  using sandbox = new Sandbox({ '../home/.config/muster/config.toml': config });
  const { output } = await runInShell(sandbox, 'muster config show');
  expect(output).toMatch(/^liveness\.first_token_seconds +1800 /m);
  expect(output).toMatch(/^provider\.max_concurrent +1 /m);
  const list = 'muster models llamacpp --model vllm/qwen3-coder-30b';
  const { output: models } = await runInShell(sandbox, list);
  expect(models).toContain('http://127.0.0.1:8080/v1');
  expect(models).toContain('http://192.168.1.30:8000/v1');
});
