import { codedError } from '../sync-error.ts';

/** Interim answers (`103 Early Hints`, `102 Processing`) that may precede an answer. */
const MAX_INTERIM_ANSWERS = 32;

/**
 * Makes a function to be called at each interim answer to one request; it throws where there are too many: without end they would leave
 * the process no time for anything else.
 */
export function createInterimAnswerCounter(): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count <= MAX_INTERIM_ANSWERS) return;
    const message = `got more than ${MAX_INTERIM_ANSWERS} interim answers, and no answer`;
    throw codedError('too_many_interim_answers', message);
  };
}
