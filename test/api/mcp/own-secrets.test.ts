import { expect, test } from 'vitest';
import { findOwnSecrets } from '../../../src/api/mcp/own-secrets.ts';

const PROVIDERS = new Map([['corp', { apiKeyEnv: 'CORP_LLM_PW' }]]);

test.each([
  ['CORP_LLM_PW', 'secret', true],
  ['OPENAI_API_KEY', 'secret', true],
  ['TAVILY_API_KEY', 'secret', true],
  ['SEARXNG_URL', 'http://me:secret@localhost:8888', true],
  ['SEARXNG_URL', 'http://localhost:8888', false],
  ['OTHER_PW', 'secret', false],
])('%s=%s belongs to Muster: %s', (name, value, isOwn) => {
  expect(findOwnSecrets({ [name]: value }, PROVIDERS).has(name)).toBe(isOwn);
});
