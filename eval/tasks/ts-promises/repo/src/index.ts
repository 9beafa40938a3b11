export { after } from './clock.ts';
export { exportAll } from './export.ts';
export { addMember, loadGroup, members, type Group } from './groups.ts';
export { forEach } from './pool.ts';
export { retry } from './retry.ts';
export { withLock } from './session.ts';
export { MemoryStore, type Callback, type Store } from './store.ts';
export { loadUser, NotFoundError, saveUser, type User } from './users.ts';
