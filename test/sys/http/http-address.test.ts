import { expect, test } from 'vitest';
import { isLoopback, parseHttpAddress, toUrlHost } from '../../../src/sys/http/http-address.ts';

test.each([
  ['8808', { host: '127.0.0.1', port: 8808 }],
  ['0', { host: '127.0.0.1', port: 0 }],
  ['localhost:80', { host: 'localhost', port: 80 }],
  ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
  ['[::1]:8808', { host: '::1', port: 8808 }],
  ['65536', null],
  ['::1:80', null],
  ['[localhost]:80', null],
  ['[::g]:80', null],
  ['a b:80', null],
  ['localhost', null],
  ['localhost:', null],
  [':80', null],
  ['-1', null],
  ['', null],
])('the address %j is %j', (text, address) => {
  expect(parseHttpAddress(text)).toEqual(address);
});

test.each([
  ['127.0.0.1', true, '127.0.0.1'],
  ['127.9.9.9', true, '127.9.9.9'],
  ['localhost', true, 'localhost'],
  ['LOCALHOST', true, 'LOCALHOST'],
  ['127.evil.example', false, '127.evil.example'],
  ['127.0.0.1.example', false, '127.0.0.1.example'],
  ['127.0.0.256', false, '127.0.0.256'],
  ['127.1', false, '127.1'],
  ['::1', true, '[::1]'],
  ['0.0.0.0', false, '0.0.0.0'],
  ['::', false, '[::]'],
  ['10.0.0.1', false, '10.0.0.1'],
])('the host %s: loopback is %j, and a URL has %s', (host, isLocal, inUrl) => {
  expect([isLoopback({ host, port: 0 }), toUrlHost(host)]).toEqual([isLocal, inUrl]);
});
