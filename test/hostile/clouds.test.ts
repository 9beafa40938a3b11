import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REDACTED } from '../../src/protocol/redaction.ts';
import { runMuster, Sandbox } from '../e2e/muster.ts';
import { bash } from '../e2e/world.ts';
import { reply, startFakeCloud } from '../model/clouds/fake-cloud.ts';

/** The credentials and tokens of each cloud, none of which may appear anywhere. */
const CANARIES = {
  accessKey: 'AKIACANARY0123456789',
  secretKey: 'canary/secret+key/wJalrXUtnFEMI0123456789',
  sessionToken: 'canary-session-token-FwoGZXIvYXdz',
  bedrockToken: 'canary-bedrock-bearer-0123456789',
  googleToken: 'ya29.canary-google-access-token',
  azureSecret: 'canary-azure-client-secret-01234',
  azureToken: 'canary-azure-access-token-0123456',
};

/** The canaries of each run. */
const OWN: readonly (readonly (keyof typeof CANARIES)[])[] = [
  ['accessKey', 'secretKey', 'sessionToken'],
  ['bedrockToken'],
  ['googleToken'],
  ['azureSecret', 'azureToken'],
];

/** Prints the canaries of a run, as if a model had guessed them, and looks for them where they might be. */
function createProbe(run: number) {
  const echoes = (OWN[run] ?? []).map((name) => `echo ${CANARIES[name]}`);
  const searches = ['env', 'cat ~/.aws/credentials 2>&1', 'grep -r canary ~/.config 2>&1', 'true'];
  return bash([...echoes, ...searches].join('; '));
}

/** All that the data directory holds. */
function keptIn({ data }: Sandbox): string {
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

it('no credentials or tokens of a cloud are in an output, a log, an export or a later request', async () => {
  let turns = 0;
  await using cloud = await startFakeCloud({
    script: () => {
      turns += 1;
      return turns % 2 === 1 ? { toolCalls: [createProbe((turns - 1) / 2)] } : { text: 'done' };
    },
    intercept: ({ path }, response) => {
      if (path.includes('/computeMetadata/')) {
        return reply(response, 200, { access_token: CANARIES.googleToken, expires_in: 3600 });
      }
      if (!path.endsWith('/oauth2/v2.0/token')) return false;
      return reply(response, 200, { access_token: CANARIES.azureToken, expires_in: 3600 });
    },
  });
  using sandbox = new Sandbox({
    '../home/.aws/credentials': `[dev]\naws_access_key_id = ${CANARIES.accessKey}\naws_secret_access_key = ${CANARIES.secretKey}\naws_session_token = ${CANARIES.sessionToken}\n`,
  });
  const aws = {
    CLAUDE_CODE_USE_BEDROCK: '1',
    AWS_REGION: 'us-east-1',
    ANTHROPIC_BEDROCK_BASE_URL: cloud.url,
  };
  const runs: readonly (readonly [model: string, env: Readonly<Record<string, string>>])[] = [
    ['bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0', { ...aws, AWS_PROFILE: 'dev' }],
    [
      'bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0',
      { ...aws, AWS_BEARER_TOKEN_BEDROCK: CANARIES.bedrockToken },
    ],
    [
      'vertex/claude-haiku-4-5@20251001',
      {
        CLAUDE_CODE_USE_VERTEX: '1',
        ANTHROPIC_VERTEX_BASE_URL: `${cloud.url}/v1`,
        ANTHROPIC_VERTEX_PROJECT_ID: 'my-project',
        GCE_METADATA_HOST: new URL(cloud.url).host,
      },
    ],
    [
      'azure/claude-haiku-4-5',
      {
        CLAUDE_CODE_USE_FOUNDRY: '1',
        ANTHROPIC_FOUNDRY_BASE_URL: `${cloud.url}/anthropic`,
        AZURE_AUTHORITY_HOST: cloud.url,
        AZURE_TENANT_ID: 'tenant',
        AZURE_CLIENT_ID: 'client',
        AZURE_CLIENT_SECRET: CANARIES.azureSecret,
      },
    ],
  ];
  for (const [index, [model, env]] of runs.entries()) {
    const before = cloud.requests.length;
    const printed: string[] = [];
    const muster = async (...args: readonly string[]): Promise<number | null> => {
      const { code, stdout, stderr } = await runMuster(sandbox, args, { env });
      printed.push(stdout, stderr);
      return code;
    };
    const options = ['--allow', 'Bash', '--verbose', '--output-format', 'stream-json'];
    expect(await muster('-p', 'go', '--model', model, ...options)).toBe(0);
    const task = /"task_id":"([^"]+)"/.exec(printed.join('\n'))?.[1] ?? '';
    expect(task).not.toBe('');
    for (const args of [
      ['tasks', 'export', task, '-'],
      ['tasks', 'show', task, '--html', '-'],
      ['tasks', 'log', task, '--json'],
      ['tasks', 'context', task],
      ['models', '--json'],
      ['doctor', '--json'],
      ['config', 'show', '--json'],
    ]) {
      await muster(...args);
    }
    const bodies = cloud.requests
      .slice(before)
      .filter(({ path }) => /invoke|publishers|messages/.test(path));
    // The result of the command went to the model, without what it had printed.
    expect(bodies.length).toBe(2);
    expect(bodies[1]?.body).toContain(REDACTED);
    for (const name of OWN[index] ?? []) {
      const canary = CANARIES[name];
      expect({ name, isPrinted: printed.join('\n').includes(canary) }).toEqual({
        name,
        isPrinted: false,
      });
      expect({ name, isSent: bodies.some(({ body }) => body.includes(canary)) }).toEqual({
        name,
        isSent: false,
      });
      expect({ name, isKept: keptIn(sandbox).includes(canary) }).toEqual({ name, isKept: false });
    }
  }
});
