import type { AgentProblem } from '../../protocol/agent.ts';
import type { TemplateDefinition } from '../../protocol/template.ts';
import type { Environment } from '../../sys/env.ts';
import { readProjectFile, type ProjectTrust } from '../../sys/project-file.ts';
import { builtinTemplates } from '../builtin.ts';
import { newFileSearch } from '../loader/list-files.ts';
import { firstByName } from '../first-by-name.ts';
import { placeText, refuse } from '../place-text.ts';
import { MAX_AGENT_BYTES } from '../loader/read-text.ts';
import { surroundingsOf, type Surroundings } from '../loader/search-context.ts';
import type { SkippedPath } from '../loader/walk.ts';
import { templateFilesIn, templatePlaces } from './places.ts';
import { readTemplate, type ReadTemplate } from './read.ts';

/** Bytes of one template. */
export const MAX_TEMPLATE_BYTES = MAX_AGENT_BYTES;

export interface DiscoverTemplatesOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  /** Which files of the project may act. The others are listed as skipped, and not parsed. */
  readonly trust: ProjectTrust;
  /** What lies around `cwd`, where it is known already as it is now. */
  readonly around?: Surroundings;
}

export interface DiscoveredTemplates {
  /** In search order, those that ship with Muster last; no two of the same name, case ignored. */
  readonly templates: readonly TemplateDefinition[];
  /** Templates whose name another one has that was found before it. */
  readonly shadowed: readonly { readonly template: TemplateDefinition; readonly by: string }[];
  /** Files that gave no template, and why; `untrusted` or `changed` where nobody has trusted them. */
  readonly skipped: readonly SkippedPath[];
  /** Files that were meant as templates and could not be loaded. They are in `skipped`, too. */
  readonly problems: readonly AgentProblem[];
}

interface Search {
  readonly found: TemplateDefinition[];
  readonly skipped: SkippedPath[];
  readonly problems: AgentProblem[];
}

/** All templates that can be used in a directory. Never throws for what a file holds. */
export async function discoverTemplates(
  options: DiscoverTemplatesOptions,
): Promise<DiscoveredTemplates> {
  return withBuiltins(await searchPlaces(options));
}

/**
 * Those that the model is told of: all, where the project or the user has some of their own; those that ship
 * with Muster alone are examples, and not worth the bytes in every request.
 */
export async function offeredTemplates(
  options: DiscoverTemplatesOptions,
): Promise<readonly TemplateDefinition[]> {
  const search = await searchPlaces(options);
  return search.found.length === 0 ? [] : (await withBuiltins(search)).templates;
}

/** What the project and the user have of their own. */
async function searchPlaces(options: DiscoverTemplatesOptions): Promise<Search> {
  const around = options.around ?? surroundingsOf(options.cwd, options.environment);
  const fileSearch = newFileSearch(around);
  const search: Search = { found: [], skipped: [], problems: [] };
  for (const { scope, ...place } of templatePlaces(around)) {
    const found = templateFilesIn({ scope, ...place }, fileSearch);
    if (found === undefined) continue;
    search.skipped.push(...found.skipped);
    for (const file of found.files) {
      const { path } = file;
      const text = placeText(file, {
        kind: 'template',
        scope,
        boundary: found.boundary,
        maxBytes: MAX_TEMPLATE_BYTES,
        readProject: (request) => readProjectFile(request, options.trust),
      });
      if (text.ok) take(await readTemplate({ path, scope, text: text.text }), search);
      else refuse({ path, code: text.code, message: text.reason }, search);
    }
  }
  return search;
}

async function withBuiltins(search: Search): Promise<DiscoveredTemplates> {
  for (const source of builtinTemplates()) {
    take(await readTemplate({ ...source, scope: 'builtin' }), search);
  }
  const { first, later } = firstByName(search.found);
  return {
    templates: first,
    shadowed: later.map(({ one, first: winner }) => ({ template: one, by: winner.path })),
    skipped: search.skipped,
    problems: search.problems,
  };
}

function take(read: ReadTemplate, search: Search): void {
  if (read.ok) search.found.push(read.template);
  else refuse(read.problem, search);
}
