import { approve, reject } from './deletions.ts';
import type { AnyOperation } from './operation.ts';
import { abandon, adopt, resume, retry } from './outbox.ts';
import { applyCorrections, approveCorrections, undoCorrections } from './plans.ts';
import { pull } from './pulls.ts';
import { addUser, removeUser } from './users.ts';
import { add, disable, enable, remove, replay, rotate, test } from './webhooks.ts';

/** Everything that a person may do by the API, and by forms of the dashboard where it has a notice. */
export const OPERATIONS: readonly AnyOperation[] = [
  pull,
  retry,
  adopt,
  abandon,
  resume,
  approve,
  reject,
  approveCorrections,
  applyCorrections,
  undoCorrections,
  add,
  test,
  rotate,
  enable,
  disable,
  replay,
  remove,
  addUser,
  removeUser,
];
