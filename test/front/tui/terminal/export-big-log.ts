import { writeConversation } from '../../../../src/front/tui/terminal/export-conversation.ts';
import { openFileStore } from '../../../../src/store/file-store.ts';

/** Exports the conversation of task ID in data directory DIR to the file PATH. */
const [dataDir = '', task = '', path = ''] = process.argv.slice(2);

const store = openFileStore({ dataDir, durability: 'fast' });
await writeConversation(store, { task, path, withTasks: true });
await store.close();
