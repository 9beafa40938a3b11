import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, MusterError } from '../base/errors.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import { muster } from './formats/vendors.ts';
import { EXAMPLE_AGENTS } from './example-agents.ts';

/** The names of the files that ship with Muster, in the order in which they are listed. */
const BUILTIN_FILES = {
  agents: ['explore', 'plan', 'bash', 'review', 'summary', 'general-purpose'],
  templates: ['templates/test-file', 'templates/refactor-module', 'templates/best-of-n'],
} as const;

interface BuiltinFile {
  /** `builtin:` and the name of the file without `.md`. */
  readonly path: string;
  readonly text: string;
}

/**
 * Reads the built-in files of a kind. They are in `builtin/` next to this module, both in the source tree and in the
 * bundle. They are read at each call, because this takes only 0.1 ms. Throws INTERNAL_ERROR if a file is missing.
 */
export function readBuiltinFiles(kind: keyof typeof BUILTIN_FILES): readonly BuiltinFile[] {
  return BUILTIN_FILES[kind].map((name) => ({
    path: `builtin:${name.slice(name.indexOf('/') + 1)}`,
    text: readBuiltinFile(name),
  }));
}

function readBuiltinFile(name: string): string {
  const url = new URL(`./builtin/${name}.md`, import.meta.url);
  try {
    return readFileSync(url, 'utf8');
  } catch (error) {
    const message = `The built-in file ${name}.md cannot be read (${errorMessage(error)}). Install Muster again.`;
    throw new MusterError('INTERNAL_ERROR', message, { cause: error });
  }
}

/** Loads the definition of the subagent that answers questions of hooks. No task can delegate to it. */
export async function loadVerifier(): Promise<AgentDefinition> {
  const file = { path: 'builtin:verify-hook', text: readBuiltinFile('verify-hook') };
  const { items } = await muster.agents.read({ ...file, scope: 'builtin' });
  const [verifier] = items;
  if (verifier === undefined) throw new Error('the built-in file verify-hook.md is wrong');
  return verifier;
}

/** Loads the six built-in agents from their files, with the same reader as a user's files. */
export async function loadBuiltinAgents(): Promise<readonly AgentDefinition[]> {
  const loaded = await Promise.all(
    readBuiltinFiles('agents').map((file) => muster.agents.read({ ...file, scope: 'builtin' })),
  );
  return loaded.flatMap(({ items }) => items);
}

/**
 * The possible relative paths from this module to the directory of the package. They differ between the source tree and
 * the bundle.
 */
const PACKAGE_PATHS = ['.', '..', '../..'];

/** Loads the example agent with a name, ignoring case. Returns undefined if there is none. */
export async function loadExampleAgent(name: string): Promise<AgentDefinition | undefined> {
  const wanted = name.trim().toLowerCase();
  const example = EXAMPLE_AGENTS.find((each) => each === wanted);
  if (example === undefined) return undefined;
  const path = PACKAGE_PATHS.map((up) =>
    join(import.meta.dirname, up, 'examples', 'agents', `${example}.md`),
  ).find((each) => existsSync(each));
  if (path === undefined) return undefined;
  const text = readFileSync(path, 'utf8');
  const { items } = await muster.agents.read({ path, text, scope: 'builtin' });
  return items[0];
}
