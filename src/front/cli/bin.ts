#!/usr/bin/env node
// The first file that runs: it and what it imports must get by on any Node up to the check.
import { compileCacheDirectory, keepCompiledCode } from './compile-cache.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `muster needs Node 22.19 or newer; this is ${process.versions.node} (${process.execPath}).\n`,
  );
  process.exitCode = 2;
} else {
  const cache = compileCacheDirectory();
  if (cache !== null) keepCompiledCode(cache);
  const { tuneCompilersSoon, main } = await import('./main.ts');
  tuneCompilersSoon();
  await main(process.argv.slice(2));
}
