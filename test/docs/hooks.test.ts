import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { HOOK_EVENT_SUPPORT } from '../../src/hooks/hook-events.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/hooks.md'), 'utf8');

it('docs/hooks.md has each event of Claude Code with its status', () => {
  for (const [event, { support, note }] of HOOK_EVENT_SUPPORT) {
    if (support === 'acts') expect(page).toMatch(new RegExp(`^\\|[^|]*\`${event}\``, 'm'));
    else expect(page).toContain(`| \`${event}\` | ${support} | ${note} |`);
  }
});
