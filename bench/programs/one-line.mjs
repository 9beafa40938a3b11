// The reference for a terminal program: it draws one line.
process.stdout.write('ready /help\n');
