import { createServer } from 'node:net';

/**
 * Runs in a network of its own, which has only the loopback device. Listens on the ports that the arguments name and
 * hands the servers over to the parent process, which serves them from outside of that network.
 */
for (const argument of process.argv.slice(2)) {
  const port = Number(argument);
  const server = createServer();
  // The parent process accepts all connections once this process has closed its own end.
  server.listen(port, '127.0.0.1', () => {
    process.send?.({ port }, server, {}, () => void server.close());
  });
}
process.send?.({ pid: process.pid });
process.once('disconnect', () => process.exit());
