'use strict';
// Loaded ahead of a measured program: says on file descriptor 3 what the program uses.
const { writeSync } = require('node:fs');

const report = (facts) => writeSync(3, `${JSON.stringify(facts)}\n`);

process.on('SIGUSR2', () => {
  // Twice: the first lets finalizers run, whose holdings the second collects.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  report({ heapBytes: heapUsed + external });
});

process.on('exit', () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  report({ peakMb: maxRSS / 1024, cpuMs: (userCPUTime + systemCPUTime) / 1000 });
});
