import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { runMuster, Sandbox } from '../e2e/muster.ts';
import { serve, type TestServer } from '../model/adapters/support.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/models.md'), 'utf8');

/** Two entries of OpenRouter's list, and one for another purpose. */
const OPENROUTER = [
  {
    id: '~anthropic/claude-haiku-latest',
    context_length: 200_000,
    architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] },
    pricing: { prompt: '0.000001', completion: '0.000005' },
    top_provider: { max_completion_tokens: 64_000 },
    supported_parameters: ['tools', 'max_tokens', 'reasoning'],
    reasoning: { supported_efforts: ['high', 'medium', 'low'] },
  },
  {
    id: 'openai/gpt-4',
    context_length: 8192,
    architecture: { input_modalities: ['text'], output_modalities: ['text'] },
    pricing: { prompt: '0.00003', completion: '0.00006' },
    top_provider: { max_completion_tokens: 4096 },
    supported_parameters: ['tools', 'max_tokens'],
  },
  { id: 'openai/text-embedding-3-large', architecture: { output_modalities: ['embeddings'] } },
];

const OLLAMA: Readonly<Record<string, object>> = {
  '/v1/models': {
    data: ['qwen3:8b', 'llava:latest'].map((id) => ({ id, owned_by: 'library' })),
  },
  '/api/tags': { models: [{ name: 'qwen3:8b' }, { name: 'llava:latest' }] },
  '/api/ps': { models: [{ name: 'qwen3:8b', context_length: 4096 }] },
};
const OLLAMA_MODELS: Readonly<Record<string, object>> = {
  'qwen3:8b': {
    model_info: { 'qwen3.context_length': 40_960 },
    capabilities: ['completion', 'tools', 'thinking'],
  },
  'llava:latest': {
    model_info: { 'llama.context_length': 32_768 },
    capabilities: ['completion', 'vision'],
  },
};

function jsonServer(answerTo: (url: string, body: string) => object | undefined) {
  return serve((response, { url, body }) => {
    const answer = answerTo(url, body);
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: 'not found' }));
  });
}

/** The lines without the alignment of columns, which depends on the length of the addresses. */
function steady(text: string): readonly string[] {
  return text.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  ').trim());
}

/** Changes the stored lists so that they were asked for that much earlier. */
function makeOlder(path: string, ms: number): void {
  const text = readFileSync(path, 'utf8');
  const older = text.replaceAll(/(?<="askedAt":")[^"]+/g, (time) =>
    new Date(Date.parse(time) - ms).toISOString(),
  );
  writeFileSync(path, older);
}

it('docs/models.md shows the real output of its commands', async () => {
  const openrouter = await jsonServer((url) =>
    url === '/api/v1/models' ? { data: OPENROUTER } : undefined,
  );
  const ollama = await jsonServer((url, body) =>
    url === '/api/show'
      ? OLLAMA_MODELS[(JSON.parse(body) as { model: string }).model]
      : OLLAMA[url],
  );
  using sandbox = new Sandbox();
  const env = {
    OPENROUTER_API_KEY: 'sk-or-0123456789',
    OPENROUTER_BASE_URL: `${openrouter.url}/api/v1`,
    OLLAMA_HOST: ollama.url,
  };
  const addresses: readonly (readonly [TestServer, string])[] = [
    [openrouter, 'https://openrouter.ai'],
    [ollama, 'http://127.0.0.1:11434'],
  ];
  const transcripts = [...page.matchAll(/```console\n\$ muster ([^\n]*)\n([\s\S]*?)```/g)];
  expect(transcripts.length).toBe(3);
  for (const [index, [, command = '', shown = '']] of transcripts.entries()) {
    if (index === 2) {
      // The last one shows the list of a server that has ended.
      for (const [server] of addresses) await server[Symbol.asyncDispose]();
      makeOlder(join(sandbox.data, 'model-lists.json'), 3.5 * 3_600_000);
    }
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)];
    const args = words.map(([, quoted, word]) => quoted ?? word ?? '');
    const { code, stdout } = await runMuster(sandbox, args, { env });
    expect(code).toBe(0);
    let text = stdout;
    for (const [{ url }, address] of addresses) {
      text = text.replaceAll(url, address).replaceAll(new URL(url).host, new URL(address).host);
    }
    // After the first transcript, the page leaves out what is the same again.
    const lines = steady(text.trimEnd());
    const expected = steady(shown.trimEnd()).filter((line) => line !== '…');
    expect(lines.slice(-expected.length)).toEqual(expected);
  }
});
