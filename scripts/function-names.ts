import { SourceMap, type SourceMapPayload } from 'node:module';
import { resolve } from 'node:path';
import { modulePath } from './module-path.ts';
import { parseSync, Visitor } from 'rolldown/utils';

/** The source that a position of bundled code comes from. */
interface Origin {
  /** The path of the source file from the root of the checkout; empty for code of the bundler's own. */
  readonly module: string;
  /** The name that the source has for the identifier at that position, if there is an identifier. */
  readonly name: string | undefined;
}

export type OriginOf = (offset: number) => Origin;

export interface NamedFunction {
  readonly start: number;
  readonly end: number;
  /** `src/base/clock.ts readClock/1`: the module, then the function with the functions around it. */
  readonly name: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

type FunctionKind = 'declaration' | 'expression' | 'arrow';

interface FunctionNode extends Span {
  readonly id: Span | null;
}

/**
 * Names the functions of a piece of bundled code after their source, so that a name survives minification
 * and, in most cases, a change to the source: those that can be compiled with their file, which are the
 * arrow functions and the functions declared at the top of the file. A function without a name of its own gets its number among
 * the nameless ones in the function around it; of functions with the same name, the second gets `~2`.
 */
export function namedFunctions(code: string, originOf: OriginOf): readonly NamedFunction[] {
  const functions: NamedFunction[] = [];
  const around: string[] = [];
  const uses = new Map<string, number>();
  /** The names that variables, properties and classes give to the functions that are their values. */
  const namesByStart = new Map<number, string>();
  const nameAt = (at: number): string | undefined => originOf(at).name;

  const numbered = (key: string): number => {
    const count = (uses.get(key) ?? 0) + 1;
    uses.set(key, count);
    return count;
  };
  const enter = (kind: FunctionKind, span: Span, ownName: string | undefined): void => {
    const parent = around.at(-1);
    const prefix = parent === undefined ? `${originOf(span.start).module} ` : `${parent}/`;
    const count = numbered(`${prefix}${ownName ?? ''}`);
    const own = ownName === undefined ? `${count}` : `${ownName}${count > 1 ? `~${count}` : ''}`;
    around.push(prefix + own);
    const isNamable = kind === 'arrow' || (kind === 'declaration' && parent === undefined);
    if (isNamable && !prefix.startsWith(' ')) {
      functions.push({ start: span.start, end: span.end, name: prefix + own });
    }
  };
  const leave = (): void => {
    around.pop();
  };
  const givenName = ({ id, start }: FunctionNode): string | undefined =>
    (id === null ? undefined : nameAt(id.start)) ?? namesByStart.get(start);
  const nameValue = (key: Span, value: Span | null): void => {
    if (value === null) return;
    const name = nameAt(key.start) ?? code.slice(key.start, key.end);
    if (/^#?[\w$]+$/.test(name)) namesByStart.set(value.start, name);
  };

  new Visitor({
    VariableDeclarator: ({ id, init }) => {
      const name = id.type === 'Identifier' ? nameAt(id.start) : undefined;
      if (init !== null && name !== undefined) namesByStart.set(init.start, name);
    },
    Property: ({ key, value }) => nameValue(key, value),
    PropertyDefinition: ({ key, value }) => nameValue(key, value),
    MethodDefinition: ({ key, value }) => nameValue(key, value),
    FunctionDeclaration: (node) => enter('declaration', node, givenName(node)),
    'FunctionDeclaration:exit': leave,
    FunctionExpression: (node) => enter('expression', node, givenName(node)),
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: (node) => enter('arrow', node, namesByStart.get(node.start)),
    'ArrowFunctionExpression:exit': leave,
  }).visit(parseSync('chunk.js', code).program);
  return functions;
}

/** Reads the source map of a chunk. `directory`: where the chunk is written, from which the map names its sources. */
export function originsIn(
  code: string,
  map: SourceMapPayload,
  { root, directory }: { readonly root: string; readonly directory: string },
): OriginOf {
  const sourceMap = new SourceMap(map);
  const lineStarts = [0];
  for (let at = code.indexOf('\n'); at !== -1; at = code.indexOf('\n', at + 1))
    lineStarts.push(at + 1);
  return (offset) => {
    const line = lastAtMost(lineStarts, offset);
    const found: object = sourceMap.findEntry(line, offset - (lineStarts[line] ?? 0));
    if (!('originalSource' in found) || typeof found.originalSource !== 'string') {
      return { module: '', name: undefined };
    }
    const module = modulePath(root, resolve(directory, found.originalSource));
    const name = 'name' in found && typeof found.name === 'string' ? found.name : undefined;
    return { module, name };
  };
}

/** The index of the last number that is at most `limit`, in a sorted list. */
function lastAtMost(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= limit) low = middle;
    else high = middle;
  }
  return low;
}
