import { expect, it } from 'vitest';
import { Sandbox } from '../e2e/muster.ts';
import { startFakeCloud } from '../model/clouds/fake-cloud.ts';
import { discoverProviders } from '../../src/model/providers/providers.ts';
import { findBlocks, findTranscripts, readPage, runTranscript, expectShown } from './page.ts';
import { parse } from 'smol-toml';

const page = readPage('docs/clouds.md');

it('docs/clouds.md shows the real output of its commands', async () => {
  await using cloud = await startFakeCloud({ script: [{ answer: { text: 'It works.' } }] });
  using sandbox = new Sandbox();
  const env = {
    CLAUDE_CODE_USE_BEDROCK: '1',
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: 'secret-0123456789',
    ANTHROPIC_BEDROCK_BASE_URL: cloud.url,
  };
  const transcripts = findTranscripts(page);
  expect(transcripts.length).toBe(2);
  for (const transcript of transcripts) {
    const { output } = await runTranscript(sandbox, transcript, env);
    const shown = output.replace(cloud.url, 'https://bedrock-runtime.eu-central-1.amazonaws.com');
    expectShown(shown, transcript.shown);
  }
});

it('the configurations in docs/clouds.md are complete', () => {
  for (const block of findBlocks(page, 'toml')) {
    const { models }: { models?: { providers?: Record<string, object> } } = parse(block);
    const providers = models?.providers ?? {};
    for (const provider of discoverProviders({ providers }, {})) {
      expect(provider.keyProblem).toBeUndefined();
      expect(provider.cloud).toBeDefined();
    }
  }
});
