import { isAbsolute, join } from 'node:path';
import { defineFormat, isJson, isYaml } from '../../loader/format.ts';
import type { UserDirectories } from '../../loader/user-directories.ts';
import type { AgentVendor } from '../vendor.ts';

export const goose = {
  agents: defineFormat({
    vendor: 'goose',
    locations: { project: ['.goose/recipes'], user: recipeDirectories },
    accepts: (fileName) => isYaml(fileName) || isJson(fileName),
    loadReader: async () => (await import('./reader.ts')).gooseReader,
  }),
  skills: { project: ['.goose/skills'], user: ({ config }) => [join(config, 'goose', 'skills')] },
  detection: { directories: ['.goose'], isAgent: isRecipe },
} satisfies AgentVendor;

function recipeDirectories({ config, named }: UserDirectories): readonly string[] {
  const directories = (named('GOOSE_RECIPE_PATH') ?? '').split(':').filter(isAbsolute);
  return [...directories, join(config, 'goose', 'recipes')];
}

/** Whether a text has a title and instructions, at one of the two outermost levels of YAML or anywhere in JSON. */
function isRecipe(text: string): boolean {
  const before = /^\s*\{/.test(text.slice(0, 100)) ? '' : '^[ \\t]{0,8}';
  const has = (key: string): boolean =>
    new RegExp(`${before}"?\\b(?:${key})"?[ \\t]*:`, 'm').test(text);
  return has('title') && has('instructions|prompt');
}
