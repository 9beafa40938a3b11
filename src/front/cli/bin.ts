#!/usr/bin/env node
// The first file that runs: it must parse on any Node, so it says nothing but what it has to.
import * as nodeModule from 'node:module';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `muster needs Node 22.19 or newer; this is ${process.versions.node} (${process.execPath}).\n`,
  );
  process.exitCode = 2;
} else {
  const { compileCacheDirectory } = await import('./compile-cache.ts');
  const cache = compileCacheDirectory();
  if (cache !== null) nodeModule.enableCompileCache(cache);
  const { main } = await import('./main.ts');
  await main(process.argv.slice(2));
}
