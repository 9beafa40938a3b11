import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { runMuster, Sandbox } from '../e2e/muster.ts';
import { openWorld } from '../e2e/world.ts';

/**
 * The names that scripts, logs and programs depend on. The files beside this test hold them; a name may be added,
 * and none may be removed or renamed.
 */
const src = resolve(import.meta.dirname, '../../src');

/** The schema of a stream line holds those of an event and of a result. */
const SCHEMAS = ['agent', 'config', 'stream', 'task'] as const;

/** Lists the path of every property that a JSON schema describes, such as `limits.maxTurns`. */
function propertyPaths(schema: JsonObject): readonly string[] {
  const definitions = isJsonObject(schema['definitions']) ? schema['definitions'] : {};
  const paths = new Set<string>();
  const visit = (node: unknown, path: string, inside: readonly string[]): void => {
    if (Array.isArray(node)) {
      for (const each of node) visit(each, path, inside);
      return;
    }
    if (!isJsonObject(node)) return;
    const ref = node['$ref'];
    if (typeof ref === 'string') {
      const name = decodeURIComponent(ref.replace('#/definitions/', ''));
      if (!inside.includes(name)) visit(definitions[name], path, [...inside, name]);
    }
    const properties = isJsonObject(node['properties']) ? node['properties'] : {};
    const variant = isJsonObject(properties['type']) ? properties['type']['const'] : undefined;
    const at = typeof variant === 'string' ? `${path}<${variant}>` : path;
    for (const [name, value] of Object.entries(properties)) {
      const full = at === '' ? name : `${at}.${name}`;
      paths.add(full);
      visit(value, full, inside);
    }
    visit(node['items'], `${at}[]`, inside);
    visit(node['additionalProperties'], `${at}.*`, inside);
    for (const key of ['anyOf', 'oneOf', 'allOf']) visit(node[key], at, inside);
    const values = node['enum'];
    if (Array.isArray(values)) for (const value of values) paths.add(`${at} = ${String(value)}`);
  };
  visit(schema, '', []);
  return [...paths].toSorted();
}

/** Lists the names that a module of `src` exports, also through `export … from`. */
function exportedNames(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
  const names = new Set<string>();
  for (const [, list = ''] of text.matchAll(/^export (?:type )?\{([\s\S]*?)\}/gm)) {
    for (const entry of list.split(',')) {
      const name = entry
        .trim()
        .replace(/^type /, '')
        .split(' as ')
        .at(-1);
      if (name !== undefined && name !== '') names.add(name);
    }
  }
  for (const [, from = ''] of text.matchAll(/^export (?:type )?\* from '(\.[^']+)'/gm)) {
    for (const name of exportedNames(resolve(dirname(file), from))) names.add(name);
  }
  const declaration =
    /^export (?:async )?(?:function\*?|const|class|interface|type|abstract class) (\w+)/gm;
  for (const [, name = ''] of text.matchAll(declaration)) names.add(name);
  return [...names].toSorted();
}

function asFile(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}

describe('the names on the wire', () => {
  it.each(SCHEMAS)('stay the same in the schema of %s', async (name) => {
    using sandbox = new Sandbox({});
    const { stdout } = await runMuster(sandbox, ['schema', name]);
    await expect(asFile(propertyPaths(JSON.parse(stdout)))).toMatchFileSnapshot(
      `names/${name}.txt`,
    );
  });

  it('stay the same in the tools that a main agent is offered', async () => {
    await using world = await openWorld();
    await world.run(['-p', 'go']);
    const tools = world.model.requests[0]?.tools ?? [];
    const lines = tools.flatMap(({ name, schema }) =>
      [name].concat(propertyPaths(schema).map((path) => `  ${path}`)),
    );
    await expect(asFile(lines)).toMatchFileSnapshot('names/tools.txt');
  });

  it.each(['library.ts', 'ai-sdk.ts', 'events.ts', 'testing/index.ts'])(
    'stay the same among what the package exports: %s',
    async (entry) => {
      const file = `names/package-${entry.split(/[/.]/)[0] ?? ''}.txt`;
      await expect(asFile(exportedNames(resolve(src, entry)))).toMatchFileSnapshot(file);
    },
  );
});
