import { builtinModules } from 'node:module';
import type { Plugin } from 'rolldown';

const PREFIX = '\0builtin:';
/** What a run without commands never calls, and its functions alone are used: loaded at the first call. */
const LOADED_AT_FIRST_CALL: ReadonlySet<string> = new Set(['child_process', 'fs/promises']);

/**
 * Takes Node's own modules by `process.getBuiltinModule` instead of `import`: an import builds a
 * namespace of all their exports and runs every getter among them, which costs a start some
 * milliseconds a module. Only what is used stays in the bundle.
 */
export function builtinModulePlugin(): Plugin {
  return {
    name: 'builtin-modules',
    resolveId: {
      filter: { id: /^(node:)?[a-z_/]+$/ },
      handler(source, _importer, { kind }) {
        // What CommonJS requires is the module itself, and no namespace.
        if (kind !== 'import-statement') return null;
        const name = source.replace(/^node:/, '');
        if (!builtinModules.includes(name)) return null;
        return { id: `${PREFIX}${name}`, moduleSideEffects: false };
      },
    },
    load: {
      filter: { id: new RegExp(`^${PREFIX}`) },
      handler(id) {
        return { code: facade(id.slice(PREFIX.length)), moduleType: 'js' };
      },
    },
  };
}

function facade(name: string): string {
  const module: object = process.getBuiltinModule(name) ?? {};
  const names = Object.keys(module).filter(
    (key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== 'default',
  );
  if (LOADED_AT_FIRST_CALL.has(name)) return lateFacade(name, names);
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(`node:${name}`)});`,
    'export default builtin;',
    ...names.map((key) => `const _${key} = /* @__PURE__ */ (() => builtin.${key})();`),
    `export { ${names.map((key) => `_${key} as ${key}`).join(', ')} };`,
  ].join('\n');
}

function lateFacade(name: string, names: readonly string[]): string {
  return [
    `const builtin = () => process.getBuiltinModule(${JSON.stringify(`node:${name}`)});`,
    ...names.map((key) => `const _${key} = (...args) => builtin().${key}(...args);`),
    `export default { ${names.map((key) => `${key}: _${key}`).join(', ')} };`,
    `export { ${names.map((key) => `_${key} as ${key}`).join(', ')} };`,
  ].join('\n');
}
