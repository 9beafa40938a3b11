// The reference for any program on Node: it does nothing.
process.exitCode = 0;
