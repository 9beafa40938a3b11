/**
 * Builds dist/: the command line program, the page of `muster web`, the library's entries and their types, the built-in agent
 * definitions, the schemas of what is written for programs, and the licences of what is bundled.
 * `--no-types` leaves the types out.
 * `--measure-start` first records anew which functions a start calls (scripts/start-functions.txt).
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { OutputChunk } from 'rolldown';
import { findBundledPackages, formatBillOfMaterials, formatLicenses } from './bundled-packages.ts';
import { buildPage } from './build-page.ts';
import { bundle, dist, manifest, root } from './bundle.ts';
import { inAscii } from './ascii.ts';
import { assertNoCircle } from './circles.ts';
import { compiledWithFile } from './eager-functions.ts';
import { writeSchemas } from './schemas.ts';
import { namedFunctions, originsIn, type NamedFunction } from './function-names.ts';
import { modulePath } from './module-path.ts';
import { bundleTypes } from './bundle-types.ts';
import { profileStart } from './start-profile.ts';

const { values: options } = parseArgs({
  options: {
    'no-types': { type: 'boolean', default: false },
    'measure-start': { type: 'boolean', default: false },
  },
});

/** The entry itself is read before the compile cache is on: it stays as it is. */
const isEntry = ({ fileName }: OutputChunk): boolean => fileName === 'muster.js';

/**
 * The functions that a start called when it was last measured, by their names. They are kept in a file:
 * measured at each build, they would depend on the machine and its load, and so would the bytes of the build.
 */
const START_FUNCTIONS = join(root, 'scripts/start-functions.txt');

/** With fewer of them left, the build says that they should be measured again. */
const STILL_MEASURED = 0.9;

function functionsOf({ code, map }: OutputChunk): readonly NamedFunction[] {
  return map === null
    ? []
    : namedFunctions(code, originsIn(code, { ...map, sourceRoot: '' }, { root, directory: dist }));
}

async function measureStart(): Promise<void> {
  for (const { fileName, code } of chunks) writeFileSync(join(dist, fileName), code);
  const called = await profileStart(join(dist, 'muster.js'));
  const names = chunks
    .filter((chunk) => !isEntry(chunk))
    .flatMap((chunk) => {
      const spans = called.get(join(dist, chunk.fileName));
      if (spans === undefined) return [];
      return functionsOf(chunk).filter(({ start, end }) => spans.has(`${start}:${end}`));
    })
    .map(({ name }) => name);
  writeFileSync(START_FUNCTIONS, `${names.toSorted().join('\n')}\n`);
}

function writeChunks(): void {
  assertNoCircle(chunks);
  const names = new Set(readFileSync(START_FUNCTIONS, 'utf8').trimEnd().split('\n'));
  const modules = new Set([...names].map((name) => name.slice(0, name.indexOf(' '))));
  let found = 0;
  for (const chunk of chunks) {
    const { fileName, code, moduleIds } = chunk;
    const isStarted = moduleIds.some((id) => modules.has(modulePath(root, id)));
    const functions = isStarted && !isEntry(chunk) ? functionsOf(chunk) : [];
    const called = functions.filter(({ name }) => names.has(name));
    found += called.length;
    const spans = new Set(called.map(({ start, end }) => `${start}:${end}`));
    writeFileSync(join(dist, fileName), inAscii(compiledWithFile(code, spans)));
  }
  if (found < names.size * STILL_MEASURED) {
    console.log(
      `${names.size - found} of the ${names.size} functions in scripts/start-functions.txt are gone.`,
    );
    console.log(
      'Starts are a little slower until `npm run build -- --measure-start` records them anew.',
    );
  }
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
const [chunks, page] = await Promise.all([bundle(), buildPage()]);
console.log(
  `The page of muster web: ${page.bytes.script} bytes of script, ${page.bytes.style} of style.`,
);
const licenses = join(root, 'scripts/licenses');
const packages = findBundledPackages(
  [...chunks.flatMap(({ moduleIds }) => moduleIds), ...page.moduleIds],
  licenses,
);
writeFileSync(
  join(dist, 'LICENSES.txt'),
  formatLicenses(packages, readFileSync(join(licenses, 'Apache-2.0.txt'), 'utf8')),
);
writeFileSync(join(dist, 'muster.cdx.json'), formatBillOfMaterials(manifest, packages));
const builtin = join(root, 'src/agents/builtin');
if (existsSync(builtin)) {
  cpSync(builtin, join(dist, 'builtin'), {
    recursive: true,
    filter: (from) => !from.endsWith('.ts'),
  });
}
writeSchemas(join(dist, 'schemas'));
if (options['measure-start']) await measureStart();
writeChunks();
if (!options['no-types']) {
  execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
  await bundleTypes(
    { from: join(dist, 'declarations'), to: join(dist, 'types') },
    {
      library: 'library.d.ts',
      events: 'events.d.ts',
      'ai-sdk': 'ai-sdk.d.ts',
      testing: 'testing/index.d.ts',
    },
  );
}
