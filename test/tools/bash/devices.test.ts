import { describe, expect, test } from 'vitest';
import { needs } from '../../needs.ts';
import { PLACES } from './sandboxed.ts';

const COMMANDS: readonly (readonly [string, string])[] = [
  ['echo x > /dev/stderr', 'x'],
  ['sh -c "echo x > /dev/stdout"', 'x'],
  ['bash -c "echo x >> /dev/fd/1"', 'x'],
  ['exec 7>&1; echo x > /dev/fd/7', 'x'],
  ['echo one; echo two > /dev/stderr; echo three', 'one\ntwo\nthree'],
  ['echo x | tee /dev/stderr | wc -c', 'x\n2'],
  [
    'printf x > /dev/null; cp /dev/null /dev/stdout; dd if=/dev/zero bs=1 count=0 of=/dev/stderr status=none; echo ok',
    'ok',
  ],
  ['echo x | awk \'{ print > "/dev/stderr" }\'', 'x'],
  ['echo x | sed -n "w /dev/stdout"', 'x'],
  ['cat <(echo x) > /dev/stdout', 'x'],
  ['ls /proc/self/fd/1 /dev/stdout > /dev/null && echo x', 'x'],
];

describe.runIf(process.platform === 'linux').each(PLACES)('%s', (_, open) => {
  test.each(COMMANDS)('%s', async (command, output) => {
    expect(await open()(command)).toBe(`${output}\n[exit code 0]`);
  });

  test.runIf(needs('node', 'nodejs'))('a program that opens it itself', async () => {
    const command = `node -e "require('fs').writeFileSync('/dev/stdout', 'x')"`;
    expect(await open()(command)).toBe('x\n[exit code 0]');
  });

  test('a long output is kept, and too much output stops the command', async () => {
    const call = open();
    expect(await call('seq 1 100000 > /dev/stderr; echo end')).toContain(
      '\n100000\nend\n[exit code 0]',
    );
    expect(await call('yes > /dev/stdout')).toContain('[stopped: it wrote more than the limit');
  });
});
