import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  findUndocumented,
  findUnexported,
  findWithoutDefault,
  findWithoutExample,
} from '../../scripts/api-reference/find-gaps.ts';
import { formatPages } from '../../scripts/api-reference/format-pages.ts';
import { readPackageTypes } from '../../scripts/api-reference/read-types.ts';

const directories: string[] = [];
afterEach(() => {
  for (const path of directories.splice(0)) rmSync(path, { recursive: true, force: true });
});

/** Reads the types of a package whose entry point `muster-agent` has this text. */
function read(library: string, more: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'muster-types-'));
  directories.push(directory);
  const empty = { 'ai-sdk.d.ts': '', 'events.d.ts': '', 'testing.d.ts': '' };
  for (const [name, text] of Object.entries({ ...empty, 'library.d.ts': library, ...more }))
    writeFileSync(join(directory, name), text);
  return readPackageTypes(directory);
}

async function format(library: string, more: Readonly<Record<string, string>> = {}) {
  return await formatPages(read(library, more));
}

const SHARED = `/** The tiers. */
declare const TIERS: readonly ['fast', 'powerful'];
/** A tier of models. */
type Tier = (typeof TIERS)[number];
export { Tier as a };
`;

const LIBRARY = `/** \`muster-agent\`: the names. */
import { a as Tier } from './shared-x.js';
/** The options. Default of all: <none>. See docs/library.md. */
interface Options {
  /** The tier. */
  readonly tier?: Tier;
  /** The place. */
  readonly place: {
    /** The path. */
    readonly path: string;
  };
  /** Runs. */
  run(input: readonly string[]): Promise<void>;
}
/** A part. */
type Part =
/** It begins. \`at\`: the time. */
{
  readonly type: 'begun';
  readonly at: number;
  /** The reason. */
  readonly reason: string;
} | 'end';
/** Options with a name. */
type Named = Options & {
  /** The name. */
  readonly name: string;
};
/**
 * Opens it. Throws.
 *
 * @example
 * import { open } from 'muster-agent';
 *
 * open({});
 */
export declare function open(options?: Options): Part;
export type { Named, Options, Part, Tier };
`;

describe('a page', () => {
  it('has the signature, the parts and the example of each name', async () => {
    const pages = await format(LIBRARY, { 'shared-x.d.ts': SHARED });
    expect(pages.get('library.md')?.split('\n\n').slice(3).join('\n\n')).toBe(`## Functions

[open](#open)

### open

Opens it. Throws.

\`\`\`ts
function open(options?: Options): Part;
\`\`\`

Types: [Options](#options), [Part](#part)

Example:

\`\`\`ts
import { open } from 'muster-agent';

open({});
\`\`\`

## Types

[Named](#named), [Options](#options), [Part](#part), [Tier](#tier)

### Named

Options with a name.

<code>Named = [Options](#options) &amp; { … }</code>

- <code>name: string</code>: The name.

### Options

The options. Default of all: &lt;none>. See [library.md](../library.md).

- <code>tier?: [Tier](#tier)</code>: The tier.
- <code>place: { … }</code>: The place.
  - <code>path: string</code>: The path.
- <code>run(input: string[]): Promise&lt;void&gt;</code>: Runs.

### Part

A part.

One of:

- <code>{ type: 'begun'; … }</code>: It begins. \`at\`: the time.
  - <code>at: number</code>
  - <code>reason: string</code>: The reason.
- <code>'end'</code>

### Tier

A tier of models.

\`\`\`ts
type Tier = 'fast' | 'powerful';
\`\`\`
`);
  });

  it('links what another page describes, and names that differ only in case', async () => {
    const pages = await format(
      `import { a as Tier } from './shared-x.js';
/** Makes. */
export declare function make(tier: Tier): Make;
/** A thing. */
interface Make {}
export type { Make, Tier };
`,
      {
        'shared-x.d.ts': SHARED,
        'events.d.ts': "import { a as Tier } from './shared-x.js';\nexport type { Tier };",
      },
    );
    const page = pages.get('library.md') ?? '';
    expect(page).toContain('Types: [Tier](events.md#tier), [Make](#make-1)');
    expect(page).toContain('## Also exported\n\n[Tier](events.md#tier).');
    expect(pages.get('events.md')).toContain('### Tier');
  });
});

describe('the checks find', () => {
  it('names, fields and variants without a comment', () => {
    const types = read(`
export interface Bare { readonly a: number; readonly kind: 'x' | 'y'; }
/** A choice. */
export type Choice = { readonly type: 'a'; readonly of: number } |
/** The other. */
{ readonly type: 'b'; readonly of: number } | 'c';
/** Deep. */
export interface Deep { /** The data. */ readonly data: { /** One. */ readonly one: number; readonly two: number }; }
`);
    expect(findUndocumented(types)).toEqual([
      'Bare',
      'Bare.a',
      "Choice: { type: 'a'; of: number }",
      'Deep.data.two',
    ]);
  });

  it('optional fields of options without a default', () => {
    const types = read(`
/** O. */
export interface RunOptions { /** Default: 1. */ readonly a?: number; /** B. */ readonly b?: number; /** C. */ readonly c: number; }
/** Other. */
export interface Other { /** B. */ readonly b?: number; }
`);
    expect(findWithoutDefault(types)).toEqual(['RunOptions.b']);
  });

  it('functions and classes without an example', () => {
    const types = read(`
/** F. */
export declare function f(): void;
/** C. */
export declare class C {}
/**
 * G.
 *
 * @example
 * import {} from 'x';
 */
export declare function g(): void;
`);
    expect(findWithoutExample(types)).toEqual(['C', 'f']);
  });

  it('types that are not exported, and none that are from elsewhere', () => {
    const types = read(`
interface Hidden {}
interface Unused {}
/** S. */
export interface Shown extends Hidden { readonly map: Map<string, URL> }
`);
    expect(findUnexported(types)).toEqual(['Hidden (in Shown)']);
  });
});

it.each<[string, string, RegExp]>([
  ['a file that is no TypeScript', 'interface {', /library\.d\.ts: /],
  ['an export without a declaration', 'export { missing };', /missing is not declared/],
  ['a name that two files declare', SHARED, /two declarations have the name TIERS/],
])('%s is an error', (_what, library, message) => {
  expect(() => read(library, { 'shared-x.d.ts': SHARED })).toThrow(message);
});

it('a missing entry point is an error that says how to build it', () => {
  const directory = mkdtempSync(join(tmpdir(), 'muster-types-'));
  directories.push(directory);
  expect(() => readPackageTypes(directory)).toThrow(
    /has no library\.d\.ts; `npm run build` writes it/,
  );
});
