import { expect, test } from 'vitest';
import { buildNetworkEnvironment } from '../../../src/sys/processes/command-environment.ts';

const OWN = {
  SSL_CERT_FILE: '/etc/ca.pem',
  https_proxy: 'http://proxy.test:3128',
  HTTP_PROXY: 'http://user:secret@proxy.test:3128',
  NO_PROXY: 'localhost',
  ANTHROPIC_API_KEY: 'secret',
};

test('with a network a command gets certificates, and proxies without a password', () => {
  expect(buildNetworkEnvironment(OWN, true)).toEqual({
    SSL_CERT_FILE: '/etc/ca.pem',
    https_proxy: 'http://proxy.test:3128',
    NO_PROXY: 'localhost',
  });
});

test('without a network nothing is tried again', () => {
  expect(buildNetworkEnvironment(OWN, false)).toEqual({
    npm_config_fetch_retries: '0',
    PIP_RETRIES: '0',
    UV_HTTP_RETRIES: '0',
    CARGO_NET_RETRY: '0',
    YARN_HTTP_RETRY: '0',
  });
});
