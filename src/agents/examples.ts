import { musterFormat } from './formats/vendors.ts';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDefinition } from '../protocol/agent.ts';

/** Agents that ship as files to begin with, and are not installed. */
export const EXAMPLE_AGENTS = ['deepresearch', 'code'] as const;

/** From this module, or from a bundle of it, up to the package's own directory. */
const UPWARDS = ['.', '..', '../..'];

/** The example of this name, case ignored; undefined: there is none. */
export async function loadExampleAgent(name: string): Promise<AgentDefinition | undefined> {
  const wanted = name.trim().toLowerCase();
  const example = EXAMPLE_AGENTS.find((each) => each === wanted);
  if (example === undefined) return undefined;
  const path = UPWARDS.map((up) =>
    join(import.meta.dirname, up, 'examples', 'agents', `${example}.md`),
  ).find((each) => existsSync(each));
  if (path === undefined) return undefined;
  const text = readFileSync(path, 'utf8');
  const { items } = await musterFormat.read({ path, text, scope: 'builtin' });
  return items[0];
}
