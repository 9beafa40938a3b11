import { describe, expect, test } from 'vitest';
import { needs } from '../../needs.ts';
import { PLACES } from './sandboxed.ts';

/** Far longer than each of them takes, and far shorter than waiting for a network or a person. */
const TIMEOUT_MS = 15_000;

const LINES = 'seq 1 500 > lines';
/** Runs a command in its own terminal, in which a pager would wait for a key. */
const inTerminal = (command: string): string => `script -qec '${command}' /dev/null`;

const COMMANDS: readonly (readonly [program: string, debianPackage: string, command: string])[] = [
  ['npm', 'npm', 'npm init'],
  ['npm', 'npm', 'npm --version && npm config get update-notifier | grep -x false'],
  ['less', 'less', `${LINES}; less lines`],
  ['more', 'util-linux', `${LINES}; more lines`],
  ['git', 'git', `${LINES}; git -p diff --no-index /dev/null lines; [ $? -eq 1 ]`],
  ['systemctl', 'systemd', 'systemctl --version; systemctl list-units; true'],
  ['man', 'man-db', 'man man || true'],
];

const IN_TERMINAL: readonly (readonly [program: string, debianPackage: string, command: string])[] =
  [
    [
      'git',
      'git',
      `${LINES}; ${inTerminal('git -p diff --no-index /dev/null lines')}; [ $? -eq 1 ]`,
    ],
    ['man', 'man-db', `${inTerminal('man man')} || true`],
    ['systemctl', 'systemd', `${inTerminal('systemctl --version')}; true`],
    ['bash', 'bash', `${LINES}; ${inTerminal('$MANPAGER lines')}`],
  ];

describe.each(PLACES)('%s', (_, open) => {
  for (const [program, debianPackage, command] of COMMANDS) {
    test.runIf(needs(program, debianPackage))(`${command} ends by itself`, async () => {
      expect(await open()(command, TIMEOUT_MS)).toMatch(/\[exit code [01]\]/);
    });
  }

  for (const [program, debianPackage, command] of IN_TERMINAL) {
    const isThere = needs('script', 'util-linux') && needs(program, debianPackage);
    test.runIf(isThere)(`${command} ends by itself`, async () => {
      expect(await open()(command, TIMEOUT_MS)).toContain('[exit code 0]');
    });
  }
});
