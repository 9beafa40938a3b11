import { forEach } from './pool.ts';
import type { Callback, Store } from './store.ts';
import { loadUser, NotFoundError, type User } from './users.ts';

export interface Group {
  id: string;
  members: string[];
}

/** A group that was never stored has no members. */
export function loadGroup(store: Store, id: string, callback: Callback<Group>): void {
  store.read(`group:${id}`, (error, text) => {
    if (error) return callback(error);
    callback(null, text === undefined ? { id, members: [] } : JSON.parse(text));
  });
}

/** Gives the members in the order in which they were added. */
export function members(store: Store, id: string, callback: Callback<User[]>): void {
  loadGroup(store, id, (error, group) => {
    if (error || !group) return callback(error);
    const found: User[] = [];
    forEach(
      group.members,
      3,
      (member, done) =>
        loadUser(store, member, (problem, user) => {
          if (problem instanceof NotFoundError) return done(null);
          if (user) found.push(user);
          done(problem);
        }),
      (problem) => callback(problem, found),
    );
  });
}

/** Adds a member that is not in the group yet. */
export function addMember(store: Store, id: string, member: string, callback: Callback<void>): void {
  loadGroup(store, id, (error, group) => {
    if (error || !group) return callback(error);
    if (group.members.includes(member)) return callback(null);
    group.members.push(member);
    store.write(`group:${id}`, JSON.stringify(group), callback);
  });
}
