import { SKILLS } from '../../src/agents/kinds.ts';
import { createSearchContext } from '../../src/agents/loader/search-context.ts';
import { listSearchPaths } from '../../src/agents/loader/list-files.ts';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_SKILL_LIST_BYTES } from '../../src/agents/skills/prompt-list.ts';
import { formatSkillText } from '../../src/agents/skills/text.ts';
import { openWorld, callsInTurn } from '../e2e/world.ts';
import { runMuster } from '../e2e/muster.ts';
import { readOne } from '../agents/skills/support.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/skills.md'), 'utf8');
const HOME = '/home/me';
const PATH = `${HOME}/.claude/skills/release-notes/SKILL.md`;

/** The first block of code of the page after this text. */
function blockAfter(text: string): string {
  const rest = page.slice(page.indexOf(text));
  return /^```\w*\n([\s\S]*?)^```$/m.exec(rest)?.[1] ?? '';
}

describe('docs/skills.md', () => {
  it('shows the text that its example becomes', async () => {
    const skill = await readOne(blockAfter('# Skills'), PATH);
    expect(skill.problems).toEqual([]);
    expect(`${formatSkillText(skill, '2.1')}\n`).toBe(blockAfter('The first of these calls'));
  });

  it('names every location, in order', () => {
    const places = listSearchPaths(SKILLS, createSearchContext('/work', { HOME }));
    const named = (scope: string): string =>
      places
        .filter((place) => place.scope === scope && !place.path.includes('muster/skills'))
        .map(({ path }) => `\`${path.replace('/work/', '').replace(HOME, '~')}\``)
        .join(', ');
    expect(page).toContain(`in the project, in this order: ${named('project')}\n`);
    expect(page).toContain(`of the user, in this order: ${named('user')}\n`);
    expect(page).toContain(`at most ${MAX_SKILL_LIST_BYTES.toLocaleString('en')} bytes`);
  });

  it('shows the output of its commands', async () => {
    await using world = await openWorld({
      script: callsInTurn(
        [{ name: 'Skill', input: { skill: 'release-notes', args: '2.1' } }],
        [
          {
            name: 'Read',
            input: { file_path: `~/.claude/skills/release-notes/references/format.md` },
          },
        ],
      ),
    });
    const { sandbox } = world;
    const files = {
      [PATH]: blockAfter('# Skills'),
      [join(dirname(PATH), 'references/format.md')]: '',
    };
    for (const [path, text] of Object.entries(files)) {
      const file = path.replace(HOME, sandbox.home);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const transcript = blockAfter('it works like this:');
    const printed = async (...args: readonly string[]): Promise<string> => {
      const { stdout } = await runMuster(sandbox, args);
      return `$ muster ${args.join(' ')}\n${stdout.replaceAll(sandbox.home, HOME)}`;
    };
    expect(transcript).toContain(await printed('skills', 'list'));
    expect(transcript).toContain(await printed('skills', 'check'));
    const { stderr } = await world.run(['-p', 'Write the notes for 2.1', '--verbose']);
    const shown = transcript.split('\n').find((line) => line.includes('Skill {'));
    expect(stderr).toContain(shown);
  });
});
