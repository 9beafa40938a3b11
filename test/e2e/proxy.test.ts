import { describe, expect, it } from 'vitest';
import { startProxy } from './proxy.ts';
import { openWorld } from './world.ts';

describe.concurrent('behind a proxy', () => {
  const FAR = 'http://model.example.test';

  it('HTTP_PROXY brings a plain request to its server', async () => {
    await using world = await openWorld();
    await using proxy = await startProxy(new URL(world.model.url));
    const run = await world.run(['-p', 'go'], {
      env: { ANTHROPIC_BASE_URL: FAR, HTTP_PROXY: proxy.url },
    });
    expect([run.code, run.stdout, run.stderr]).toEqual([0, 'ok\n', '']);
    expect(proxy.asked.length).toBe(1);
    expect(proxy.asked[0]).toContain('model.example.test');
    expect(world.model.requests.length).toBe(1);
  });

  it('HTTPS_PROXY gets a request for a tunnel to the provider’s host', async () => {
    await using world = await openWorld();
    await using proxy = await startProxy(new URL(world.model.url));
    const run = await world.run(['-p', 'go'], {
      env: {
        ANTHROPIC_BASE_URL: 'https://model.example.test',
        https_proxy: proxy.url,
        MUSTER_PROVIDER_RETRIES: '0',
      },
    });
    // The server behind it speaks no TLS: what counts is the tunnel that was asked for.
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^muster: failed: PROVIDER_ERROR: [^\n]+\n$/);
    expect(proxy.asked).toEqual(['CONNECT model.example.test:443']);
  });

  it('an error names a proxy that cannot be reached, without its password', async () => {
    await using world = await openWorld();
    const run = await world.run(['-p', 'go'], {
      env: {
        ANTHROPIC_BASE_URL: FAR,
        HTTP_PROXY: 'http://user:secret@127.0.0.1:1',
        MUSTER_PROVIDER_RETRIES: '1',
      },
    });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('no connection through the proxy http://127.0.0.1:1: ');
    expect(run.stderr).toContain('HTTPS_PROXY, HTTP_PROXY or ALL_PROXY names this proxy');
    expect(run.stderr).toContain('given up after 2 tries');
    expect(run.stderr).not.toContain('secret');
  });

  it('a command ends at once after its result, although the proxy never answers', async () => {
    await using world = await openWorld();
    await using proxy = await startProxy(null);
    const url = 'https://model.example.test';
    const { asked } = proxy;
    const run = await world.run(['models', 'anthropic'], {
      env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'k', HTTPS_PROXY: proxy.url },
    });
    expect([run.code, asked]).toEqual([0, ['CONNECT model.example.test:443']]);
    expect(run.stdout).toContain('its models could not be listed: ');
  });

  it('NO_PROXY bypasses it', async () => {
    await using world = await openWorld();
    await using proxy = await startProxy(new URL(world.model.url));
    const run = await world.run(['-p', 'go'], {
      env: {
        ANTHROPIC_BASE_URL: 'http://model.invalid',
        HTTP_PROXY: proxy.url,
        NO_PROXY: 'model.invalid',
        MUSTER_PROVIDER_RETRIES: '0',
      },
    });
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/^muster: failed: PROVIDER_ERROR: [^\n]*model\.invalid[^\n]*\n$/);
    expect(proxy.asked).toEqual([]);
  });

  it('loopback always bypasses it', async () => {
    await using world = await openWorld();
    await using proxy = await startProxy(new URL(world.model.url));
    const env = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url, ALL_PROXY: proxy.url };
    const run = await world.run(['-p', 'go'], { env });
    expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
    expect(proxy.asked).toEqual([]);
  });

  it('an invalid URL gives a clear message', async () => {
    await using world = await openWorld();
    const run = await world.run(['-p', 'go'], {
      env: { ANTHROPIC_BASE_URL: FAR, HTTP_PROXY: 'not a url', MUSTER_PROVIDER_RETRIES: '0' },
    });
    expect([run.code === 1 || run.code === 2, run.stdout]).toEqual([true, '']);
    expect(run.stderr).toMatch(/^muster: [^\n]*HTTP_PROXY[^\n]*\n$/);
  });
});
