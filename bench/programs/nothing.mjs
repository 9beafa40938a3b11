// The floor of what a program on Node costs: it does nothing.
process.exitCode = 0;
