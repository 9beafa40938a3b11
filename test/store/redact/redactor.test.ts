import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../src/store/redact/redactor.ts';
import { openFileStore } from '../../../src/store/file-store.ts';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { taskEnded, taskSpec, turnEnded, warning } from '../fixture-data.ts';
import { tempDir } from '../fixtures.ts';
import { readLog } from '../read-log.ts';

const letters = (count: number): string => 'aB3'.repeat(count).slice(0, count);
const pem = (kind: string, body: string): string =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${body}\n-----END ${kind}PRIVATE KEY-----`;

describe('createRedactor', () => {
  const redact = createRedactor({ secrets: ['s3cret-value', 'short', 's3cret-value-longer', ''] });

  it.each([
    ['a known secret', 'x s3cret-value y', 'x [redacted by Muster] y'],
    ['one that contains another', 's3cret-value-longer', '[redacted by Muster]'],
    ['not one under 8 characters', 'short', 'short'],
    ['Anthropic', `key=sk-ant-api03-${letters(40)} end`, 'key=[redacted by Muster] end'],
    ['OpenAI', `"sk-proj-${letters(30)}"`, '"[redacted by Muster]"'],
    ['AWS', 'AKIAABCDEFGHIJKLMNOP.', '[redacted by Muster].'],
    ['GitHub', `ghp_${letters(36)}`, '[redacted by Muster]'],
    ['GitHub, fine-grained', `github_pat_${letters(30)}`, '[redacted by Muster]'],
    ['Slack', 'xoxb-1234567890-abc', '[redacted by Muster]'],
    ['Google', `AIza${letters(35)}`, '[redacted by Muster]'],
    ['an access token of Google', `ya29.${letters(40)}`, '[redacted by Muster]'],
    ['Bedrock', `ABSK${letters(60)}+/${letters(40)}==`, '[redacted by Muster]'],
    ['Bedrock, for a short time', `bedrock-api-key-${letters(60)}=`, '[redacted by Muster]'],
    ['after an escaped newline', `a\\nsk-ant-${letters(30)}`, 'a\\n[redacted by Muster]'],
    [
      'in a URL',
      `https://x/?key=AIza${letters(35)}&a=1`,
      'https://x/?key=[redacted by Muster]&a=1',
    ],
    [
      'a private key',
      `a ${pem('RSA ', `${letters(64)}\n${letters(20)}==`)} b`,
      'a [redacted by Muster] b',
    ],
    [
      'a private key on one line',
      `"${pem('', letters(64)).replaceAll('\n', '\\n')}"`,
      '"[redacted by Muster]"',
    ],
    [
      'an encrypted one',
      pem('', `Proc-Type: 4,ENCRYPTED\n\n${letters(64)}`),
      '[redacted by Muster]',
    ],
    ['one cut short', `${pem('EC ', letters(64)).slice(0, 80)} rest`, '[redacted by Muster] rest'],
    [
      'code that searches for a key',
      "if (s.includes('-----BEGIN PRIVATE KEY-----')) fail()",
      "if (s.includes('[redacted by Muster]')) fail()",
    ],
    [
      'words that begin alike',
      'sk-learn, task-runner, risk-free-and-very-long-indeed, AKIAnot',
      'sk-learn, task-runner, risk-free-and-very-long-indeed, AKIAnot',
    ],
    [
      'a public key',
      '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
      '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----',
    ],
    ['GitHub, of an app', `gho_${letters(36)}`, '[redacted by Muster]'],
    ['GitLab', `x=glpat-${letters(20)};`, 'x=[redacted by Muster];'],
    ['npm', `//r/:_authToken=npm_${letters(36)}`, '//r/:_authToken=[redacted by Muster]'],
    ['Hugging Face', `hf_${letters(34)}`, '[redacted by Muster]'],
    ['Groq', `gsk_${letters(52)}`, '[redacted by Muster]'],
    ['xAI', `xai-${letters(80)}`, '[redacted by Muster]'],
    ['Slack, of an app', `xapp-1-${letters(30)}`, '[redacted by Muster]'],
    ['Stripe', `sk_${'live'}_${letters(24)}`, '[redacted by Muster]'],
    ['AWS, for a session', `ASIA${'ABCD'.repeat(4)}`, '[redacted by Muster]'],
    ['lower case and digits', `sk-${'0123456789abcdef'.repeat(2)}`, '[redacted by Muster]'],
    [
      'a token that is sent',
      `Authorization: Bearer eyJ${letters(20)}.eyJ${letters(20)}.${letters(20)}`,
      'Authorization: [redacted by Muster]',
    ],
    ['base64', Buffer.from('s3cret-value').toString('base64'), '[redacted by Muster]'],
    [
      'longer base64',
      Buffer.from('user:s3cret-value!').toString('base64'),
      'dXNlcjp[redacted by Muster]Uh',
    ],
    ['code that names styles', 'sk-loading-indicator-wrapper-2', 'sk-loading-indicator-wrapper-2'],
    ['a publishable key', `pk_live_${letters(24)}`, `pk_live_${letters(24)}`],
    [
      'settings and names in code',
      'npm_config_registry npm_package_name hf_hub_download ghp_token glpat- AKIA sk_test_mode',
      'npm_config_registry npm_package_name hf_hub_download ghp_token glpat- AKIA sk_test_mode',
    ],
    [
      'an example of a token',
      `const jwt = "eyJ${letters(20)}.eyJ${letters(20)}.${letters(20)}"`,
      `const jwt = "eyJ${letters(20)}.eyJ${letters(20)}.${letters(20)}"`,
    ],
    ['nothing', '', ''],
  ])('%s', (_name, text, expected) => {
    expect(redact(text)).toBe(expected);
  });

  it('leaves signatures unchanged, which must go back to their provider', () => {
    for (const encoding of ['base64', 'base64url'] as const) {
      const signature = randomBytes(3_000_000).toString(encoding);
      expect(redact(signature) === signature).toBe(true);
    }
  });

  it('never excludes a change of a JSON text that would change', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.constantFrom('"', '\\', '\n', '\u0007', '\ud83d', '🌍', `sk-${letters(20)}`),
      fc.constantFrom(
        `AKIA${'A'.repeat(16)}`,
        `ghp_${letters(36)}`,
        `AIza${letters(35)}`,
        `ya29.${letters(40)}`,
        `ABSK${letters(60)}+/${letters(40)}==`,
      ),
    );
    const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    const known = fc.array(text, { maxLength: 3 });
    fc.assert(
      fc.property(known, text, text, fc.nat(), (secrets, before, after, which) => {
        const some = createRedactor({ secrets });
        const whole = `${before}${secrets[which % Math.max(secrets.length, 1)] ?? ''}${after}`;
        const json = JSON.stringify({ deep: [{ whole }] });
        return some(whole) === whole || some.canChange?.(json) === true;
      }),
      { numRuns: 2000 },
    );
    expect(redact.canChange?.(JSON.stringify({ text: 'nothing of the kind' }))).toBe(false);
    expect(redact.canChange?.(JSON.stringify({ text: 'x s3cret-value y' }))).toBe(true);
  });

  it('takes little time for hostile texts', () => {
    const begin = '-----BEGIN PRIVATE KEY-----';
    for (const text of [
      begin.repeat(2000),
      `${begin}\n,`.repeat(20_000),
      `${begin}${'a'.repeat(500_000)}`,
      'sk-'.repeat(200_000),
    ]) {
      expect(redact(text).length).toBeLessThanOrEqual(text.length);
    }
  });
});

it('writes no byte of a secret to the disk, except in a blob that must stay unchanged', async () => {
  const dataDir = tempDir();
  const secret = 'canary-4711-canary';
  const store = openFileStore({
    dataDir,
    durability: 'fast',
    redact: createRedactor({ secrets: [secret, 'completed', 'tool_call', 'task.ended'] }),
  });
  const log = store.create(
    taskSpec('task00000001', { params: { a: [secret] }, description: secret }),
  );
  log.append([
    warning(`${'x'.repeat(100_000)}${secret}`),
    turnEnded({
      message: {
        role: 'assistant',
        content: [
          { type: 'tool_call', id: 'c', name: 'Bash', input: { command: `echo ${secret}` } },
        ],
      },
    }),
    taskEnded(),
  ]);
  store.appendOutput('task00000001', secret);
  store.putBlob(secret);
  await store.close();
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  expect(texts.filter((text) => text.includes('canary'))).toEqual([]);
  expect(texts.length).toBeGreaterThan(3);
  expect(store.list()).toMatchObject([
    { status: 'completed', description: '[redacted by Muster]' },
  ]);
  expect(readLog(store, 'task00000001').events.at(3)).toMatchObject({
    message: { content: [{ type: 'tool_call', input: { command: 'echo [redacted by Muster]' } }] },
  });
});
