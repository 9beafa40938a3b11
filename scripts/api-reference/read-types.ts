import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'rolldown/utils';

/** A part of a declaration: a field, a method, or a variant of a union. */
export interface Part {
  /** The name of a field or method; empty for a variant. */
  readonly name: string;
  /** The text on one line, without `readonly`. Object types that `parts` describes are left out of it, as `{ … }`. */
  readonly text: string;
  /** The text of its doc comment; empty if there is none. */
  readonly doc: string;
  readonly parts: readonly Part[];
}

/** A declaration in the types of the package. */
export interface Declaration {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'constant' | 'interface' | 'type';
  /** The declaration without comments. For a type with `parts`, the text before its body. */
  readonly text: string;
  /** The text of its doc comment before `@example`; empty if there is none. */
  readonly doc: string;
  /** The program after `@example`; null if there is none. */
  readonly example: string | null;
  readonly parts: readonly Part[];
  /** The names of all declarations that it mentions. */
  readonly mentions: ReadonlySet<string>;
}

/** An entry point of the package. */
export interface EntryPoint {
  /** The name in imports, such as `muster-agent/events`. */
  readonly name: string;
  readonly doc: string;
  /** The declarations by the names under which they are exported. */
  readonly exports: ReadonlyMap<string, Declaration>;
}

/** The types of the package, as `npm run build` has written them. */
export interface PackageTypes {
  readonly entries: readonly EntryPoint[];
  readonly declarations: ReadonlyMap<string, Declaration>;
}

const PACKAGE = 'muster-agent';

/** The files of the entry points, in the order in which the reference shows them. */
const ENTRIES: readonly (readonly [name: string, file: string])[] = [
  [PACKAGE, 'library.d.ts'],
  [`${PACKAGE}/ai-sdk`, 'ai-sdk.d.ts'],
  [`${PACKAGE}/events`, 'events.d.ts'],
  [`${PACKAGE}/testing`, 'testing.d.ts'],
];

const KINDS: Readonly<Record<string, Declaration['kind']>> = {
  TSDeclareFunction: 'function',
  ClassDeclaration: 'class',
  VariableDeclaration: 'constant',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
};

/** The kinds of nodes that declare a field or method. */
const MEMBERS: ReadonlySet<string> = new Set([
  'TSPropertySignature',
  'TSMethodSignature',
  'TSIndexSignature',
  'PropertyDefinition',
  'MethodDefinition',
  'TSAbstractMethodDefinition',
]);

/** The kinds of nodes whose members are the members of a declaration. */
const OBJECTS: ReadonlySet<string> = new Set([
  'TSInterfaceBody',
  'ClassBody',
  'TSTypeLiteral',
  'TSIntersectionType',
  'TSParenthesizedType',
]);

/** An object type is shown in one line up to this length, in UTF-16 units, if nothing in it has a comment. */
const MAX_INLINE = 80;

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Reads the types of the package from the `.d.ts` files in a directory. Throws Error if a file cannot be read, and for a name
 * that two declarations have.
 */
export function readPackageTypes(directory: string): PackageTypes {
  const names = readdirSync(directory).filter((name) => name.endsWith('.d.ts'));
  const files = new Map(names.map((name) => [name, new TypesFile(directory, name)]));
  const declarations = new Map<string, Declaration>();
  for (const file of files.values()) {
    for (const declaration of file.declarations) {
      if (declarations.has(declaration.name))
        throw new Error(`${directory}: two declarations have the name ${declaration.name}`);
      declarations.set(declaration.name, declaration);
    }
  }
  const entries = ENTRIES.map(([name, fileName]) => {
    const file = files.get(fileName);
    if (file === undefined)
      throw new Error(`${directory} has no ${fileName}; \`npm run build\` writes it`);
    const exported = [...file.exports].map(([exportedName, local]) => {
      const declaration = declarations.get(local);
      if (declaration === undefined) throw new Error(`${fileName}: ${local} is not declared`);
      return [exportedName, declaration] as const;
    });
    return { name, doc: file.doc, exports: new Map(exported) };
  });
  return { entries, declarations };
}

/** One `.d.ts` file. */
class TypesFile {
  readonly doc: string;
  readonly declarations: readonly Declaration[];
  /** The local name of each exported name. */
  readonly exports: ReadonlyMap<string, string>;
  readonly #text: string;
  readonly #comments: readonly { readonly start: number; readonly end: number }[];

  constructor(directory: string, name: string) {
    this.#text = readFileSync(join(directory, name), 'utf8');
    const { program, comments, errors } = parseSync(name, this.#text);
    const [error] = errors;
    if (error !== undefined) throw new Error(`${join(directory, name)}: ${error.message}`);
    this.#comments = comments;
    const statements: readonly Node[] = program.body;
    const declarations: Declaration[] = [];
    const exported: [string, string][] = [];
    for (const statement of statements) {
      const isExport = statement.type === 'ExportNamedDeclaration';
      const declared = (isExport ? nodeAt(statement, 'declaration') : statement) ?? statement;
      const kind = KINDS[declared.type];
      if (kind !== undefined) {
        const declaration = this.#declare(declared, kind, this.#docBefore(statement));
        declarations.push(declaration);
        if (isExport) exported.push([declaration.name, declaration.name]);
      }
      for (const each of nodesAt(statement, 'specifiers')) {
        const [local, other] = [nodeAt(each, 'local'), nodeAt(each, 'exported')];
        if (local !== undefined && other !== undefined)
          exported.push([this.#slice(other), this.#slice(local)]);
      }
    }
    this.doc = this.#docBefore(statements[0]);
    this.declarations = declarations;
    this.exports = new Map(exported);
  }

  #declare(node: Node, kind: Declaration['kind'], doc: string): Declaration {
    const named = kind === 'constant' ? (nodesAt(node, 'declarations')[0] ?? node) : node;
    const id = nodeAt(named, 'id') ?? named;
    const name = /^[\w$]+/.exec(this.#slice(id))?.[0] ?? '';
    const body = nodeAt(node, 'body') ?? nodeAt(node, 'typeAnnotation');
    const parts = kind === 'constant' || kind === 'function' ? [] : this.#partsOf(body);
    const isWhole = parts.length === 0 || body === undefined || body.type === 'TSIntersectionType';
    const hidden = parts.length > 0 && body !== undefined ? topObjects(body) : [];
    const text = this.#withoutComments(node.start, isWhole ? node.end : body.start, hidden).replace(
      /^(?:export )?declare /,
      '',
    );
    const mentions = new Set(
      descendants(node)
        .filter(({ type }) => type === 'Identifier')
        .map((each) => /^[\w$]+/.exec(this.#slice(each))?.[0] ?? ''),
    );
    const [comment = '', example = null] = doc.split(/\s*^@example\n/m);
    return { name, kind, text: text.trim(), doc: comment, example, parts, mentions };
  }

  /** Returns the parts of a type: the fields and methods of objects in it, or the variants of a union. */
  #partsOf(node: Node | undefined): readonly Part[] {
    if (node === undefined) return [];
    if (node.type === 'TSUnionType') {
      const variants = nodesAt(node, 'types');
      if (!variants.some((each) => this.#docBefore(each) !== '' || this.#isLarge(each))) return [];
      return variants.map((each) => this.#part(each, ''));
    }
    if (MEMBERS.has(node.type)) {
      const key = nodeAt(node, 'key');
      const part = this.#part(node, key === undefined ? '' : this.#slice(key));
      return part.doc.includes('@internal') ? [] : [part];
    }
    return OBJECTS.has(node.type) ? childrenOf(node).flatMap((each) => this.#partsOf(each)) : [];
  }

  /** Creates a part. Object types in it have parts of their own if they are long or have comments. */
  #part(node: Node, name: string): Part {
    const objects = topObjects(node).filter((each) => this.#isLarge(each));
    const parts = objects.flatMap((each) => this.#partsOf(each));
    const hidden = node.type === 'TSTypeLiteral' ? [] : objects;
    const text = this.#withoutComments(node.start, node.end, hidden)
      .replaceAll(/\s+/g, ' ')
      .replaceAll('readonly ', '')
      .replace(/;$/, '')
      .replace(/^\((.*)\)$/, '$1')
      .replaceAll('; }', ' }');
    const doc = this.#docBefore(node);
    if (node.type !== 'TSTypeLiteral' || objects.length === 0) return { name, text, doc, parts };
    // An object as a variant is named by its first field, which tells it from the others.
    const [first, ...others] = parts;
    return first !== undefined && first.doc === '' && first.text.includes(": '")
      ? { name, text: `{ ${first.text}; … }`, doc, parts: others }
      : { name, text: '', doc, parts };
  }

  #isLarge({ start, end }: Node): boolean {
    if (this.#comments.some((comment) => comment.start > start && comment.end < end)) return true;
    const text = this.#slice({ start, end });
    return text.startsWith('{') && text.replaceAll(/\s+/g, ' ').length > MAX_INLINE;
  }

  #slice({ start, end }: Pick<Node, 'start' | 'end'>): string {
    return this.#text.slice(start, end);
  }

  /** Returns a part of the text without comments, and with `{ … }` in place of some nodes. */
  #withoutComments(start: number, end: number, hidden: readonly Node[] = []): string {
    const cuts = [
      ...this.#comments.map((comment) => ({ ...comment, instead: '' })),
      ...hidden.map((node) => ({ ...node, instead: '{ … }' })),
    ]
      .filter((cut) => cut.start >= start && cut.end <= end)
      .toSorted((a, b) => a.start - b.start);
    let [text, at] = ['', start];
    for (const cut of cuts) {
      // A comment inside a hidden node.
      if (cut.start < at) continue;
      text += this.#text.slice(at, cut.start) + cut.instead;
      at = cut.end;
    }
    return text + this.#text.slice(at, end);
  }

  /** Returns the text of the doc comment that ends right before a node. */
  #docBefore(node: Node | undefined): string {
    const start = node?.start ?? 0;
    const comment = this.#comments.findLast(({ end }) => end <= start);
    if (comment === undefined) return '';
    const source = this.#slice(comment);
    const between = this.#text.slice(comment.end, start);
    if (!source.startsWith('/**') || !/^[\s(]*$/.test(between)) return '';
    return source
      .slice(3, -2)
      .replaceAll(/^[ \t]*\* ?/gm, '')
      .trim();
  }
}

/** Finds the outermost object types in a node, which may be such a type itself. */
function topObjects(node: Node): readonly Node[] {
  return node.type === 'TSTypeLiteral' ? [node] : childrenOf(node).flatMap(topObjects);
}

function descendants(node: Node): readonly Node[] {
  return [node, ...childrenOf(node).flatMap(descendants)];
}

function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode);
}

function nodeAt(node: Node, key: string): Node | undefined {
  const value: unknown = Reflect.get(node, key);
  return isNode(value) ? value : undefined;
}

function nodesAt(node: Node, key: string): readonly Node[] {
  const value: unknown = Reflect.get(node, key);
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
