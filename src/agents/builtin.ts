import { readFileSync } from 'node:fs';
import { errorMessage, MusterError } from '../base/errors.ts';

/** The agents that ship with Muster, in the order in which they are listed. */
const BUILTIN_FILES = ['explore', 'plan', 'bash', 'review', 'summary', 'general-purpose'] as const;

/** The templates that ship with Muster. */
const TEMPLATE_FILES = ['test-file', 'refactor-module'] as const;

interface BuiltinSource {
  /** `builtin:` and the file's name without `.md`. */
  readonly path: string;
  /** The whole file, front matter included. */
  readonly text: string;
}

/**
 * The built-in agent files. They lie in `builtin/` beside this module, in the source tree as in the
 * bundle, and are read at each call (0.1 ms). Throws INTERNAL_ERROR when one is missing.
 */
export function builtinSources(): readonly BuiltinSource[] {
  return BUILTIN_FILES.map((name) => ({ path: `builtin:${name}`, text: readBuiltin(name) }));
}

/** The same for the templates, which lie in `builtin/templates/`. */
export function builtinTemplates(): readonly BuiltinSource[] {
  return TEMPLATE_FILES.map((name) => ({
    path: `builtin:${name}`,
    text: readBuiltin(`templates/${name}`),
  }));
}

function readBuiltin(name: string): string {
  const url = new URL(`./builtin/${name}.md`, import.meta.url);
  try {
    return readFileSync(url, 'utf8');
  } catch (error) {
    throw new MusterError(
      'INTERNAL_ERROR',
      `The built-in file ${name}.md cannot be read (${errorMessage(error)}). Install Muster again.`,
      { cause: error },
    );
  }
}
