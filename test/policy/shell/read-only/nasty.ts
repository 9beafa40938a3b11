import { NASTY_GIT } from './nasty-git.ts';
import { NASTY_PROGRAMS } from './nasty-programs.ts';
import { NASTY_SYNTAX } from './nasty-syntax.ts';

/** What runs, writes or tells something although it looks harmless: none of it may be proved. */
export const NASTY: readonly string[] = [...NASTY_SYNTAX, ...NASTY_PROGRAMS, ...NASTY_GIT];
