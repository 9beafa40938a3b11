import type { Declaration, PackageTypes, Part } from './read-types.ts';

/** Literals, plain types and index signatures, which the comment of their type describes. */
const PLAIN = /^(?:'[^']*'|true|string|(?:readonly )?string\[\]|\[.*)$/;
/** A field whose name and values say everything, such as `kind: 'input' | 'plan'`. */
const PLAIN_FIELD = /^\w+\??: (?:'[^']*'|true)(?: \| '[^']*')*$/;

/**
 * Lists the exported names and their fields, methods and variants that have no doc comment. The comment of a variant also
 * describes the fields of the variant; literals are described by the comment of their type.
 */
export function findUndocumented({ entries }: PackageTypes): readonly string[] {
  return eachExport(entries, ({ name, doc, parts }) => [
    ...(doc === '' ? [name] : []),
    ...parts.flatMap((part) => findUndocumentedParts(part, name)),
  ]);
}

function findUndocumentedParts(part: Part, owner: string): readonly string[] {
  const path = part.name === '' ? `${owner}: ${part.text}` : `${owner}.${part.name}`;
  const isVariant = part.name === '';
  if (part.doc === '' && !PLAIN.test(part.text) && !PLAIN_FIELD.test(part.text)) return [path];
  return isVariant ? [] : part.parts.flatMap((each) => findUndocumentedParts(each, path));
}

/** Lists the exported functions and classes whose doc comment has no example. */
export function findWithoutExample({ entries }: PackageTypes): readonly string[] {
  return eachExport(entries, ({ name, kind, example }) =>
    (kind === 'function' || kind === 'class') && example === null ? [name] : [],
  );
}

/** The types whose fields a program may leave out. */
const OPTIONS = /(?:Options|Budget|AgentFields|MusterConfig)$/;

/** Lists the optional fields of options whose comment does not say what holds without them. */
export function findWithoutDefault({ entries }: PackageTypes): readonly string[] {
  return eachExport(entries, ({ name, parts }) =>
    (OPTIONS.test(name) ? parts : [])
      .filter(({ text, doc }) => /^\w+\?:/.test(text) && !/\b(?:Default|Required)\b/.test(doc))
      .map((part) => `${name}.${part.name}`),
  );
}

/** Lists the types that exported declarations mention and that no entry point exports, each with the first that mentions it. */
export function findUnexported({ entries, declarations }: PackageTypes): readonly string[] {
  const exported = new Set(entries.flatMap(({ exports }) => [...exports.values()]));
  return eachExport(entries, ({ name, mentions }) =>
    [...mentions].flatMap((each) => {
      const declaration = declarations.get(each);
      // The reference spells out lists of texts, which are the only constants that types mention.
      if (declaration === undefined || declaration.kind === 'constant') return [];
      return exported.has(declaration) ? [] : [`${each} (in ${name})`];
    }),
  );
}

/** Collects what `find` returns for each exported declaration, without repetitions. */
function eachExport(
  entries: PackageTypes['entries'],
  find: (declaration: Declaration) => readonly string[],
): readonly string[] {
  const all = new Set(entries.flatMap(({ exports }) => [...exports.values()]));
  return [...new Set([...all].flatMap(find))].toSorted();
}
