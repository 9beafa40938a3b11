import { describe, expect, test } from 'vitest';
import { createCommandSandbox } from '../../../src/engine/calls/tool-context.ts';
import type { Decision } from '../../../src/protocol/permission.ts';
import {
  createUnavailableSandbox,
  type Confinement,
  type Sandbox,
} from '../../../src/sys/sandbox/sandbox.ts';
import { HOME, rights, ROOT, rules } from '../../policy/support.ts';

const RIGHTS = rights('default', { deny: ['Edit(a)'], ask: ['Read(secret/**)', 'Edit(b)'] });
const [ASKED] = rules({ ask: ['Read(secret/**)'] }).ask;

/** Returns the confinement of a command in a call that this decision allowed. */
async function confinementBy(decision?: Decision): Promise<Confinement | undefined> {
  let seen: Confinement | undefined;
  const sandbox: Sandbox = {
    ...createUnavailableSandbox('', ''),
    state: () => Promise.resolve({ on: true, kind: 'bwrap' }),
    confine: ({ argv: [file, ...args], env, confinement }) => {
      seen = confinement;
      return {
        file,
        args,
        env,
        monitored: false,
        startCheck: false,
        allows: () => true,
        settle: () => Promise.resolve({ removed: [], fromCommits: [] }),
        release: () => {},
      };
    },
  };
  const setup = { sandbox, variableNames: [], taskId: 'task00000001', rights: RIGHTS, home: HOME };
  await createCommandSandbox({ ...setup, decision }).confine(['true'], {
    cwd: ROOT,
    serves: false,
  });
  return seen;
}

describe('the confinement of a command', () => {
  const held = { roots: [ROOT], network: false };
  const readOnly = [`${ROOT}/a`, `${ROOT}/b`];

  test('follows from the rules, whether the user was asked or not', async () => {
    const denied = { hidden: [`${ROOT}/secret`], readOnly };
    expect(await confinementBy()).toEqual({
      ...held,
      runsGitAlone: false,
      access: 'workspace',
      denied,
    });
  });

  test('leaves out the ask rule that the user has answered', async () => {
    const asked: Decision = {
      verdict: 'ask',
      step: 'ask_rule',
      reason: '',
      confinement: 'read-only',
    };
    const decision = ASKED === undefined ? asked : { ...asked, rule: ASKED };
    const denied = { hidden: [], readOnly };
    expect(await confinementBy(decision)).toEqual({
      ...held,
      runsGitAlone: false,
      access: 'read-only',
      denied,
    });
  });
});
