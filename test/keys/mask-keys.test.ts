import { assert, constantFrom, property, stringMatching } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskKeys } from '../../src/keys/mask-keys.ts';

describe('a line of errors', () => {
  it.each([
    ['sk-very-secret', '[key]'],
    ['+ echo sk-right-key-0123456789', '+ echo [key]'],
    ["+ curl -H 'Authorization: Bearer 0a1b2c3d4e5f6a7b8c9d0a1b'", '[key]'],
    ['KEY=AbCd0123EfGh4567 is wrong', 'KEY=[key] is wrong'],
    ['https://vault.example/v1?token=hvs.CAESIJ0123456789abcdef', '?token=[key]'],
    ['+ echo wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', '+ echo [key]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3', '[key]'],
    ['gsk_abcd', '[key]'],
  ])('shows no key: %s', (line, expected) => {
    expect(maskKeys(line)).toContain(expected);
    expect(maskKeys(line)).not.toMatch(/[A-Za-z\d]{12}\d|\d[A-Za-z\d]{12}|secret/);
  });

  it.each([
    'op: [ERROR] 2026/11/27 07:44:39 authorization prompt dismissed, please try again',
    '/bin/sh: 1: pass: not found',
    'gpg: decryption failed: No secret key',
    'cat: /run/secrets/openrouter-0123456789abcdef: Permission denied',
    "pass: /home/user/.password-store/work/openrouter0123456789.gpg isn't in the password store",
    'error while loading shared libraries: libsecret-1.so.0: cannot open shared object file',
    'node-v24.1.0-linux-x64: x86_64-unknown-linux-gnu, libgcrypt20-dev is missing',
    'secret-tool: Cannot autolaunch D-Bus without X11 $DISPLAY (GnomeKeyringNotAvailableException)',
    'aws: [profile] sso-session needs https://login.example.com/start',
    '~/bin/key-0123456789abcdef ../bin/key-0123456789abcdef',
  ])('stays readable: %s', (line) => {
    expect(maskKeys(line)).toBe(line);
  });

  it('shows no key of 24 letters and digits, whatever surrounds it', () => {
    const key = stringMatching(/^[a-zA-Z]{2}[0-9]{3}[a-zA-Z0-9]{19}$/);
    assert(
      property(key, constantFrom(' ', '"', '=', ': ', '?k='), (secret, before) => {
        expect(maskKeys(`error${before}${secret}, sorry`)).toBe(`error${before}[key], sorry`);
      }),
    );
  });
});
