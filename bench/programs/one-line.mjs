// The least that a program for a terminal does: it draws one line.
process.stdout.write('ready /help\n');
