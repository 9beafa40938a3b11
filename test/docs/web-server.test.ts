import { expect, it } from 'vitest';
import { webCommand } from '../../src/front/cli/commands/web.ts';
import { SESSION_FLAGS } from '../../src/front/cli/run-options.ts';
import { MAX_TEXT, MAX_TREE_TASKS } from '../../src/front/web/wire.ts';
import { readPage } from './page.ts';

const page = readPage('docs/web-server.md');

it('docs/web-server.md lists each flag of the command that sessions do not have', () => {
  const own = webCommand.flags.filter((flag) => !SESSION_FLAGS.includes(flag));
  const listed = [...page.matchAll(/^\| `--([\w-]+)/gm)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual([...own, 'data-dir'].toSorted());
});

it('docs/web-server.md names the limits of the program', () => {
  const format = (count: number): string => count.toLocaleString('en');
  expect(page).toContain(`| text in an event | ${format(MAX_TEXT)} characters |`);
  expect(page).toContain(`on each side of a comparison | ${format(MAX_TREE_TASKS)} |`);
  expect(page).toContain(`Texts of more than ${format(MAX_TEXT)} characters are cut.`);
});
