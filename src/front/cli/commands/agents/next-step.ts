import type { AgentScope } from '../../../../protocol/agent.ts';
import type { CommandContext } from '../context.ts';
import { shownPath } from './words.ts';

interface WrittenFile {
  readonly path: string;
  /** As whose it is found there; null: nobody looks there. */
  readonly scope: AgentScope | null;
}

/** What is to be done before new files act; nothing for those of the user. */
export function nextStep(
  files: readonly WrittenFile[],
  { cwd, home }: CommandContext,
): readonly string[] {
  const ofProject = files.filter(({ scope }) => scope === 'project');
  const nowhere = files.filter(({ scope }) => scope === null);
  const paths = ofProject.map(({ path }) => shellWord(shownPath(path, cwd, home)));
  return [
    ...(ofProject.length === 0
      ? []
      : [`Files of a project act once they are trusted: muster trust add ${paths.join(' ')}`]),
    ...(nowhere.length === 0
      ? []
      : ['No agents are looked for there: see "Search order" in docs/agents.md.']),
  ];
}

function shellWord(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
