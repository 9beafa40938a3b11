import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { classifyAddress, normalizeAddress, type AddressKind } from '../../src/web/address.ts';

const KINDS: Readonly<Record<AddressKind, readonly string[]>> = {
  public: [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '2606:4700:4700::1111',
    '2a00:1450:4001:82a::200e',
    '::ffff:8.8.8.8',
    '::FFFF:0808:0808',
  ],
  loopback: ['127.0.0.1', '127.255.255.254', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'],
  private: [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '100.64.0.1',
    '100.127.255.255',
    'fc00::1',
    'fd12:3456:789a::1',
    'fec0::1',
    '::ffff:192.168.1.1',
    '::ffff:a00:1',
  ],
  'link-local': ['169.254.0.1', '169.254.255.255', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  metadata: [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '169.254.170.2',
    '168.63.129.16',
    '100.100.100.200',
    'fd00:ec2::254',
    'FD00:0EC2:0:0::254',
  ],
  unspecified: ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0'],
  multicast: ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1'],
  translated: [
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::',
    '2002:a00:1::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '::ffff:0:7f00:1',
  ],
  reserved: [
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '198.18.0.1',
    '198.19.255.255',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '2001:db8::1',
    '2001:2::1',
    '3fff::1',
    '100::1',
    '4000::1',
    '::127.0.0.1',
    '::8.8.8.8',
    '::808:808',
  ],
  invalid: ['', 'localhost', '127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '1.2.3.4.5', '[x]'],
};

describe('classifyAddress', () => {
  it.each(Object.entries(KINDS))('finds %s addresses', (kind, addresses) => {
    const found = addresses.map((address) => [address, classifyAddress(address)]);
    expect(found).toEqual(addresses.map((address) => [address, kind]));
  });

  test('brackets make no difference', () => {
    expect(classifyAddress('[::1]')).toBe('loopback');
  });

  test('an IPv4 address is judged alike in every form of IPv6 that maps it', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const high = ((a << 8) | b).toString(16);
        const low = ((c << 8) | d).toString(16);
        const forms = [
          `::ffff:${address}`,
          `::ffff:${high}:${low}`,
          `0:0:0:0:0:ffff:${high}:${low}`,
        ];
        const kind = classifyAddress(address);
        expect(forms.map(classifyAddress)).toEqual([kind, kind, kind]);
      }),
    );
  });

  test('no IPv6 address outside 2000::/3 is public', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const isMapped = normalizeAddress(address).includes('.');
        const first = Number.parseInt(new URL(`http://[${address}]`).hostname.slice(1), 16) || 0;
        const canBePublic = isMapped || (first >= 0x2000 && first <= 0x3fff);
        expect(canBePublic || classifyAddress(address) !== 'public').toBe(true);
      }),
    );
  });
});
