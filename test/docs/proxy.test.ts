import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Sandbox } from '../e2e/muster.ts';
import { answerByDelegating, RETRY_FILE } from './delegation.ts';
import { CAN_BE_INTERNET, openInternet, type Internet } from './internet.ts';
import { expectShown, findBlocks, findTranscripts, readPage, runTranscript } from './page.ts';

const page = readPage('docs/proxy.md');
const KEY = 'sk-the-key-of-today';

/** The better list of LiteLLM: https://docs.litellm.ai/docs/proxy/model_management */
const GATEWAY_MODELS = [
  { name: 'claude-haiku-4-5', context: 200_000, input: 1e-6, output: 5e-6 },
  { name: 'claude-sonnet-5', context: 1_000_000, input: 3e-6, output: 15e-6 },
].map(({ name, context, input, output }) => ({
  model_name: name,
  model_info: {
    max_input_tokens: context,
    max_output_tokens: 64_000,
    input_cost_per_token: input,
    output_cost_per_token: output,
    supports_function_calling: true,
    supports_vision: true,
    mode: 'chat',
  },
}));

/** By this time and owner LiteLLM can be recognized. */
const ENTRY = { created: 1_677_610_602, owned_by: 'openai' };
const IDS = GATEWAY_MODELS.map(({ model_name: id }) => ({ id, ...ENTRY }));
const LISTS = {
  '/api/v1/key': { data: { limit: null } },
  '/v1/models': { data: IDS },
  '/v1/model/info': { data: GATEWAY_MODELS },
};

function openCompany(): Promise<Internet> {
  const hosts = ['openrouter.ai', 'llm.corp.example'];
  return openInternet({
    hosts,
    key: KEY,
    prefix: '/api',
    lists: LISTS,
    script: answerByDelegating,
  });
}

const [untrusted, setting, login, models, task, failure] = findTranscripts(page);

/** The client of a secret store, which refuses to give a key unless `TODAY` is set. */
const VAULT = `#!/bin/sh
[ "$*" = "kv get -field=key secret/llm" ] && [ -n "$TODAY" ] && echo "$TODAY" && exit
echo "Error reading secret/llm: permission denied" >&2
exit 2
`;

it('docs/proxy.md has the transcripts that the tests know', () => {
  expect(findTranscripts(page).length).toBe(6);
  expect(setting?.command).toBe('export NODE_EXTRA_CA_CERTS=/etc/ssl/corp.pem');
});

it.runIf(CAN_BE_INTERNET)('docs/proxy.md shows how a proxy and an authority are used', async () => {
  await using company = await openCompany();
  using sandbox = new Sandbox({ 'key.txt': `${KEY}\n` });
  const env = { HTTPS_PROXY: company.proxy.url, OPENROUTER_API_KEY: KEY };
  const { output } = await runTranscript(sandbox, untrusted!, env);
  expectShown(output, untrusted!.shown);
  for (const variable of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']) {
    const trusting = { ...env, [variable]: company.authority };
    const run = await runTranscript(sandbox, login!, trusting);
    expect(run.code).toBe(0);
    expectShown(run.output, login!.shown);
  }
  expect(company.proxy.asked).toContain('CONNECT openrouter.ai:443');
});

it.runIf(CAN_BE_INTERNET)('docs/proxy.md shows how a gateway is used', async () => {
  await using company = await openCompany();
  const [config = ''] = findBlocks(page, 'toml');
  using sandbox = new Sandbox({ ...RETRY_FILE, '../home/.config/muster/config.toml': config });
  const programs = join(sandbox.root, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'vault'), VAULT, { mode: 0o755 });
  const failed = await runTranscript(sandbox, failure!, company.environment);
  expectShown(failed.output, failure!.shown);
  expect(company.model.requests).toEqual([]);
  for (const transcript of [models!, task!]) {
    const run = await runTranscript(sandbox, transcript, { ...company.environment, TODAY: KEY });
    expectShown(run.output, transcript.shown);
  }
  expect(new Set(company.proxy.asked)).toEqual(new Set(['CONNECT llm.corp.example:443']));
});
