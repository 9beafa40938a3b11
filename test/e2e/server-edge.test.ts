import { describe, expect, it } from 'vitest';
import type { WireProtocol } from '../../src/testing/index.ts';
import { openWorld } from './world.ts';

/** The variable with the base URL of each protocol, and endpoints that people copy along with it. */
const PASTED: readonly (readonly [WireProtocol, string, string])[] = [
  ['anthropic', 'ANTHROPIC_BASE_URL', '/v1/messages'],
  ['anthropic', 'ANTHROPIC_BASE_URL', '/v1/'],
  ['responses', 'OPENAI_BASE_URL', '/v1/responses'],
  ['chat', 'LLM_BASE_URL', '/v1/chat/completions'],
  ['chat', 'LLM_BASE_URL', ''],
  ['chat', 'LLM_BASE_URL', '/chat/completions'],
  ['chat', 'LLM_BASE_URL', '/v1/chat'],
  ['chat', 'LLM_BASE_URL', '/V1'],
  ['chat', 'LLM_BASE_URL', '/api/chat'],
  ['google', 'GOOGLE_GEMINI_BASE_URL', '/v1beta/models'],
  ['google', 'GOOGLE_GEMINI_BASE_URL', '/v1beta/'],
];

describe.concurrent('a server', () => {
  it.each(PASTED)('is reached over %s by %s with %j', async (protocol, variable, path) => {
    await using world = await openWorld({ protocol });
    const env = { [variable]: `${world.model.url}${path}` };
    const run = await world.run(['-p', 'go'], { env });
    expect([run.code, run.stdout, run.stderr]).toEqual([0, 'ok\n', '']);
  });

  it('gets ANTHROPIC_AUTH_TOKEN as a bearer token, and no key beside it', async () => {
    await using world = await openWorld();
    const run = await world.run(['-p', 'go'], { env: { ANTHROPIC_AUTH_TOKEN: '"token-1234"' } });
    expect([run.code, run.stderr]).toEqual([0, '']);
    const headers = world.model.requests[0]?.headers ?? {};
    expect(headers['authorization']).toBe('Bearer token-1234');
    expect(headers['x-api-key']).toBeUndefined();
  });

  it('gets no key that a header cannot hold: the variable and the character are named at once', async () => {
    await using world = await openWorld();
    const key = 'sk-\u200Bant-0123456789';
    const run = await world.run(['-p', 'go'], { env: { ANTHROPIC_API_KEY: key } });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(
      /^muster: [^\n]*ANTHROPIC_API_KEY contains a key that can't be sent: its character 4 of 18 is a zero-width space \(U\+200B\); copy the key again\n$/,
    );
    expect(run.stderr).not.toContain('0123456789');
    expect(world.model.requests.length).toBe(0);
  });

  it('is told of with the title of its page, not with the page', async () => {
    const body = `<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>${'<p>x</p>'.repeat(5000)}</html>`;
    await using world = await openWorld({
      script: () => ({ fault: { kind: 'status', status: 502, body } }),
    });
    const run = await world.run(['-p', 'go'], { env: { MUSTER_PROVIDER_RETRIES: '0' } });
    const { host } = new URL(world.model.url);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(
      `HTTP 502: a web page instead of an answer from ${host}: "502 Bad Gateway"`,
    );
    expect(run.stderr.length).toBeLessThan(400);
  });

  it('that refuses a key is told of with the variable and the base URL', async () => {
    await using world = await openWorld({
      script: () => ({ fault: { kind: 'status', status: 401, message: 'invalid x-api-key' } }),
    });
    const run = await world.run(['-p', 'go']);
    expect(run.stderr).toContain(
      `HTTP 401: invalid x-api-key (sent to ${world.model.url}/v1 with the key in ANTHROPIC_API_KEY)`,
    );
  });
});
