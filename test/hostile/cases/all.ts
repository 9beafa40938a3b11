import { CRASH_CASES } from './crashes.ts';
import { INBOX_CASES } from './inbox.ts';
import { INHERITANCE_CASES } from './inheritance.ts';
import { KEY_CASES } from './keys.ts';
import { LINK_CASES } from './links.ts';
import { MOVE_CASES } from './moves.ts';
import { PATH_CASES } from './paths.ts';
import { PROVIDER_CASES } from './providers.ts';
import { RESOURCE_CASES } from './resources.ts';
import { SECRET_CASES } from './secrets.ts';
import { SHELL_RULE_CASES } from './shell-rules.ts';
import { TERMINAL_CASES } from './terminal.ts';
import { TRUST_CASES } from './trust.ts';
import { TRUST_PROGRAM_CASES } from './trust-program.ts';
import { WEB_CASES } from './web.ts';
import type { HostileCase } from '../case.ts';

/** All cases but those of the shell, which are played in ranges of their own. */
export const CASES: readonly HostileCase[] = [
  ...PATH_CASES,
  ...LINK_CASES,
  ...MOVE_CASES,
  ...INHERITANCE_CASES,
  ...INBOX_CASES,
  ...TRUST_CASES,
  ...TRUST_PROGRAM_CASES,
  ...WEB_CASES,
  ...TERMINAL_CASES,
  ...SECRET_CASES,
  ...KEY_CASES,
  ...RESOURCE_CASES,
  ...PROVIDER_CASES,
  ...CRASH_CASES,
  ...SHELL_RULE_CASES,
];
